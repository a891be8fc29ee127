#include "proto/imap/capabilities.hpp"

#include "base/text.hpp"

namespace postal::proto {
namespace {

struct row {
    std::string_view word;
    imap_capability is;
};

constexpr row rows[] = {
    {"IMAP4rev1", imap_capability::imap4rev1},
    {"IMAP4rev2", imap_capability::imap4rev2},
    {"IDLE", imap_capability::idle},
    {"LITERAL+", imap_capability::literal_plus},
    {"LITERAL-", imap_capability::literal_minus},
    {"MOVE", imap_capability::move},
    {"UIDPLUS", imap_capability::uidplus},
    {"UNSELECT", imap_capability::unselect},
    {"ENABLE", imap_capability::enable},
    {"CONDSTORE", imap_capability::condstore},
    {"QRESYNC", imap_capability::qresync},
    {"ESEARCH", imap_capability::esearch},
    {"COMPRESS=DEFLATE", imap_capability::compress},
    {"SASL-IR", imap_capability::sasl_ir},
    {"NAMESPACE", imap_capability::namespaces},
    {"ID", imap_capability::id},
    {"SPECIAL-USE", imap_capability::special_use},
    {"LIST-EXTENDED", imap_capability::list_extended},
    {"LIST-STATUS", imap_capability::list_status},
    {"UTF8=ACCEPT", imap_capability::utf8_accept},
    {"STARTTLS", imap_capability::starttls},
    {"LOGINDISABLED", imap_capability::login_disabled},
    {"AUTH=PLAIN", imap_capability::auth_plain},
    {"AUTH=LOGIN", imap_capability::auth_login},
    {"AUTH=CRAM-MD5", imap_capability::auth_cram_md5},
    {"AUTH=SCRAM-SHA-1", imap_capability::auth_scram_sha_1},
    {"AUTH=SCRAM-SHA-256", imap_capability::auth_scram_sha_256},
    {"AUTH=SCRAM-SHA-1-PLUS", imap_capability::auth_scram_sha_1_plus},
    {"AUTH=SCRAM-SHA-256-PLUS", imap_capability::auth_scram_sha_256_plus},
    {"AUTH=XOAUTH2", imap_capability::auth_xoauth2},
    {"AUTH=OAUTHBEARER", imap_capability::auth_oauthbearer},
    {"AUTH=EXTERNAL", imap_capability::auth_external},
    {"AUTH=ANONYMOUS", imap_capability::auth_anonymous},
};

}  // namespace

void imap_capabilities::add(std::string_view word) noexcept {
    for (const row& one : rows) {
        if (base::iequals(word, one.word)) add(one.is);
    }
}

}  // namespace postal::proto
