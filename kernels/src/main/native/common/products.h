// Products of a few rows with packed columns, in registers, and packing of the columns.
#pragma once

#include "common/simd.h"

namespace {

constexpr int V = 2;                          // vectors of columns of a product
constexpr int R = SACCADE_REGISTERS / 2 - V;  // rows of a product
constexpr int64_t WIDTH = V * LANES<float>;   // columns of a block

typedef Vec<float> Floats;
typedef int32_t Ints __attribute__((vector_size(SACCADE_VECTOR_BYTES)));

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

// Adds the products of the groups of two vectors.
inline void add_products(float, Words left, Words right, Floats& sums) {
  sums += reinterpret_cast<Floats>(left) * reinterpret_cast<Floats>(right);
}

#if defined(__AVX512F__)
inline bool has_bfloat16_products() { return __builtin_cpu_supports("avx512bf16"); }

inline bool has_int8_products() { return __builtin_cpu_supports("avx512vnni"); }

// Not with intrinsics, so that they become part of functions for processors without them.
inline void add_products(BFloat16, Words left, Words right, Floats& sums) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sums) : "v"(left), "v"(right));
}

inline void add_products(uint8_t, Words left, Words right, Ints& sums) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(left), "v"(right));
}
#else
inline bool has_bfloat16_products() { return false; }

inline bool has_int8_products() { return false; }

inline void add_products(BFloat16, Words, Words, Floats&) {}

inline void add_products(uint8_t, Words, Words, Ints&) {}
#endif

// The rows of a product. Their addresses take five registers on x86, which has few: the compiler
// must not know that some are multiples of others, or it keeps more.
template <class T>
class Rows {
  static constexpr int HALF = 7;  // rows that are addressed from one place
  static_assert(R <= 2 * HALF);

 public:
  Rows(const T* left, int64_t row)
      : places{left, left + HALF * row}, one(row), three(3 * row), five(5 * row) {
#if defined(__x86_64__)
    asm("" : "+r"(places[0]), "+r"(places[1]), "+r"(one), "+r"(three), "+r"(five));
#endif
  }

  // Returns a group of numbers of a row in all lanes.
  Words group(int row) const {
    const int64_t steps[HALF] = {0, one, 2 * one, three, 4 * one, five, 2 * three};
    uint32_t bits;
    memcpy(&bits, places[row / HALF] + steps[row % HALF], sizeof bits);
    return bits - Words{};
  }

  void next() {
    for (const T*& place : places) place += GROUP<T>;
  }

 private:
  const T* places[2];
  int64_t one, three, five;
};

// out = left right, for R rows of left, [.., row], and right, [row, VECTORS * LANES], in groups;
// rows of out are WIDTH apart. Loops are unrolled so that sums stay in registers.
template <int VECTORS, class T, class P, class S>
void multiply(int64_t row, const T* left, const P* right, S* out) {
  typedef std::conditional_t<std::is_same_v<S, float>, Floats, Ints> Sums;
  const char* columns = reinterpret_cast<const char*>(right);
  Rows<T> rows(left, row);
  Sums sums[R][VECTORS];
#pragma GCC unroll 14
  for (int i = 0; i < R; i++) {
    for (int v = 0; v < VECTORS; v++) sums[i][v] = Sums{};
  }
  for (int64_t c = 0; c < row; c += GROUP<T>) {
    Words near[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
      memcpy(&near[v], columns + v * sizeof(Words), sizeof(Words));
    }
#pragma GCC unroll 14
    for (int i = 0; i < R; i++) {
      const Words factor = rows.group(i);
      for (int v = 0; v < VECTORS; v++) add_products(T{}, factor, near[v], sums[i][v]);
    }
    rows.next();
    columns += VECTORS * sizeof(Words);
  }
#pragma GCC unroll 14
  for (int i = 0; i < R; i++) {
    for (int v = 0; v < VECTORS; v++) {
      memcpy(out + i * WIDTH + v * LANES<float>, &sums[i][v], sizeof(Sums));
    }
  }
}

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
