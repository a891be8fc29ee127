// SPDX-License-Identifier: GPL-3.0-or-later
// Signatures over a manifest, made and judged by OpenSSH's ssh-keygen (-Y, PROTOCOL.sshsig), in
// the namespace "postal-bundle": whoever has a key for ssh or git has one for this.
//
// It is run with words of its own, without a shell, and gets the text by standard input. A key with
// a passphrase is asked for by an agent (SSH_AUTH_SOCK), never on a terminal: the child has none.
// Takes a minute at most. Fails with one line that has what ssh-keygen said.
#pragma once

#include "base/result.hpp"

#include <string>

namespace postal::bundle {

inline constexpr const char* signature_namespace = "postal-bundle";

// The armoured signature. `key` is the file of a private key, or of the public one of an agent's.
[[nodiscard]] base::expected<std::string> sign(const std::string& text, const std::string& key);

// Whose good signature it is, as ssh-keygen names them when it has verified it, by the file of
// allowed signers (ssh-keygen(1)) and the namespaces in it; where `identity` is not empty it must
// be theirs. Otherwise each is tried whose key has made it, a hundred at most.
[[nodiscard]] base::expected<std::string> signer_of(const std::string& text,
                                                    const std::string& signature,
                                                    const std::string& allowed,
                                                    const std::string& identity);

}  // namespace postal::bundle
