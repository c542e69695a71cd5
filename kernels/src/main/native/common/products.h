// Products of a few rows with packed columns, in registers, and packing of the columns.
#pragma once

#include "common/simd.h"

namespace {

constexpr int V = 2;                          // vectors of columns of a product
constexpr int R = SACCADE_REGISTERS / 2 - V;  // rows of a product
constexpr int64_t WIDTH = V * LANES<float>;   // columns of a block

typedef Vec<float> Floats;
typedef int32_t Ints __attribute__((vector_size(SACCADE_VECTOR_BYTES)));
typedef uint32_t LooseWords
    __attribute__((vector_size(SACCADE_VECTOR_BYTES), aligned(1), may_alias));

// Numbers of a row that an instruction multiplies and adds up at once: 4 bytes.
template <class P>
constexpr int GROUP = sizeof(float) / sizeof(P);

template <class P>
int64_t padded_row(int64_t count) {
  return ceil_div(count, GROUP<P>) * GROUP<P>;
}

inline int64_t padded_columns(int64_t count) {
  return ceil_div(count, LANES<float>) * LANES<float>;
}

// Returns the place of number i of column k in [blocks of WIDTH columns][row / GROUP][columns of
// the block][GROUP].
template <class P>
int64_t packed_place(int64_t row, int64_t columns, int64_t k, int64_t i) {
  const int64_t first = k / WIDTH * WIDTH, width = std::min(WIDTH, padded_columns(columns) - first);
  return first * row + i / GROUP<P> * GROUP<P> * width + (k - first) * GROUP<P> + i % GROUP<P>;
}

// out = left right, for R rows of left, [.., row], and right, [row, VECTORS * LANES]; rows of out
// are WIDTH apart.
template <int VECTORS>
inline void multiply(int64_t row, const float* left, const float* right, float* out) {
  constexpr int L = LANES<float>;
  Floats sums[R][VECTORS] = {};
  for (int64_t c = 0; c < row; c++, left++, right += VECTORS * L) {
    Floats near[VECTORS];
    for (int v = 0; v < VECTORS; v++) near[v] = load(right + v * L);
#pragma GCC unroll 14
    for (int i = 0; i < R; i++) {
      const Floats factor = broadcast(left[i * row]);
      for (int v = 0; v < VECTORS; v++) sums[i][v] += factor * near[v];
    }
  }
  for (int i = 0; i < R; i++) {
    for (int v = 0; v < VECTORS; v++) store(out + i * WIDTH + v * L, sums[i][v]);
  }
}

// The same with products of bfloat16 and of 8 bits.
#if defined(__AVX512F__)
inline bool has_bfloat16_products() { return __builtin_cpu_supports("avx512bf16"); }

inline bool has_int8_products() { return __builtin_cpu_supports("avx512vnni"); }

template <int VECTORS>
__attribute__((target("avx512bf16"))) inline void multiply(int64_t row, const BFloat16* left,
                                                           const BFloat16* right, float* out) {
  constexpr int L = LANES<float>;
  __m512 sums[R][VECTORS] = {};
  for (int64_t c = 0; c < row; c += 2, left += 2, right += 2 * VECTORS * L) {
    __m512bh near[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
      near[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(right + 2 * v * L));
    }
#pragma GCC unroll 14
    for (int i = 0; i < R; i++) {
      int32_t pair;
      memcpy(&pair, left + i * row, sizeof pair);
      const __m512bh factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
      for (int v = 0; v < VECTORS; v++) {
        sums[i][v] = _mm512_dpbf16_ps(sums[i][v], factor, near[v]);
      }
    }
  }
  for (int i = 0; i < R; i++) {
    for (int v = 0; v < VECTORS; v++) _mm512_storeu_ps(out + i * WIDTH + v * L, sums[i][v]);
  }
}

template <int VECTORS>
__attribute__((target("avx512vnni"))) inline void multiply(int64_t row, const uint8_t* left,
                                                           const int8_t* right, int32_t* out) {
  constexpr int L = LANES<float>;
  Words sums[R][VECTORS] = {};
  for (int64_t c = 0; c < row; c += 4, left += 4, right += 4 * VECTORS * L) {
    Words near[VECTORS];
    for (int v = 0; v < VECTORS; v++) near[v] = *(reinterpret_cast<const LooseWords*>(right) + v);
#pragma GCC unroll 14
    for (int i = 0; i < R; i++) {
      uint32_t four;
      memcpy(&four, left + i * row, sizeof four);
      const Words factor = four - Words{};
      for (int v = 0; v < VECTORS; v++) {
        sums[i][v] = reinterpret_cast<Words>(_mm512_dpbusd_epi32(
            reinterpret_cast<__m512i>(sums[i][v]), reinterpret_cast<__m512i>(factor),
            reinterpret_cast<__m512i>(near[v])));
      }
    }
  }
  for (int i = 0; i < R; i++) {
    for (int v = 0; v < VECTORS; v++) {
      *reinterpret_cast<LooseWords*>(out + i * WIDTH + v * L) = sums[i][v];
    }
  }
}
#else
inline bool has_bfloat16_products() { return false; }

inline bool has_int8_products() { return false; }

template <int VECTORS>
void multiply(int64_t, const BFloat16*, const BFloat16*, float*) {}

template <int VECTORS>
void multiply(int64_t, const uint8_t*, const int8_t*, int32_t*) {}
#endif

// Stores a vector; bfloat16 is rounded with an instruction of has_bfloat16_products.
inline void put_rounded(Floats v, float* to) { store(to, v); }

inline void put_rounded(Floats v, BFloat16* to) {
#if defined(__AVX512F__)
  // Not an intrinsic, so that it becomes part of functions for processors without it.
  __m256i rounded;
  asm("vcvtneps2bf16 %1, %0" : "=v"(rounded) : "v"(v));
  memcpy(to, &rounded, sizeof rounded);
#else
  narrow_all(v, to);
#endif
}

}  // namespace
