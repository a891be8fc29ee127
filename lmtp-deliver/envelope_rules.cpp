#include "lmtp-deliver/envelope_rules.hpp"

namespace postal::lmtp_deliver {
namespace {

constexpr proto::server_reply dash{550, "5.1.3",
                                   "The address would make an argument begin with a dash"};
constexpr proto::server_reply nobody{550, "5.1.3", "The local part is empty"};
constexpr proto::server_reply slash{550, "5.1.3", "The address has a / or .. in it"};

bool names_other_file(const mailbox& one) {
    const std::string_view local_part =
        std::string_view(one.address).substr(0, one.address.size() - one.domain.size());
    // Of itself a domain has neither, but an address literal may.
    return leaves_folder(local_part) || leaves_folder(one.domain) || one.user == ".";
}

bool begins_with_dash(const plan& run, const expansion& values, stage known) {
    return !run.chosen.allow_leading_dash && run.agent.leading_dash(values, known);
}

}  // namespace

proto::server_reply refusal_of_sender(const plan& run, const transaction& of) {
    const bool is_file_name = run.agent.uses(placeholder::from_user);
    if (is_file_name && !run.chosen.allow_slash && names_other_file(of.sender)) return slash;
    if (begins_with_dash(run, of.values(), stage::mail)) return dash;
    return {};
}

proto::server_reply refusal_of_recipient(const plan& run, const transaction& of,
                                         const mailbox& recipient) {
    // `maildrop -d ""`, run by root, delivers to root and ends with 0.
    if (recipient.user.empty()) return nobody;
    if (!run.chosen.allow_slash && names_other_file(recipient)) return slash;
    if (begins_with_dash(run, of.values(&recipient), stage::rcpt)) return dash;
    return {};
}

}  // namespace postal::lmtp_deliver
