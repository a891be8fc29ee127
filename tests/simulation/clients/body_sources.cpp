// SPDX-License-Identifier: GPL-3.0-or-later
// In the place of lib/mail/body_source.cpp: what bodies are cut from is made once a process, of
// four seeds; made anew it was a quarter of all time. Who asks finds the same, whatever ran before.
#include "mail/body_source.hpp"

#include <array>

#include "mail/multipart.hpp"
#include "mail/pool.hpp"
#include "memory.hpp"

namespace postal::mail {

namespace {

class lent_source final : public body_source {
  public:
    explicit lent_source(const body_source& of) : of_(of) {}

    [[nodiscard]] body_kind kind() const noexcept override { return of_.kind(); }
    [[nodiscard]] std::size_t fields_octets() const noexcept override {
        return of_.fields_octets();
    }
    void cut(base::random_source& random, std::uint64_t octets, body_parts& into) const override {
        of_.cut(random, octets, into);
    }

  private:
    const body_source& of_;
};

const body_source& kept(std::uint64_t seed, body_kind kind) {
    static constexpr std::size_t seeds = 4;
    static std::array<std::array<std::unique_ptr<const body_source>, generated_kinds>, seeds> all;
    const std::uint64_t one = seed % seeds;
    auto& made = all[one][static_cast<std::size_t>(kind)];
    if (made) return *made;
    const clients::plenty now;
    if (kind == body_kind::multipart)
        made = std::make_unique<multipart_source>(one);
    else
        made = std::make_unique<pool>(one, kind);
    return *made;
}

}  // namespace

std::unique_ptr<const body_source> make_body_source(std::uint64_t seed, body_kind kind) {
    return std::make_unique<lent_source>(kept(seed, kind));
}

}  // namespace postal::mail
