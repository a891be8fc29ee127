// SPDX-License-Identifier: GPL-3.0-or-later
#include "sasl/context.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include <gsasl.h>

#include "sasl/server.hpp"

namespace postal::sasl {
namespace {

// Servers ask through this; clients have said everything before.
int on_question(Gsasl*, Gsasl_session* session, Gsasl_property what) {
    auto* asked = static_cast<server*>(gsasl_session_hook_get(session));
    return asked == nullptr ? static_cast<int>(GSASL_NO_CALLBACK)
                            : asked->answer(session, static_cast<int>(what));
}

}  // namespace

void session_end::operator()(Gsasl_session* one) const noexcept {
    gsasl_finish(one);
}

void octets_end::operator()(char* octets) const noexcept {
    gsasl_free(octets);
}

void context::end::operator()(Gsasl* one) const noexcept {
    gsasl_done(one);
}

context::context() {
    Gsasl* made = nullptr;
    const int problem = gsasl_init(&made);
    if (problem != GSASL_OK) {
        throw std::runtime_error(std::string("GNU SASL: ") + gsasl_strerror(problem));
    }
    handle_.reset(made);
    gsasl_callback_set(made, on_question);
}

const std::string* context::salted_password(const std::string& under) const {
    const auto found = salted_.find(under);
    return found == salted_.end() ? nullptr : &found->second;
}

const std::string& context::keep_salted_password(const std::string& under, std::string made) {
    if (salted_.size() >= most_salted_passwords) salted_.clear();
    return salted_.insert_or_assign(under, std::move(made)).first->second;
}

}  // namespace postal::sasl
