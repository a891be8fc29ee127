// SPDX-License-Identifier: GPL-3.0-or-later
// How many TLS handshakes a GnuTLS client can make at all: connect, shake hands, hear the
// greeting, say goodbye, again.
// What `openssl s_time` is for OpenSSL. For tests/bench/tls.py; prints handshakes and CPU seconds.
//
//   limit_handshakes PORT SECONDS new|reuse
//
// `reuse` resumes the session that the first connection was given a ticket for.
// cc -O2 limit_handshakes.c -lgnutls
#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// What tests/bench/tls.py asks of all contenders.
static const char same_work[] = "-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-X25519:-CIPHER-ALL:+AES-256-GCM";
static gnutls_certificate_credentials_t credentials;
static gnutls_priority_t priorities;

static void check(int result, const char* what) {
    if (result >= 0) return;
    fprintf(stderr, "%s: %s\n", what, gnutls_strerror(result));
    exit(1);
}

static int dial(int port) {
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_port = htons(port)};
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int line = socket(AF_INET, SOCK_STREAM, 0);
    const int on = 1;
    setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(line, (struct sockaddr*)&where, sizeof where) != 0) {
        perror("connect");
        exit(1);
    }
    return line;
}

// One connection, to the server's first words; with `keep`, the ticket is kept.
static void shake(int port, const gnutls_datum_t* resume, gnutls_datum_t* keep) {
    gnutls_session_t session;
    const int line = dial(port);
    check(gnutls_init(&session, GNUTLS_CLIENT), "init");
    gnutls_priority_set(session, priorities);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
    gnutls_transport_set_int(session, line);
    if (resume != NULL) gnutls_session_set_data(session, resume->data, resume->size);
    int result;
    do {
        result = gnutls_handshake(session);
    } while (result < 0 && !gnutls_error_is_fatal(result));
    check(result, "handshake");
    char greeting[1000];
    do {  // tickets come before it
        result = (int)gnutls_record_recv(session, greeting, sizeof greeting);
    } while (result == GNUTLS_E_AGAIN);
    check(result, "greeting");
    if (keep != NULL) check(gnutls_session_get_data2(session, keep), "ticket");
    gnutls_bye(session, GNUTLS_SHUT_WR);
    gnutls_deinit(session);
    close(line);
}

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
    if (argc != 4) return 64;
    const int port = atoi(argv[1]);
    const double seconds = atof(argv[2]);
    const int reuse = strcmp(argv[3], "reuse") == 0;
    check(gnutls_certificate_allocate_credentials(&credentials), "credentials");
    check(gnutls_priority_init2(&priorities, same_work, NULL, GNUTLS_PRIORITY_INIT_DEF_APPEND), "priorities");
    gnutls_datum_t ticket = {NULL, 0};
    if (reuse) shake(port, NULL, &ticket);
    long count = 0;
    for (const double until = now() + seconds; now() < until; ++count)
        shake(port, reuse ? &ticket : NULL, NULL);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%ld %.3f\n", count,
           (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6 +
               (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6);
    return 0;
}
