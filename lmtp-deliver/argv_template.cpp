// SPDX-License-Identifier: GPL-3.0-or-later
// See argv_template.hpp. Two passes: shell_words takes the quoting away and keeps the columns, then
// the percent signs within each word are read.
#include "lmtp-deliver/argv_template.hpp"

#include "base/shell_words.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace postal::lmtp_deliver {
namespace {

enum class source : std::uint8_t { ours, sender, recipient };

struct known_placeholder {
    std::string_view name;
    std::string_view expansion::*text;  // null for the numbers
    source from;
};

// Indexed by enum placeholder.
constexpr std::array<known_placeholder, 12> placeholders{{
    {"from", &expansion::from, source::sender},
    {"from_user", &expansion::from_user, source::sender},
    {"from_domain", &expansion::from_domain, source::sender},
    {"to", &expansion::to, source::recipient},
    {"to_user", &expansion::to_user, source::recipient},
    {"to_domain", &expansion::to_domain, source::recipient},
    {"to_detail", &expansion::to_detail, source::recipient},
    {"client", &expansion::client, source::sender},
    {"helo", &expansion::helo, source::sender},
    {"id", &expansion::id, source::ours},
    {"size", nullptr, source::ours},
    {"recipients", nullptr, source::ours},
}};

const known_placeholder& row_of(placeholder which) noexcept {
    return placeholders[static_cast<std::size_t>(which)];
}

bool is_name_octet(char c) noexcept {
    const char lower = base::ascii_lower(c);
    return (lower >= 'a' && lower <= 'z') || base::is_digit(c) || c == '_' || c == '-';
}

std::string known_names() {
    std::string names;
    for (const known_placeholder& each : placeholders) {
        names.append("%").append(each.name).append("%, ");
    }
    return names + "and %% for a percent sign";
}

// The second pass: a word becomes an element.
class element_reader {
  public:
    explicit element_reader(const base::shell_word& octets) noexcept : octets_(octets) {}

    base::expected<argv_template::element> run() {
        for (std::size_t at = 0; at < octets_.size();) {
            if (octets_[at].value != '%') {
                add_literal(octets_[at++]);
                continue;
            }
            const std::size_t end = name_end(at + 1);
            const auto read = read_placeholder(at, end);
            if (!read) return read.error();
            at = end + 1;
        }
        return std::move(pieces_);
    }

  private:
    std::size_t name_end(std::size_t at) const noexcept {
        while (at < octets_.size() && is_name_octet(octets_[at].value))
            ++at;
        return at;
    }

    // The percent sign at `at`, the name behind it, and the percent sign that should be at `end`.
    base::expected<void> read_placeholder(std::size_t at, std::size_t end) {
        std::string name;
        for (std::size_t i = at + 1; i < end; ++i)
            name += octets_[i].value;
        if (end == octets_.size() || octets_[end].value != '%') {
            return base::fail("column {}: placeholder %{} is not finished; known: {}",
                              octets_[at].column, base::printable(name, 40), known_names());
        }
        if (name.empty()) {
            add_literal(octets_[at]);
            return {};
        }
        const auto* const row = std::find_if(placeholders.begin(), placeholders.end(),
                                             [&](const auto& each) { return each.name == name; });
        if (row == placeholders.end()) {
            return base::fail("column {}: placeholder %{}% is unknown; known: {}",
                              octets_[at].column, base::printable(name, 40), known_names());
        }
        pieces_.push_back(
            {{}, static_cast<placeholder>(row - placeholders.begin()), octets_[at].column});
        return {};
    }

    void add_literal(const base::shell_octet& each) {
        if (pieces_.empty() || pieces_.back().which) pieces_.push_back({{}, {}, each.column});
        pieces_.back().literal += each.value;
    }

    const base::shell_word& octets_;
    argv_template::element pieces_;
};

// The program must be there and the same for everybody.
base::expected<std::string> read_program(const argv_template::element& pieces,
                                         std::string_view text) {
    if (pieces.empty()) {
        return base::fail("column {}: the program is empty; give its path",
                          text.find_first_not_of(" \t") + 1);
    }
    for (const auto& each : pieces) {
        if (!each.which) continue;
        return base::fail("column {}: the program cannot depend on a placeholder; give its path",
                          each.column);
    }
    return {boost::system::in_place_value, pieces.front().literal};
}

void append(std::string& out, placeholder which, const expansion& values) {
    const known_placeholder& row = row_of(which);
    if (row.text != nullptr) {
        out += values.*row.text;
    } else if (which == placeholder::size) {
        fmt::format_to(std::back_inserter(out), "{}", values.size);
    } else {
        fmt::format_to(std::back_inserter(out), "{}", values.recipients);
    }
}

bool is_from_network(placeholder which, const expansion& values) noexcept {
    return row_of(which).from != source::ours &&
           !(which == placeholder::from && values.null_sender);
}

bool has(const argv_template::element& pieces, placeholder which) noexcept {
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const auto& each) { return each.which == which; });
}

bool begins_with_foreign_dash(const argv_template::element& pieces, const expansion& values,
                              stage known) noexcept {
    for (const auto& each : pieces) {
        if (!each.which) return false;
        const known_placeholder& row = row_of(*each.which);
        if (row.text == nullptr) return false;  // a number
        if (row.from == source::recipient && known == stage::mail) return false;
        const std::string_view value = values.*row.text;
        if (!value.empty()) return value.front() == '-' && is_from_network(*each.which, values);
    }
    return false;
}

}  // namespace

base::expected<argv_template> argv_template::parse(std::string_view text) {
    const auto words = base::split_as_shell(text);
    if (!words) return words.error();
    if (words->empty()) {
        return base::fail(
            "column 1: the template is empty; give a program and its arguments, such as "
            "/usr/bin/maildrop -d %to_user%");
    }
    argv_template made;
    made.text_ = text;
    for (const base::shell_word& each : *words) {
        auto pieces = element_reader(each).run();
        if (!pieces) return pieces.error();
        made.elements_.push_back(std::move(*pieces));
    }
    auto program = read_program(made.elements_.front(), text);
    if (!program) return program.error();
    made.program_ = std::move(*program);
    return made;
}

std::vector<std::string> argv_template::expand(const expansion& values) const {
    std::vector<std::string> argv;
    argv.reserve(elements_.size());
    for (const element& pieces : elements_) {
        std::string& argument = argv.emplace_back();
        for (const piece& each : pieces) {
            if (each.which) {
                append(argument, *each.which, values);
            } else {
                argument += each.literal;
            }
        }
    }
    return argv;
}

bool argv_template::uses(placeholder which) const noexcept {
    return std::any_of(elements_.begin(), elements_.end(),
                       [&](const element& pieces) { return has(pieces, which); });
}

bool argv_template::uses_inside(placeholder which) const noexcept {
    return std::any_of(elements_.begin(), elements_.end(), [&](const element& pieces) {
        return pieces.size() > 1 && has(pieces, which);
    });
}

std::optional<std::size_t> argv_template::leading_dash(const expansion& values,
                                                       stage known) const noexcept {
    for (std::size_t i = 0; i < elements_.size(); ++i) {
        if (begins_with_foreign_dash(elements_[i], values, known)) return i;
    }
    return std::nullopt;
}

}  // namespace postal::lmtp_deliver
