// SPDX-License-Identifier: GPL-3.0-or-later
// sasl/conversation.hpp, sasl/scram_client.hpp, sasl/server.hpp: whatever the other side says, no
// SCRAM server is believed and nobody is let in who does not know the password. The first octet of
// the input chooses the mechanism, each line of the rest is a challenge in base64, or a response.
#include <cstdlib>
#include <string>
#include <string_view>

#include "sasl/conversation.hpp"
#include "sasl/server.hpp"

namespace {

using namespace postal::sasl;

const std::string password = "nobody will ever guess this one";

const std::string* look_up(std::string_view) {
    return &password;
}

std::string_view next_line(std::string_view& input) {
    const std::size_t end = input.find('\n');
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(end == std::string_view::npos ? input.size() : end + 1);
    return line;
}

void listen(context& with, mechanism how, std::string_view input) {
    conversation talk(with, how,
                      {.user = "tim", .password = "pencil", .token = "t", .channel_binding = "x"});
    talk.initial(1000);
    while (!input.empty() && !talk.cancelled())
        talk.answer(next_line(input));
    if (is_scram(how) && talk.believe()) std::abort();
}

// As one of a server that knows the nonce.
void prove(context& with, mechanism how, std::string_view input) {
    scram_client us(with, how, {.user = "tim", .password = "pencil", .channel_binding = "x"},
                    "abc");
    std::string message;
    if (us.first(message)) std::abort();
    if (us.prove(next_line(input), message)) return;
    if (!us.verify(next_line(input))) std::abort();
}

void serve(context& with, mechanism how, std::string_view input) {
    const password_of all = look_up;
    server they(with, how, {.look_up = all, .channel_binding = "x"});
    std::string challenge;
    progress at = client_first(how) ? progress::go_on : they.begin(challenge);
    while (at == progress::go_on && !input.empty())
        at = they.step(next_line(input), challenge);
    if (at == progress::done && how != mechanism::anonymous) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) return 0;
    static context with;
    const auto how = static_cast<mechanism>(data[0] % mechanism_count);
    const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
    listen(with, how, input);
    if (is_scram(how)) prove(with, how, input);
    serve(with, how, input);
    return 0;
}
