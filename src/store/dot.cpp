// SPDX-License-Identifier: Apache-2.0
#include "store/dot.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace schedmate::store {
namespace portable {

std::int64_t dot_codes(std::span<const std::int16_t> query, const std::int8_t* row) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < query.size(); ++i) {
    const std::int32_t product = query[i] * row[i];
    sum += product;
  }
  return sum;
}

double dot_exact(std::span<const float> query, const float* row) {
  double sum = 0;
  for (std::size_t i = 0; i < query.size(); ++i) {
    sum += static_cast<double>(query[i]) * static_cast<double>(row[i]);
  }
  return sum;
}

}  // namespace portable

#if defined(__x86_64__)
namespace {

// Each 32-bit lane takes in a sixteenth of the products twice: 4096 / 8 x 127 x 8191 < 2^31.
__attribute__((target("avx2"))) std::int64_t avx2_codes(std::span<const std::int16_t> query,
                                                        const std::int8_t* row) {
  __m256i first = _mm256_setzero_si256();
  __m256i second = _mm256_setzero_si256();
  for (std::size_t i = 0; i < query.size(); i += dot_step) {
    const auto* const at = reinterpret_cast<const __m256i*>(query.data() + i);
    const auto* const codes = reinterpret_cast<const __m128i*>(row + i);
    const __m256i low = _mm256_cvtepi8_epi16(_mm_loadu_si128(codes));
    const __m256i high = _mm256_cvtepi8_epi16(_mm_loadu_si128(codes + 1));
    first = _mm256_add_epi32(first, _mm256_madd_epi16(_mm256_loadu_si256(at), low));
    second = _mm256_add_epi32(second, _mm256_madd_epi16(_mm256_loadu_si256(at + 1), high));
  }
  alignas(32) std::int32_t lanes[16];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), first);
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes + 8), second);
  std::int64_t sum = 0;
  for (const std::int32_t lane : lanes) sum += lane;
  return sum;
}

__attribute__((target("avx2,fma"))) double avx2_exact(std::span<const float> query,
                                                      const float* row) {
  __m256d sums[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  std::size_t i = 0;
  for (; i + 8 <= query.size(); i += 8) {
    for (std::size_t half = 0; half < 2; ++half) {
      const __m256d a = _mm256_cvtps_pd(_mm_loadu_ps(query.data() + i + 4 * half));
      const __m256d b = _mm256_cvtps_pd(_mm_loadu_ps(row + i + 4 * half));
      sums[half] = _mm256_fmadd_pd(a, b, sums[half]);
    }
  }
  alignas(32) double lanes[4];
  _mm256_store_pd(lanes, _mm256_add_pd(sums[0], sums[1]));
  double sum = lanes[0] + lanes[1] + lanes[2] + lanes[3];
  for (; i < query.size(); ++i) sum += static_cast<double>(query[i]) * static_cast<double>(row[i]);
  return sum;
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}

}  // namespace

std::int64_t dot_codes(std::span<const std::int16_t> query, const std::int8_t* row) {
  return has_avx2() ? avx2_codes(query, row) : portable::dot_codes(query, row);
}

double dot_exact(std::span<const float> query, const float* row) {
  return has_avx2() ? avx2_exact(query, row) : portable::dot_exact(query, row);
}
#else
std::int64_t dot_codes(std::span<const std::int16_t> query, const std::int8_t* row) {
  return portable::dot_codes(query, row);
}

double dot_exact(std::span<const float> query, const float* row) {
  return portable::dot_exact(query, row);
}
#endif

}  // namespace schedmate::store
