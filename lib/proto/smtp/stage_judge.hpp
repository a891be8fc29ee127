// stage_judge: whoever may answer in the place of the state machine.
#pragma once

#include <optional>
#include <string_view>

#include "proto/smtp/server_reply.hpp"
#include "proto/smtp/server_stage.hpp"

namespace postal::proto {

// Asked before the banner, before a command is run that is in order (EHLO, HELO, LHLO, STARTTLS, AUTH,
// DATA, RSET, QUIT), for each chunk that is not the last, and for a message that is whole. MAIL and RCPT are
// their owner's to answer: events `sender` and `recipient`.
class stage_judge {
  public:
    // The reply, or nothing: as usual. 421, and whatever is said to QUIT, ends the session behind it; any
    // other in the place of the banner leaves QUIT alone (RFC 5321 3.1). A positive one only for QUIT, and
    // for RSET, which is carried out. Of a message it is the reply for all recipients. `verb` and
    // `argument` are "" where no command is answered.
    [[nodiscard]] virtual std::optional<server_reply> judge(server_stage stage,
                                                            std::string_view verb,
                                                            std::string_view argument) = 0;

  protected:
    ~stage_judge() = default;
};

}  // namespace postal::proto
