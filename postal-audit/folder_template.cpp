// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/folder_template.hpp"

#include "base/text.hpp"

namespace postal::audit {
namespace {

using base::expected;

base::failure refuse(std::string_view whole, std::string_view why) {
    return base::fail(
        "\"{}\" {}; give a path such as /mnt/mail/%u/Maildir or %u@example.org=/mnt/mail/%u",
        base::printable(whole, 300), why);
}

expected<folder_template::element> parse_element(std::string_view whole, std::string_view text) {
    folder_template::element made;
    if (text == "." || text == "..") return refuse(whole, "has the folder . or ..");
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::string& into = made.stands_for == 0 ? made.before : made.behind;
        if (text[at] != '%') {
            into += text[at];
            continue;
        }
        const char mark = ++at < text.size() ? text[at] : '\0';
        if (mark == '%') {
            into += '%';
        } else if (mark != 'u' && mark != 'd') {
            return refuse(whole, "has a % with neither u, d nor another % behind it");
        } else if (made.stands_for != 0) {
            return refuse(whole, "has two of %u and %d in one name");
        } else {
            made.stands_for = mark;
        }
    }
    return made;
}

}  // namespace

expected<folder_template> folder_template::parse(std::string_view text) {
    folder_template made;
    const std::size_t root = text.find('/');
    if (root == std::string_view::npos) return refuse(text, "is no absolute path");
    bool user = false;
    bool domain = false;
    for (const std::string_view name : base::split(text.substr(root), '/')) {
        if (name.empty()) continue;
        auto one = parse_element(text, name);
        if (!one) return one.error();
        bool& there = one->stands_for == 'u' ? user : domain;
        if (one->stands_for != 0 && there) return refuse(text, "has %u or %d twice");
        if (one->stands_for != 0) there = true;
        made.elements_.push_back(std::move(*one));
    }
    if (!user) return refuse(text, "has no %u, so that nobody knows whose mail lies there");
    if (domain) made.address_ = "%u@%d";
    if (root == 0) return made;
    const std::string_view front = text.substr(0, root);
    if (front.back() != '=' || front.find("%u") == std::string_view::npos)
        return refuse(text, "has no address such as %u@example.org= in front of its path");
    if (!domain && front.find("%d") != std::string_view::npos)
        return refuse(text, "has %d in the address, but not in the path");
    made.address_ = front.substr(0, front.size() - 1);
    return made;
}

std::optional<std::string> folder_template::element::match(std::string_view name) const {
    if (name.size() <= before.size() + behind.size()) return std::nullopt;
    if (!name.starts_with(before) || !name.ends_with(behind)) return std::nullopt;
    name.remove_prefix(before.size());
    name.remove_suffix(behind.size());
    return std::string(name);
}

std::string folder_template::address_of(const mailbox_owner& who) const {
    std::string text;
    for (std::size_t at = 0; at < address_.size(); ++at) {
        const std::string_view two = std::string_view(address_).substr(at, 2);
        if (two == "%u" || two == "%d") {
            text += two == "%u" ? who.user : who.domain;
            ++at;
        } else {
            text += address_[at];
        }
    }
    return base::lower(text);
}

}  // namespace postal::audit
