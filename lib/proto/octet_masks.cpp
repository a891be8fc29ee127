// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/octet_masks.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace postal::proto {

void find_octet_masks_plainly(const char* octets, std::size_t blocks, octet_masks* masks) {
    for (std::size_t block = 0; block < blocks; ++block, octets += mask_block) {
        octet_masks found{};
        for (std::size_t i = 0; i < mask_block; ++i) {
            found.cr |= static_cast<std::uint64_t>(octets[i] == '\r') << i;
            found.lf |= static_cast<std::uint64_t>(octets[i] == '\n') << i;
            found.dot |= static_cast<std::uint64_t>(octets[i] == '.') << i;
        }
        masks[block] = found;
    }
}

bool check_line_ends_plainly(const char* octets, std::size_t blocks) {
    bool differ = false;
    for (std::size_t i = 0; i < blocks * mask_block; ++i)
        differ = differ || (octets[i] == '\n') != (octets[i - 1] == '\r');
    return !differ;
}

#if defined(__SSE2__)

namespace {

// The lowest bits of what a move instruction gave, without its sign.
std::uint64_t bits(int moved) noexcept {
    return static_cast<unsigned>(moved);
}

std::uint64_t equal_bits(const __m128i (&octets)[4], __m128i wanted) noexcept {
    return bits(_mm_movemask_epi8(_mm_cmpeq_epi8(octets[0], wanted))) |
           bits(_mm_movemask_epi8(_mm_cmpeq_epi8(octets[1], wanted))) << 16 |
           bits(_mm_movemask_epi8(_mm_cmpeq_epi8(octets[2], wanted))) << 32 |
           bits(_mm_movemask_epi8(_mm_cmpeq_epi8(octets[3], wanted))) << 48;
}

void with_sse2(const char* octets, std::size_t blocks, octet_masks* masks) {
    const __m128i cr = _mm_set1_epi8('\r');
    const __m128i lf = _mm_set1_epi8('\n');
    const __m128i dot = _mm_set1_epi8('.');
    for (std::size_t block = 0; block < blocks; ++block, octets += mask_block) {
        const auto* from = reinterpret_cast<const __m128i*>(octets);
        const __m128i parts[4] = {_mm_loadu_si128(from), _mm_loadu_si128(from + 1),
                                  _mm_loadu_si128(from + 2), _mm_loadu_si128(from + 3)};
        masks[block] = {equal_bits(parts, cr), equal_bits(parts, lf), equal_bits(parts, dot)};
    }
}

[[gnu::target("avx2")]] inline std::uint64_t equal_bits(__m256i low, __m256i high,
                                                        __m256i wanted) noexcept {
    return bits(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted))) |
           bits(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted))) << 32;
}

[[gnu::target("avx2")]] void with_avx2(const char* octets, std::size_t blocks, octet_masks* masks) {
    const __m256i cr = _mm256_set1_epi8('\r');
    const __m256i lf = _mm256_set1_epi8('\n');
    const __m256i dot = _mm256_set1_epi8('.');
    for (std::size_t block = 0; block < blocks; ++block, octets += mask_block) {
        const auto* from = reinterpret_cast<const __m256i*>(octets);
        const __m256i low = _mm256_loadu_si256(from);
        const __m256i high = _mm256_loadu_si256(from + 1);
        masks[block] = {equal_bits(low, high, cr), equal_bits(low, high, lf),
                        equal_bits(low, high, dot)};
    }
}

bool check_with_sse2(const char* octets, std::size_t blocks) {
    const __m128i cr = _mm_set1_epi8('\r');
    const __m128i lf = _mm_set1_epi8('\n');
    __m128i differ = _mm_setzero_si128();
    for (const char* const end = octets + blocks * mask_block; octets != end; octets += 16) {
        const auto* here = reinterpret_cast<const __m128i*>(octets);
        const auto* before = reinterpret_cast<const __m128i*>(octets - 1);
        differ = _mm_or_si128(differ, _mm_xor_si128(_mm_cmpeq_epi8(_mm_loadu_si128(here), lf),
                                                    _mm_cmpeq_epi8(_mm_loadu_si128(before), cr)));
    }
    return _mm_movemask_epi8(differ) == 0;
}

constexpr std::size_t fetched_ahead = 512;

// All bits where an LF stands without a CR before it, or the other way about.
[[gnu::target("avx2")]] inline __m256i unlike(const char* octets, __m256i cr, __m256i lf) noexcept {
    const auto* here = reinterpret_cast<const __m256i*>(octets);
    const auto* before = reinterpret_cast<const __m256i*>(octets - 1);
    return _mm256_xor_si256(_mm256_cmpeq_epi8(_mm256_loadu_si256(here), lf),
                            _mm256_cmpeq_epi8(_mm256_loadu_si256(before), cr));
}

// Two halves of a block at a time are a quarter faster than one. The octets come from a receive
// call, and are not yet in the nearest cache when they are looked at for the first time.
[[gnu::target("avx2")]] bool check_with_avx2(const char* octets, std::size_t blocks) {
    const __m256i cr = _mm256_set1_epi8('\r');
    const __m256i lf = _mm256_set1_epi8('\n');
    __m256i low = _mm256_setzero_si256();
    __m256i high = _mm256_setzero_si256();
    for (const char* const end = octets + blocks * mask_block; octets != end;
         octets += mask_block) {
        __builtin_prefetch(octets + fetched_ahead);
        low = _mm256_or_si256(low, unlike(octets, cr, lf));
        high = _mm256_or_si256(high, unlike(octets + mask_block / 2, cr, lf));
    }
    return _mm256_movemask_epi8(_mm256_or_si256(low, high)) == 0;
}

}  // namespace

check_line_ends line_end_checker() noexcept {
    static const check_line_ends chosen =
        __builtin_cpu_supports("avx2") ? check_with_avx2 : check_with_sse2;
    return chosen;
}

find_octet_masks octet_mask_finder() noexcept {
    static const find_octet_masks chosen = __builtin_cpu_supports("avx2") ? with_avx2 : with_sse2;
    return chosen;
}

#else

check_line_ends line_end_checker() noexcept {
    return check_line_ends_plainly;
}

find_octet_masks octet_mask_finder() noexcept {
    return find_octet_masks_plainly;
}

#endif

}  // namespace postal::proto
