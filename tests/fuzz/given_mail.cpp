// SPDX-License-Identifier: GPL-3.0-or-later
// mail/corpus.hpp and bhm/mboxrd.hpp: a file of mail gives one line of refusal, or mails that SMTP
// can carry; what is kept as mboxrd is read back.
#include "mail/corpus.hpp"

#include "bhm/mboxrd.hpp"
#include "support.hpp"

namespace {

using namespace postal;

void check_mail(const mail::corpus_mail& one) {
    fuzz::require(!one.raw.empty() && one.raw.find('\0') == one.raw.npos);
    for (std::string_view rest = one.raw; !rest.empty();) {
        const std::size_t end = rest.find("\r\n");
        const std::string_view line = rest.substr(0, end);
        fuzz::require(line.size() <= 998 && line.find_first_of("\r\n") == line.npos);
        rest.remove_prefix(end == rest.npos ? rest.size() : end + 2);
    }
    const std::string_view stuffed = one.stuffed_text();
    fuzz::require(stuffed.ends_with("\r\n") && stuffed.find("\r\n.\r\n") == stuffed.npos);
    fuzz::require(!stuffed.starts_with(".\r\n"));
    fuzz::require(one.final_newline == one.raw.ends_with("\r\n"));
}

// As bhm keeps it, fed whole and octet by octet.
std::string kept(std::string_view message, std::size_t piece) {
    std::string text = bhm::mbox_separator("a@example.com", {});
    bhm::mboxrd_quoter quoter;
    for (; !message.empty(); message.remove_prefix(std::min(piece, message.size())))
        quoter.feed(message.substr(0, piece), text);
    quoter.finish(text);
    return text;
}

void check_kept(fuzz::memory_file& file, const mail::corpus_mail& one) {
    std::string lines;
    for (const char c : one.raw)
        if (c != '\r') lines += c;
    const std::string box = kept(lines, lines.size());
    fuzz::require(box == kept(lines, 1));
    file.hold(box + box);
    const auto back = mail::load_corpus(file.path());
    fuzz::require(back && back->size() == 2);
    const std::string wanted = one.raw + (one.final_newline ? "" : "\r\n");
    fuzz::require((*back)[0].raw == wanted && (*back)[1].raw == wanted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static fuzz::memory_file file;
    const std::string_view input = fuzz::text_of(data, size);
    file.hold(input);
    const auto box = mail::load_corpus(file.path());
    if (!box) fuzz::require_harmless(box.error().message);
    if (box) {
        fuzz::require(!box->empty());
        for (const mail::corpus_mail& one : *box)
            check_mail(one);
    }
    const auto one = mail::read_mail(input, "fuzz");
    if (!one) return 0;
    check_mail(*one);
    check_kept(file, *one);
    return 0;
}
