// SPDX-License-Identifier: GPL-3.0-or-later
// argv_template: the operator's line from which the argv of every agent is made.
//
// Split into words as shell_words.hpp says; then placeholders are looked for within each word, so
// that a value can never become two arguments:
//
//   element = *( "%" name "%" / "%%" / octet )      ; name: one of enum placeholder
//
// They come behind the splitting, so quotes and backslashes do not protect a percent sign; %% does.
// The first element, the program, must not be empty and cannot depend on a placeholder.
// parse() fails with "column N: why; what would be right", N counting octets from 1; nothing else
// fails. Limits: one line of text; whether the program exists is not asked.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::lmtp_deliver {

// In the order of their table; the name between the percent signs is the enumerator's.
enum class placeholder : std::uint8_t {
    from,
    from_user,
    from_domain,
    to,
    to_user,
    to_domain,
    to_detail,
    client,
    helo,
    id,
    size,
    recipients
};

// What the placeholders stand for in one delivery. All but id, size and recipients comes from the
// network; with null_sender, `from` is the operator's text for "<>" and does not.
struct expansion {
    std::string_view from{};
    std::string_view from_user{};
    std::string_view from_domain{};
    std::string_view to{};
    std::string_view to_user{};
    std::string_view to_domain{};
    std::string_view to_detail{};
    std::string_view client{};
    std::string_view helo{};
    std::string_view id{};
    std::uint64_t size = 0;
    std::uint32_t recipients = 0;
    bool null_sender = false;
};

// How much of an expansion is known: at MAIL all but the recipient, at RCPT that too.
enum class stage : std::uint8_t { mail, rcpt };

class argv_template {
  public:
    [[nodiscard]] static base::expected<argv_template> parse(std::string_view text);

    // One string an element, the program first; their number depends on the template alone.
    [[nodiscard]] std::vector<std::string> expand(const expansion& values) const;

    [[nodiscard]] bool uses(placeholder which) const noexcept;
    // In an element that has more in it, as "of=/srv/%from%" and "--out=%from%" have.
    [[nodiscard]] bool uses_inside(placeholder which) const noexcept;

    // The first element that would begin with a '-' which came from the network, as its place in
    // the argv. At stage::mail an element whose beginning depends on the recipient is passed over.
    // A '-' that the operator wrote is not looked at, even where an empty value stood before it.
    [[nodiscard]] std::optional<std::size_t> leading_dash(const expansion& values,
                                                          stage known) const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
    [[nodiscard]] const std::string& program() const noexcept { return program_; }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }  // as it was given

    struct piece {
        std::string literal{};               // not empty when there is no placeholder
        std::optional<placeholder> which{};  // in place of the literal
        std::size_t column = 0;              // where it began in the template
    };
    using element = std::vector<piece>;  // no piece: an empty argument

  private:
    std::vector<element> elements_;
    std::string program_;
    std::string text_;
};

}  // namespace postal::lmtp_deliver
