// SPDX-License-Identifier: GPL-3.0-or-later
/* limit_mailbox POP3-PORT IMAP-PORT FOLDER: the least a POP3 and IMAP server can do on one thread, with epoll and no checks.
 *
 * A measuring stick, not a product. The files of FOLDER are the mailbox, in the order of their names, and every account sees
 * the same one; whoever logs in is let in. All replies with content are made before the first client comes and lie one behind
 * the other, so that RETR of neighbours, or FETCH of a range, is one piece of memory to send. POP3 has CAPA with PIPELINING,
 * USER, PASS, APOP, STAT, LIST, UIDL, RETR, TOP (all of it), DELE, RSET, NOOP, QUIT; IMAP has CAPABILITY, LOGIN, SELECT,
 * FETCH and UID FETCH (the whole message if BODY is asked for, else UID and FLAGS), STORE, EXPUNGE, UID EXPUNGE, SEARCH,
 * STATUS, LIST, IDLE, NOOP, LOGOUT; anything else gets OK. What a session deletes is gone for that session only, and back in
 * the next. A session that does not take what it asked for is not read from meanwhile. No literals from clients. It listens
 * on 127.0.0.1 only, and prints "ready" when it does. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum protocol { POP3, IMAP };
enum { MOST_PARTS = 1024, MOST_TEXT = 1 << 22 };

struct session {
    int fd, imap, closing, writing; /* writing: epoll waits for room in the socket */
    char idle_tag[32];              /* not empty: IDLE is on */
    unsigned there;                 /* messages that this session has not expunged */
    unsigned *number;               /* which they are; NULL: all */
    char *marked;                   /* as \Deleted, by message; NULL: none */
    char *line;                     /* an unfinished command */
    size_t line_length;
    struct iovec *rest;             /* what could not be sent at once; its first part owns the texts */
    size_t rest_first, rest_count;
    char *rest_text;
};

/* The mailbox. Offsets have one entry more than there are messages. */
static unsigned count;
static char *pop3_image, *imap_image, *list_reply, *uidl_reply;
static size_t *pop3_at, *imap_at, *body_at, *size_of;
static size_t octets, list_length, uidl_length;

/* What is to be sent to the session in hand. */
static char in[1 << 16], text[MOST_TEXT];
static size_t text_length;
static struct iovec parts[MOST_PARTS];
static size_t part_count;

static void add(const void *begin, size_t length) {
    struct iovec *last = part_count ? &parts[part_count - 1] : NULL;
    if (last && (const char *)last->iov_base + last->iov_len == begin) last->iov_len += length;
    else if (part_count < MOST_PARTS) parts[part_count++] = (struct iovec){(void *)begin, length};
}

static void say(const char *words, size_t length) {
    if (text_length + length > sizeof text) return;
    memcpy(text + text_length, words, length);
    add(text + text_length, length);
    text_length += length;
}

#define SAY(words) say(words, sizeof words - 1)

static void say_number(unsigned long number) {
    char digits[24];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10); while (number /= 10);
    say(digits + at, sizeof digits - at);
}

/* ---- POP3 ---- */

static unsigned message_number(const char *p, const char *end) {
    unsigned n = 0;
    while (p < end && *p == ' ') p++;
    while (p < end && isdigit((unsigned char)*p)) n = n * 10 + (unsigned)(*p++ - '0');
    return n >= 1 && n <= count ? n : 0;
}

static void pop3_command(struct session *s, const char *line, const char *end) {
    uint32_t word = 0;
    if (end - line >= 4) memcpy(&word, line, 4);
    word &= ~0x20202020u;
#define WORD(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
    unsigned n;
    switch (word) {
    case WORD('R', 'E', 'T', 'R'):
    case WORD('T', 'O', 'P', 0):
        n = message_number(line + 4, end);
        if (n) add(pop3_image + pop3_at[n - 1], pop3_at[n] - pop3_at[n - 1]);
        else SAY("-ERR no such message\r\n");
        break;
    case WORD('C', 'A', 'P', 'A'): SAY("+OK\r\nUSER\r\nPIPELINING\r\nUIDL\r\nTOP\r\n.\r\n"); break;
    case WORD('S', 'T', 'A', 'T'): SAY("+OK "); say_number(count); SAY(" "); say_number(octets); SAY("\r\n"); break;
    case WORD('L', 'I', 'S', 'T'): add(list_reply, list_length); break;
    case WORD('U', 'I', 'D', 'L'): add(uidl_reply, uidl_length); break;
    case WORD('Q', 'U', 'I', 'T'): s->closing = 1; SAY("+OK\r\n"); break;
    default: SAY("+OK\r\n");
    }
}

/* ---- IMAP ---- */

static const char *word_end(const char *p, const char *end) {
    while (p < end && *p != ' ') p++;
    return p;
}

static int is(const char *word, const char *end, const char *what) {
    return (size_t)(end - word) == strlen(what) && !strncasecmp(word, what, (size_t)(end - word));
}

static void done(const char *tag, size_t tag_length) {
    say(tag, tag_length);
    SAY(" OK done\r\n");
}

/* Which message has this number in the session, from 1. */
static unsigned message_of(const struct session *s, unsigned number) { return s->number ? s->number[number - 1] : number; }

/* The number of the first message that is not before this one. */
static unsigned number_of(const struct session *s, unsigned message) {
    if (!s->number) return message;
    unsigned low = 0, high = s->there;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (s->number[middle] < message) low = middle + 1; else high = middle;
    }
    return low + 1;
}

static void fetch_range(const struct session *s, unsigned first, unsigned last, int bodies) {
    if (bodies && !s->number) {
        add(imap_image + imap_at[first - 1], imap_at[last] - imap_at[first - 1]);
        return;
    }
    for (unsigned n = first; n <= last; n++) {
        unsigned message = message_of(s, n);
        SAY("* "); say_number(n); SAY(" FETCH (UID "); say_number(message);
        if (bodies) {
            SAY(" BODY[] {"); say_number(size_of[message - 1]); SAY("}\r\n");
            add(imap_image + body_at[message - 1], size_of[message - 1]);
            SAY(")\r\n");
        } else {
            SAY(" FLAGS ())\r\n");
        }
    }
}

enum what { FETCH_BODIES, FETCH_FLAGS, MARK, COLLECT };

/* Does it for every number of the set; with uid the numbers are messages. */
static void for_set(struct session *s, const char *p, const char *end, int uid, enum what what, char *chosen) {
    while (p < end) {
        unsigned bounds[2] = {0, 0}, i = 0;
        for (; p < end && *p != ','; p++) {
            if (*p == ':') i = 1;
            else if (*p == '*') bounds[i] = UINT_MAX;
            else if (isdigit((unsigned char)*p)) bounds[i] = bounds[i] * 10 + (unsigned)(*p - '0');
        }
        p++;
        unsigned first = bounds[0], last = i ? bounds[1] : first, most = uid ? count : s->there;
        if (first > last) { unsigned swap = first; first = last; last = swap; }
        if (last > most) last = most;
        if (first > most && bounds[i] == UINT_MAX) first = most;
        if (uid && first) { first = number_of(s, first); last = number_of(s, last + 1) - 1; }
        if (!first || first > last) continue;
        if (what <= FETCH_FLAGS) { fetch_range(s, first, last, what == FETCH_BODIES); continue; }
        char *flags = what == MARK ? s->marked : chosen;
        for (unsigned n = first; n <= last; n++) flags[message_of(s, n) - 1] = 1;
    }
}

/* chosen: NULL for all that is marked. */
static void expunge(struct session *s, const char *chosen) {
    if (!s->marked) return;
    if (!s->number) {
        s->number = malloc(count * sizeof *s->number);
        for (unsigned i = 0; i < count; i++) s->number[i] = i + 1;
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < s->there; i++) {
        unsigned message = s->number[i];
        if (s->marked[message - 1] && (!chosen || chosen[message - 1])) {
            SAY("* "); say_number(kept + 1); SAY(" EXPUNGE\r\n");
        } else {
            s->number[kept++] = message;
        }
    }
    s->there = kept;
}

static void imap_command(struct session *s, const char *line, const char *end) {
    if (s->idle_tag[0]) {
        done(s->idle_tag, strlen(s->idle_tag));
        s->idle_tag[0] = 0;
        return;
    }
    const char *tag_end = word_end(line, end), *verb = tag_end + (tag_end < end), *verb_end = word_end(verb, end);
    size_t tag_length = (size_t)(tag_end - line);
    int uid = is(verb, verb_end, "UID");
    if (uid) { verb = verb_end + (verb_end < end); verb_end = word_end(verb, end); }
    const char *rest = verb_end + (verb_end < end), *set_end = word_end(rest, end);
    if (is(verb, verb_end, "FETCH")) {
        for_set(s, rest, set_end, uid, memmem(set_end, (size_t)(end - set_end), "BODY", 4) ? FETCH_BODIES : FETCH_FLAGS, NULL);
    } else if (is(verb, verb_end, "STORE")) {
        if (!s->marked) s->marked = calloc(count + 1, 1);
        if (memmem(set_end, (size_t)(end - set_end), "+FLAGS", 6) && memmem(set_end, (size_t)(end - set_end), "\\Deleted", 8))
            for_set(s, rest, set_end, uid, MARK, NULL);
    } else if (is(verb, verb_end, "EXPUNGE")) {
        char *chosen = uid ? calloc(count + 1, 1) : NULL;
        if (uid) for_set(s, rest, set_end, 1, COLLECT, chosen);
        expunge(s, chosen);
        free(chosen);
    } else if (is(verb, verb_end, "SELECT") || is(verb, verb_end, "EXAMINE")) {
        SAY("* FLAGS (\\Seen \\Deleted)\r\n* "); say_number(s->there);
        SAY(" EXISTS\r\n* 0 RECENT\r\n* OK [UIDVALIDITY 1] v\r\n* OK [UIDNEXT "); say_number(count + 1); SAY("] n\r\n");
    } else if (is(verb, verb_end, "CAPABILITY")) {
        SAY("* CAPABILITY IMAP4rev1 LITERAL+ UIDPLUS IDLE\r\n");
    } else if (is(verb, verb_end, "SEARCH")) {
        SAY("* SEARCH");
        for (unsigned n = 1; n <= s->there; n++) { SAY(" "); say_number(uid ? message_of(s, n) : n); }
        SAY("\r\n");
    } else if (is(verb, verb_end, "STATUS")) {
        SAY("* STATUS INBOX (MESSAGES "); say_number(s->there); SAY(")\r\n");
    } else if (is(verb, verb_end, "LIST")) {
        SAY("* LIST () \"/\" INBOX\r\n");
    } else if (is(verb, verb_end, "IDLE") && tag_length < sizeof s->idle_tag) {
        memcpy(s->idle_tag, line, tag_length);
        s->idle_tag[tag_length] = 0;
        SAY("+ idling\r\n");
        return;
    } else if (is(verb, verb_end, "LOGOUT")) {
        s->closing = 1;
        SAY("* BYE\r\n");
    }
    done(line, tag_length);
}

/* ---- octets in and out ---- */

static void command(struct session *s, const char *line, const char *end) {
    if (end > line && end[-1] == '\r') end--;
    (s->imap ? imap_command : pop3_command)(s, line, end);
}

static void feed(struct session *s, const char *p, const char *end) {
    while (p < end && !s->closing) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t length = (size_t)((newline ? newline : end) - p);
        if (s->line_length || !newline) {
            s->line = realloc(s->line, s->line_length + length + 1);
            memcpy(s->line + s->line_length, p, length);
            s->line_length += length;
            if (!newline) return;
            command(s, s->line, s->line + s->line_length);
            s->line_length = 0;
        } else {
            command(s, p, newline);
        }
        p = newline + 1;
    }
}

static void watch(int epoll, struct session *s, int writing) {
    if (s->writing == writing) return;
    s->writing = writing;
    struct epoll_event event = {.events = writing ? EPOLLOUT : EPOLLIN, .data.ptr = s};
    epoll_ctl(epoll, EPOLL_CTL_MOD, s->fd, &event);
}

/* Sends from the parts; gives how many are done, or -1 when the session is over. */
static long send_parts(const struct session *s, struct iovec *all, size_t first, size_t n) {
    while (first < n) {
        struct msghdr message = {.msg_iov = all + first, .msg_iovlen = n - first > 512 ? 512 : n - first};
        ssize_t sent = sendmsg(s->fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return errno == EAGAIN ? (long)first : -1;
        while (first < n && (size_t)sent >= all[first].iov_len) sent -= (ssize_t)all[first++].iov_len;
        if (first < n && sent) {
            all[first].iov_base = (char *)all[first].iov_base + sent;
            all[first].iov_len -= (size_t)sent;
        }
    }
    return (long)first;
}

/* What the socket did not take is kept: pieces of the mailbox by address, texts as a copy. */
static int send_all(int epoll, struct session *s) {
    long first = send_parts(s, parts, 0, part_count);
    if (first < 0) return 0;
    if ((size_t)first == part_count) return !s->closing;
    s->rest_first = 0;
    s->rest_count = part_count - (size_t)first;
    s->rest = malloc(s->rest_count * sizeof *s->rest);
    memcpy(s->rest, parts + first, s->rest_count * sizeof *s->rest);
    s->rest_text = malloc(text_length + 1);
    memcpy(s->rest_text, text, text_length);
    for (size_t i = 0; i < s->rest_count; i++) {
        char *begin = s->rest[i].iov_base;
        if (begin >= text && begin < text + text_length) s->rest[i].iov_base = s->rest_text + (begin - text);
    }
    watch(epoll, s, 1);
    return 1;
}

static int send_rest(int epoll, struct session *s) {
    long first = send_parts(s, s->rest, s->rest_first, s->rest_count);
    if (first < 0) return 0;
    s->rest_first = (size_t)first;
    if (s->rest_first < s->rest_count) return 1;
    free(s->rest);
    free(s->rest_text);
    s->rest = NULL;
    s->rest_text = NULL;
    watch(epoll, s, 0);
    return !s->closing;
}

static int receive(int epoll, struct session *s) {
    ssize_t got = recv(s->fd, in, sizeof in, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 1;
    if (got <= 0) return 0;
    text_length = part_count = 0;
    feed(s, in, in + got);
    return send_all(epoll, s);
}

static void end_session(struct session *s) {
    close(s->fd);
    free(s->number);
    free(s->marked);
    free(s->line);
    free(s->rest);
    free(s->rest_text);
    free(s);
}

static void begin_session(int epoll, int fd, enum protocol protocol) {
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct session *s = calloc(1, sizeof *s);
    s->fd = fd;
    s->imap = protocol == IMAP;
    s->there = count;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = s};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    const char *hello = s->imap ? "* OK limit\r\n" : "+OK limit\r\n";
    send(fd, hello, strlen(hello), MSG_NOSIGNAL);
}

/* ---- the mailbox ---- */

static int is_file(const struct dirent *entry) { return entry->d_name[0] != '.'; }

struct buffer { char *begin; size_t length, room; };

static void put(struct buffer *b, const char *octet, size_t length) {
    if (b->length + length > b->room) b->begin = realloc(b->begin, b->room = (b->length + length) * 2);
    memcpy(b->begin + b->length, octet, length);
    b->length += length;
}

static void print(struct buffer *b, const char *format, size_t first, size_t second) {
    char line[128];
    put(b, line, (size_t)snprintf(line, sizeof line, format, first, second));
}

/* One message into both images: line ends become CRLF, and for POP3 dots are stuffed. */
static void add_message(unsigned i, FILE *file, struct buffer *pop3, struct buffer *imap) {
    static struct buffer body;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    body.length = 0;
    pop3_at[i] = pop3->length;
    print(pop3, "+OK\r\n", 0, 0);
    while ((length = getline(&line, &room, file)) > 0) {
        while (length && (line[length - 1] == '\n' || line[length - 1] == '\r')) length--;
        put(&body, line, (size_t)length);
        put(&body, "\r\n", 2);
        if (length && line[0] == '.') put(pop3, ".", 1);
        put(pop3, line, (size_t)length);
        put(pop3, "\r\n", 2);
    }
    free(line);
    put(pop3, ".\r\n", 3);
    size_of[i] = body.length;
    octets += body.length;
    imap_at[i] = imap->length;
    print(imap, "* %zu FETCH (UID %zu BODY[] ", i + 1, i + 1);
    print(imap, "{%zu}\r\n", body.length, 0);
    body_at[i] = imap->length;
    put(imap, body.begin, body.length);
    put(imap, ")\r\n", 3);
}

static int load(const char *folder) {
    struct dirent **names;
    int n = scandir(folder, &names, is_file, alphasort);
    if (n < 0) { perror(folder); return 0; }
    pop3_at = calloc((size_t)n + 1, sizeof *pop3_at);
    imap_at = calloc((size_t)n + 1, sizeof *imap_at);
    body_at = calloc((size_t)n + 1, sizeof *body_at);
    size_of = calloc((size_t)n + 1, sizeof *size_of);
    struct buffer pop3 = {0}, imap = {0}, list = {0}, uidl = {0};
    print(&list, "+OK\r\n", 0, 0);
    print(&uidl, "+OK\r\n", 0, 0);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        FILE *file = fopen(path, "r");
        if (!file) { perror(path); return 0; }
        add_message((unsigned)i, file, &pop3, &imap);
        fclose(file);
        print(&list, "%zu %zu\r\n", (size_t)i + 1, size_of[i]);
        print(&uidl, "%zu uid%zu\r\n", (size_t)i + 1, (size_t)i + 1);
    }
    put(&list, ".\r\n", 3);
    put(&uidl, ".\r\n", 3);
    pop3_at[n] = pop3.length;
    imap_at[n] = imap.length;
    pop3_image = pop3.begin;
    imap_image = imap.begin;
    list_reply = list.begin, list_length = list.length;
    uidl_reply = uidl.begin, uidl_length = uidl.length;
    count = (unsigned)n;
    return 1;
}

static int listen_at(int epoll, int port, void *mark) {
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (void *)&address, sizeof address) || listen(fd, 4096)) { perror("limit_mailbox"); exit(2); }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = mark};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    return fd;
}

int main(int argc, char **argv) {
    if (argc != 4) { fprintf(stderr, "usage: limit_mailbox POP3-PORT IMAP-PORT FOLDER\n"); return 1; }
    if (!load(argv[3])) return 1;
    int epoll = epoll_create1(0), fds[2];
    for (int i = 0; i < 2; i++) fds[i] = listen_at(epoll, atoi(argv[1 + i]), &fds[i]);
    puts("ready");
    fflush(stdout);
    for (;;) {
        struct epoll_event events[256];
        int n = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < n; i++) {
            struct session *s = events[i].data.ptr;
            int *listener = events[i].data.ptr;
            if (listener == &fds[POP3] || listener == &fds[IMAP]) {
                int fd;
                while ((fd = accept4(*listener, NULL, NULL, SOCK_NONBLOCK)) >= 0)
                    begin_session(epoll, fd, listener == &fds[IMAP] ? IMAP : POP3);
            } else if (!(s->rest ? send_rest : receive)(epoll, s)) {
                end_session(s);
            }
        }
    }
}
