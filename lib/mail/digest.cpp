// SPDX-License-Identifier: GPL-3.0-or-later
// See digest.hpp. On x86 libxxhash chooses between SSE2, AVX2 and AVX-512 when it runs.
#include "mail/digest.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
// The library's own switch: XXH3_state_t as a member, not allocated.
#define XXH_STATIC_LINKING_ONLY
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace postal::mail {
namespace {

struct kind_row {
    std::string_view name;
    std::size_t octets;
    const char* evp_name;
};
constexpr std::array<kind_row, 3> kinds{
    {{"xxh3", 8, nullptr}, {"md5", 16, "MD5"}, {"sha256", 32, "SHA256"}}};

const kind_row& row(digest_kind kind) noexcept {
    return kinds[static_cast<std::size_t>(kind)];
}

// Fetched once a process: EVP_md5() and friends would look it up anew for each message.
const EVP_MD* algorithm(digest_kind kind) noexcept {
    static const std::array<EVP_MD*, 3> fetched{nullptr,
                                                EVP_MD_fetch(nullptr, kinds[1].evp_name, nullptr),
                                                EVP_MD_fetch(nullptr, kinds[2].evp_name, nullptr)};
    return fetched[static_cast<std::size_t>(kind)];
}

// While OpenSSL sets itself up.
void (*when_no_memory)() noexcept = nullptr;

void* given(void* memory) noexcept {
    if (memory == nullptr && when_no_memory != nullptr) when_no_memory();
    return memory;
}

void* allocate(std::size_t octets, const char*, int) noexcept {
    return octets == 0 ? nullptr : given(std::malloc(octets));
}

void release(void* memory, const char*, int) noexcept {
    std::free(memory);
}

void* reallocate(void* memory, std::size_t octets, const char*, int) noexcept {
    if (octets > 0) return given(std::realloc(memory, octets));
    std::free(memory);
    return nullptr;
}

std::optional<std::uint8_t> hex_digit(char c) noexcept {
    if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
    return std::nullopt;
}

}  // namespace

std::string_view name_of(digest_kind kind) noexcept {
    return row(kind).name;
}

std::optional<digest_kind> digest_of(std::string_view name) noexcept {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (kinds[i].name == name) return static_cast<digest_kind>(i);
    }
    return std::nullopt;
}

std::size_t octets_of(digest_kind kind) noexcept {
    return row(kind).octets;
}

void load_digests(void (*no_memory)() noexcept) noexcept {
    when_no_memory = no_memory;
    CRYPTO_set_mem_functions(allocate, reallocate, release);
    static_cast<void>(algorithm(digest_kind::md5));
    when_no_memory = nullptr;
}

bool is_available(digest_kind kind) noexcept {
    return kind == digest_kind::xxh3 || algorithm(kind) != nullptr;
}

std::string to_text(const digest_value& value) {
    std::string text(name_of(value.kind));
    text += ':';
    for (std::size_t i = 0; i < octets_of(value.kind); ++i) {
        constexpr std::string_view digits = "0123456789abcdef";
        text += digits[value.octets[i] >> 4U];
        text += digits[value.octets[i] & 15U];
    }
    return text;
}

std::optional<digest_value> parse_digest(std::string_view text) noexcept {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto kind = digest_of(text.substr(0, colon));
    if (!kind) return std::nullopt;
    const std::string_view digits = text.substr(colon + 1);
    if (digits.size() != 2 * octets_of(*kind)) return std::nullopt;
    digest_value value;
    value.kind = *kind;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        const auto high = hex_digit(digits[i]);
        const auto low = hex_digit(digits[i + 1]);
        if (!high || !low) return std::nullopt;
        value.octets[i / 2] = static_cast<std::uint8_t>(*high << 4U | *low);
    }
    return value;
}

struct hasher::state {
    XXH3_state_t xxh3;
    EVP_MD_CTX* evp = nullptr;
    digest_kind kind = digest_kind::xxh3;

    // The library asks for this once before the first reset of a state that it did not allocate.
    state() noexcept { XXH3_INITSTATE(&xxh3); }
    ~state() { EVP_MD_CTX_free(evp); }
    state(const state&) = delete;
    state& operator=(const state&) = delete;
};

hasher::hasher(digest_kind kind) : state_(std::make_unique<state>()) {
    reset(kind);
}
hasher::~hasher() = default;
hasher::hasher(hasher&&) noexcept = default;
hasher& hasher::operator=(hasher&&) noexcept = default;

void hasher::reset(digest_kind kind) {
    state_->kind = kind;
    if (kind == digest_kind::xxh3) {
        XXH3_64bits_reset(&state_->xxh3);
        return;
    }
    if (state_->evp == nullptr) state_->evp = EVP_MD_CTX_new();
    const EVP_MD* wanted = algorithm(kind);
    if (wanted == nullptr) {
        throw std::runtime_error("OpenSSL does not offer the digest " + std::string(name_of(kind)));
    }
    const bool fine =
        state_->evp != nullptr && EVP_DigestInit_ex(state_->evp, wanted, nullptr) == 1;
    if (!fine) throw std::bad_alloc();
}

void hasher::update(std::string_view octets) noexcept {
    if (octets.empty()) return;
    if (state_->kind == digest_kind::xxh3) {
        XXH3_64bits_update(&state_->xxh3, octets.data(), octets.size());
    } else {
        EVP_DigestUpdate(state_->evp, octets.data(), octets.size());
    }
}

digest_value hasher::finish() noexcept {
    digest_value value;
    value.kind = state_->kind;
    if (state_->kind == digest_kind::xxh3) {
        XXH64_canonical_t printed;  // in the order in which xxhsum prints it
        XXH64_canonicalFromHash(&printed, XXH3_64bits_digest(&state_->xxh3));
        std::copy_n(printed.digest, sizeof printed.digest, value.octets.begin());
    } else {
        EVP_DigestFinal_ex(state_->evp, value.octets.data(), nullptr);
    }
    return value;
}

}  // namespace postal::mail
