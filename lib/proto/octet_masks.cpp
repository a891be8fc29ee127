#include "proto/octet_masks.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace postal::proto {

void find_octet_masks_plainly(const char* octets, std::size_t blocks, octet_masks* masks) {
    for (std::size_t block = 0; block < blocks; ++block, octets += mask_block) {
        octet_masks found;
        for (std::size_t i = 0; i < mask_block; ++i) {
            found.cr |= static_cast<std::uint64_t>(octets[i] == '\r') << i;
            found.lf |= static_cast<std::uint64_t>(octets[i] == '\n') << i;
            found.dot |= static_cast<std::uint64_t>(octets[i] == '.') << i;
        }
        masks[block] = found;
    }
}

#if defined(__SSE2__)

namespace {

std::uint64_t bits(int moved) noexcept {
    return static_cast<std::uint64_t>(static_cast<unsigned>(moved));
}

void with_sse2(const char* octets, std::size_t blocks, octet_masks* masks) {
    const __m128i cr = _mm_set1_epi8('\r');
    const __m128i lf = _mm_set1_epi8('\n');
    const __m128i dot = _mm_set1_epi8('.');
    for (std::size_t block = 0; block < blocks; ++block, octets += mask_block) {
        octet_masks found;
        for (unsigned shift = 0; shift < mask_block; shift += 16) {
            const auto* from = reinterpret_cast<const __m128i*>(octets + shift);
            const __m128i part = _mm_loadu_si128(from);
            found.cr |= bits(_mm_movemask_epi8(_mm_cmpeq_epi8(part, cr))) << shift;
            found.lf |= bits(_mm_movemask_epi8(_mm_cmpeq_epi8(part, lf))) << shift;
            found.dot |= bits(_mm_movemask_epi8(_mm_cmpeq_epi8(part, dot))) << shift;
        }
        masks[block] = found;
    }
}

[[gnu::target("avx2")]] void with_avx2(const char* octets, std::size_t blocks, octet_masks* masks) {
    const __m256i cr = _mm256_set1_epi8('\r');
    const __m256i lf = _mm256_set1_epi8('\n');
    const __m256i dot = _mm256_set1_epi8('.');
    for (std::size_t block = 0; block < blocks; ++block, octets += mask_block) {
        octet_masks found;
        for (unsigned shift = 0; shift < mask_block; shift += 32) {
            const auto* from = reinterpret_cast<const __m256i*>(octets + shift);
            const __m256i part = _mm256_loadu_si256(from);
            found.cr |= bits(_mm256_movemask_epi8(_mm256_cmpeq_epi8(part, cr))) << shift;
            found.lf |= bits(_mm256_movemask_epi8(_mm256_cmpeq_epi8(part, lf))) << shift;
            found.dot |= bits(_mm256_movemask_epi8(_mm256_cmpeq_epi8(part, dot))) << shift;
        }
        masks[block] = found;
    }
}

}  // namespace

find_octet_masks octet_mask_finder() noexcept {
    static const find_octet_masks chosen = __builtin_cpu_supports("avx2") ? with_avx2 : with_sse2;
    return chosen;
}

#else

find_octet_masks octet_mask_finder() noexcept {
    return find_octet_masks_plainly;
}

#endif

}  // namespace postal::proto
