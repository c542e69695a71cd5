// Quantization of the inputs of a pixel: maps values to 0 to 255. The range is the least value and
// the step, or NaN if a value is NaN or infinite; then so are all outputs of the pixel.
#pragma once

#include <limits>

#include "common/simd.h"

namespace {

constexpr int MAX_INPUT = 255;

// Returns the factor from values to steps.
inline float set_range(float least, float most, float* range) {
  range[0] = least;
  range[1] = (most - least) / MAX_INPUT;
  return range[1] > 0 ? 1 / range[1] : 0;
}

#if defined(__AVX512F__)
// Converts to integers, ties to even.
inline __m512i integers(__m512 v) { return _mm512_maskz_cvtps_epi32(0xFFFF, v); }

// As a signed integer, x ^ (x < 0 ? 0x7FFF : 0) has the order of bfloat16 x, and is its own
// inverse.
inline __m512i ordered(__m512i bits) {
  const __m512i sign = _mm512_srai_epi16(bits, 15);
  return _mm512_xor_si512(bits, _mm512_and_si512(sign, _mm512_set1_epi16(0x7FFF)));
}

inline float number(int16_t ordered) {
  const BFloat16 x = {static_cast<uint16_t>(ordered ^ (ordered < 0 ? 0x7FFF : 0))};
  return widen(x);
}

// Returns the least of 32 signed integers.
inline int16_t least(__m512i v) {
  const __m256i half = _mm256_min_epi16(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  const __m128i quarter =
      _mm_min_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  const __m128i shifted = _mm_xor_si128(quarter, _mm_set1_epi16(INT16_MIN));
  return static_cast<int16_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(shifted)) ^ 0x8000);
}

inline void quantize(const BFloat16* from, int64_t count, uint8_t* to, float* range) {
  const int16_t inf = 0x7F80;
  const auto mask = [&](int64_t c) {
    return count - c < 32 ? static_cast<__mmask32>((1u << (count - c)) - 1) : ~__mmask32();
  };
  const auto take = [&](int64_t c) { return _mm512_maskz_loadu_epi16(mask(c), from + c); };
  const __m512i invert = _mm512_set1_epi16(-1);
  __m512i low = _mm512_set1_epi16(INT16_MAX), inverted_high = low;
  for (int64_t c = 0; c < count; c += 32) {
    const __m512i v = ordered(take(c));
    low = _mm512_mask_min_epi16(low, mask(c), low, v);
    inverted_high =
        _mm512_mask_min_epi16(inverted_high, mask(c), inverted_high, _mm512_xor_si512(v, invert));
  }
  const int16_t first = least(low), last = static_cast<int16_t>(~least(inverted_high));
  if (first <= static_cast<int16_t>(~inf) || last >= inf) {
    range[0] = range[1] = std::numeric_limits<float>::quiet_NaN();
    return;
  }
  const float factor = set_range(number(first), number(last), range);
  const __m512 scale = _mm512_set1_ps(factor), shift = _mm512_set1_ps(-range[0] * factor);
  for (int64_t c = 0; c < count; c += 32) {
    const __m512i v = take(c), upper = _mm512_set1_epi32(INT32_MIN >> 15);
    const __m512 even = _mm512_castsi512_ps(_mm512_slli_epi32(v, 16));
    const __m512 odd = _mm512_castsi512_ps(_mm512_and_si512(v, upper));
    const __m512i pairs =
        _mm512_or_si512(integers(_mm512_fmadd_ps(even, scale, shift)),
                        _mm512_slli_epi32(integers(_mm512_fmadd_ps(odd, scale, shift)), 16));
    const __m256i bytes = _mm512_maskz_cvtepi16_epi8(~__mmask32(), pairs);
    _mm256_mask_storeu_epi8(to + c, mask(c), bytes);
  }
}

// Rounds to the nearest integer, ties to even, and stores 8 bits of each.
inline void store_bytes(Vec<float> v, uint8_t* to) {
  const __m128i bytes = _mm512_maskz_cvtusepi32_epi8(0xFFFF, integers(v));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
}
#else
inline void store_bytes(Vec<float>, uint8_t*) {}
#endif

template <class S>
void quantize(const S* from, int64_t count, uint8_t* to, float* range) {
  const Vec<float> first = broadcast(widen(from[0]));
  Vec<float> low = first, high = first, invalid = {};
  by_vectors<float, 1>(count, [&](auto, auto whole, int64_t c) {
    if constexpr (whole) {
      const Vec<float> v = take<true>(from + c, count);
      low = v < low ? v : low;
      high = v > high ? v : high;
      invalid += v * 0.f;
    } else {
      for (int64_t i = c; i < count; i++) {
        low = min<float>(low, broadcast(widen(from[i])));
        high = max<float>(high, broadcast(widen(from[i])));
        invalid += broadcast(widen(from[i])) * 0.f;
      }
    }
  });
  // NaN if any input is NaN or infinite: then so are all outputs of the pixel.
  const float least = -largest<float>(-low) + sum<float>(invalid), most = largest<float>(high);
  const float factor = set_range(least, most, range);
  by_vectors<float, 1>(count, [&](auto, auto whole, int64_t c) {
    const Vec<float> v = (take<whole>(from + c, count - c) - least) * factor;
    if constexpr (whole) {
      store_bytes(v, to + c);
    } else {
      uint8_t bytes[LANES<float>];
      store_bytes(v, bytes);
      std::copy(bytes, bytes + (count - c), to + c);
    }
  });
}

}  // namespace
