// SPDX-License-Identifier: GPL-3.0-or-later
// See corpus.hpp.
#include "mail/corpus.hpp"

#include "base/read_file.hpp"
#include "base/release.hpp"
#include "base/text.hpp"
#include "mail/pool.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

namespace postal::mail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view separator = "From ";

// The next line with its end: LF, CRLF, or a lone CR.
std::string_view next_line(std::string_view text) noexcept {
    const std::size_t end = text.find_first_of("\r\n");
    if (end == std::string_view::npos) return text;
    const bool pair = text[end] == '\r' && end + 1 < text.size() && text[end + 1] == '\n';
    return text.substr(0, end + (pair ? 2 : 1));
}

std::string_view without_end(std::string_view line) noexcept {
    const std::size_t end = line.find_last_not_of("\r\n");
    return line.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

// RFC 5322 2.2: a name of printable ASCII without colon, then a colon; blanks between are obsolete
// syntax.
bool is_header_field(std::string_view line) noexcept {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    std::string_view name = line.substr(0, colon);
    while (!name.empty() && base::is_blank(name.back()))
        name.remove_suffix(1);
    return !name.empty() &&
           std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127; });
}

// What stands before a mail in an mbox; not the field "From : a@example.com" (RFC 5322 4.5.2).
bool is_separator(std::string_view line) noexcept {
    return line.starts_with(separator) && !is_header_field(line);
}

// Appends the text with CRLF line ends; fails on a line that is too long.
base::expected<void> append_crlf(std::string_view text, std::string& out) {
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::string_view line = next_line(text);
        const std::string_view content = line.substr(0, line.find_first_of("\r\n"));
        if (content.size() > long_line) {
            return base::fail(
                "line {} of it has {} octets, which servers may refuse or wrap: at most {} are "
                "allowed (RFC 5321 4.5.3.1.6)",
                number, content.size(), long_line);
        }
        out += content;
        if (content.size() < line.size()) out += "\r\n";
        text.remove_prefix(line.size());
    }
    return {};
}

// Collects mails, and of what is not mail the first reason and the count.
class collector {
  public:
    void add(std::string_view octets, std::string name, const std::string& where) {
        auto mail = read_mail(octets, std::move(name));
        if (mail) {
            mails_.push_back(std::move(*mail));
        } else {
            refuse(where + ": " + mail.error().message);
        }
    }
    void refuse(std::string reason) {
        if (refused_++ == 0) reason_ = std::move(reason);
    }
    base::expected<std::vector<corpus_mail>> result(const std::string& path) && {
        if (refused_ > 1) return base::fail("{}; {} more are refused too", reason_, refused_ - 1);
        if (refused_ == 1) return base::fail("{}", reason_);
        if (mails_.empty()) return base::fail("{}: no mail in it", path);
        return std::move(mails_);
    }

  private:
    std::vector<corpus_mail> mails_;
    std::string reason_;
    std::size_t refused_ = 0;
};

// A mail of an mbox while its lines are gathered.
struct mbox_mail {
    std::string text;
    std::size_t number = 0;
    std::size_t line = 0;  // of its separator
};

void finish_mail(const std::string& path, mbox_mail& mail, collector& into) {
    if (mail.number == 0) return;
    // The empty line before the next separator, or at the end of the file, belongs to the mbox.
    for (const std::string_view end : {"\r\n\r\n", "\n\n"}) {
        if (!mail.text.ends_with(end)) continue;
        mail.text.erase(mail.text.size() - end.size() / 2);
        break;
    }
    into.add(
        mail.text, path + "#" + std::to_string(mail.number),
        path + ": mail " + std::to_string(mail.number) + ", line " + std::to_string(mail.line));
    mail.text.clear();
}

void read_mbox(const std::string& path, std::string_view text, collector& into) {
    mbox_mail mail;
    bool behind_empty = true;
    for (std::size_t number = 1; !text.empty(); ++number) {
        std::string_view line = next_line(text);
        text.remove_prefix(line.size());
        if (behind_empty && is_separator(line)) {
            finish_mail(path, mail, into);
            ++mail.number;
            mail.line = number;
            behind_empty = false;
            continue;
        }
        behind_empty = without_end(line).empty();
        const std::size_t quotes = line.find_first_not_of('>');
        if (quotes != std::string_view::npos && quotes > 0 &&
            line.substr(quotes).starts_with(separator)) {
            line.remove_prefix(1);
        }
        mail.text += line;
    }
    finish_mail(path, mail, into);
}

void add_file(const std::string& path, collector& into) {
    const auto octets = base::read_file(path);
    if (octets) {
        into.add(*octets, path, path);
    } else {
        into.refuse(octets.error().message);
    }
}

// Every regular file of one directory in the order of names; the failure is that it cannot be read.
std::optional<base::failure> add_directory(const fs::path& directory, collector& into) {
    std::error_code error;
    std::vector<std::string> files;
    for (fs::directory_iterator at(directory, error), end; !error && at != end;
         at.increment(error)) {
        if (at->path().filename().native().starts_with('.')) continue;
        std::error_code unknown;
        const fs::file_status status = at->status(unknown);
        // A dangling link is kept, so that it is refused by name and not passed over.
        if (fs::is_regular_file(status) || !fs::exists(status))
            files.push_back(at->path().string());
    }
    if (error) return base::fail("{}: {}", directory.string(), error.message());
    std::sort(files.begin(), files.end());
    for (const std::string& file : files)
        add_file(file, into);
    return std::nullopt;
}

}  // namespace

base::expected<corpus_mail> read_mail(std::string_view octets, std::string name) {
    if (is_separator(next_line(octets))) octets.remove_prefix(next_line(octets).size());
    if (octets.empty()) return base::fail("is empty, so it is not mail");
    const std::size_t nul = octets.find('\0');
    if (nul != std::string_view::npos) {
        return base::fail("has a NUL at octet {}, so it is not mail that SMTP can carry", nul);
    }
    const std::string_view first = without_end(next_line(octets));
    if (!is_header_field(first)) {
        return base::fail("does not start with a header field but with \"{}\", so it is not mail",
                          base::printable(first, 60));
    }
    corpus_mail mail;
    mail.name = std::move(name);
    mail.raw.reserve(octets.size() + octets.size() / 32 + 2);
    const auto appended = append_crlf(octets, mail.raw);
    if (!appended) return appended.error();
    mail.final_newline = mail.raw.ends_with("\r\n");
    mail.needs_8bit = std::any_of(mail.raw.begin(), mail.raw.end(),
                                  [](char c) { return static_cast<unsigned char>(c) > 127; });
    mail.present = scan_headers(std::string_view(mail.raw).substr(0, header_end(mail.raw))).present;
    mail.stuffed = dot_stuffed(mail.raw);
    if (mail.stuffed == mail.raw) base::release(mail.stuffed);
    return mail;
}

base::expected<std::vector<corpus_mail>> load_corpus(const std::string& path) {
    collector found;
    std::error_code error;
    if (fs::is_directory(path, error)) {
        const fs::path root(path);
        const bool maildir =
            fs::is_directory(root / "cur", error) && fs::is_directory(root / "new", error);
        const std::vector<fs::path> directories =
            maildir ? std::vector{root / "cur", root / "new"} : std::vector{root};
        for (const fs::path& directory : directories) {
            const auto failed = add_directory(directory, found);
            if (failed) return *failed;
        }
        return std::move(found).result(path);
    }
    const auto octets = base::read_file(path);
    if (!octets) return octets.error();
    if (octets->empty()) return base::fail("{}: is empty, want mail", path);
    if (is_separator(next_line(*octets))) {
        read_mbox(path, *octets, found);
    } else {
        found.add(*octets, path, path);
    }
    return std::move(found).result(path);
}

}  // namespace postal::mail
