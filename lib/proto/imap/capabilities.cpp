// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/imap/capabilities.hpp"

#include "base/text.hpp"

namespace postal::proto {
namespace {

constexpr std::size_t most_mechanisms = 1024;  // octets

struct capability_row {
    std::string_view word;
    imap_capability is;
};

constexpr capability_row capability_rows[] = {
    {"IMAP4rev1", imap_capability::imap4rev1},
    {"IMAP4rev2", imap_capability::imap4rev2},
    {"IDLE", imap_capability::idle},
    {"LITERAL+", imap_capability::literal_plus},
    {"LITERAL-", imap_capability::literal_minus},
    {"MOVE", imap_capability::move},
    {"UIDPLUS", imap_capability::uidplus},
    {"ENABLE", imap_capability::enable},
    {"QRESYNC", imap_capability::qresync},
    {"COMPRESS=DEFLATE", imap_capability::compress},
    {"SASL-IR", imap_capability::sasl_ir},
    {"NAMESPACE", imap_capability::name_space},
    {"LOGINDISABLED", imap_capability::login_disabled},
    {"SORT", imap_capability::sort},
    {"THREAD=REFERENCES", imap_capability::thread_references},
    {"NOTIFY", imap_capability::notify},
    {"MULTIAPPEND", imap_capability::multi_append},
};

}  // namespace

void imap_capabilities::add(std::string_view word) {
    if (base::iequals(word.substr(0, 5), "AUTH=") && mechanisms_.size() < most_mechanisms) {
        mechanisms_.append(word.substr(5)).append(" ");
    }
    for (const capability_row& one : capability_rows) {
        if (base::iequals(word, one.word)) add(one.is);
    }
}

}  // namespace postal::proto
