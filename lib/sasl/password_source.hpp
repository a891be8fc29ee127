// Private to lib/sasl: what a server's session of GNU SASL asks, and who answers.
#pragma once

struct Gsasl_session;

namespace postal::sasl {

class password_source {
  public:
    virtual ~password_source() = default;
    // `property` is a Gsasl_property; gives a code of the library.
    virtual int answer(Gsasl_session* session, int property) = 0;
};

}  // namespace postal::sasl
