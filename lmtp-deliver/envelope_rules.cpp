// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/envelope_rules.hpp"

#include "base/text.hpp"

namespace postal::lmtp_deliver {
namespace {

constexpr proto::server_reply dash{550, "5.1.3",
                                   "The address would make an argument begin with a dash"};
constexpr proto::server_reply nobody{550, "5.1.3", "The local part is empty"};
constexpr proto::server_reply slash{550, "5.1.3", "The address has a / or .. in it"};
constexpr proto::server_reply slash_in_name{550, "5.7.1", "The name in LHLO has a / or .. in it"};
constexpr proto::server_reply unprintable{550, "5.1.3",
                                          "The address has characters that cannot be printed"};
constexpr proto::server_reply unprintable_name{
    550, "5.7.1", "The name in LHLO has characters that cannot be printed"};

bool names_other_file(const mailbox& one) {
    const std::string_view local_part =
        std::string_view(one.address).substr(0, one.address.size() - one.domain.size());
    // Of itself a domain has neither, but an address literal may.
    return leaves_folder(local_part) || leaves_folder(one.domain) || one.user == ".";
}

// Control characters, those of C1 too, what is not UTF-8, and what changes how text is read.
bool is_printable(std::string_view text) {
    return base::printable(text, std::string_view::npos) == text;
}

// As a whole argument the address is nothing but an address; with more around it, it may be a path.
bool sender_names_other_file(const plan& run, const mailbox& sender) {
    const argv_template& agent = run.agent;
    if (agent.uses(placeholder::from_user) || agent.uses_inside(placeholder::from)) {
        return names_other_file(sender);
    }
    const bool has_domain = agent.uses(placeholder::from_domain) || agent.uses(placeholder::from);
    return has_domain && leaves_folder(sender.domain);
}

bool begins_with_dash(const plan& run, const expansion& values, stage known) {
    return !run.chosen.allow_leading_dash && run.agent.leading_dash(values, known);
}

}  // namespace

proto::server_reply refusal_of_sender(const plan& run, const transaction& of) {
    const bool names_client = run.agent.uses(placeholder::helo);
    if (!of.null_sender && !is_printable(of.sender.address)) return unprintable;
    if (names_client && !is_printable(of.helo)) return unprintable_name;
    if (!run.chosen.allow_slash) {
        if (!of.null_sender && sender_names_other_file(run, of.sender)) return slash;
        if (names_client && leaves_folder(of.helo)) return slash_in_name;
    }
    if (begins_with_dash(run, of.values(), stage::mail)) return dash;
    return {};
}

proto::server_reply refusal_of_recipient(const plan& run, const transaction& of,
                                         const mailbox& recipient) {
    // `maildrop -d ""`, run by root, delivers to root and ends with 0.
    if (recipient.user.empty()) return nobody;
    if (!is_printable(recipient.address)) return unprintable;
    if (!run.chosen.allow_slash && names_other_file(recipient)) return slash;
    if (begins_with_dash(run, of.values(&recipient), stage::rcpt)) return dash;
    return {};
}

}  // namespace postal::lmtp_deliver
