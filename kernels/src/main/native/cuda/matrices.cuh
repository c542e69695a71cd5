// Products of numbers of 16 bits by a warp: tiles of 16 by 16, read from rows in shared memory.
#pragma once

#include "cuda/storage.cuh"

// Of sums of 16 rows and 8 columns a lane holds columns 2 (lane % 4) and the next, of row lane / 4
// and of that 8 below.
typedef float Sums[4];

// A factor, in squares of 8 by 8.
struct Tile {
  uint32_t squares[4];
};

// Reads the squares of a tile: first those below one another, or first those beside one another.
template <bool BELOW, bool TRANSPOSED>
__device__ __forceinline__ Tile load_tile(const Storage* first, int stride) {
  const int lane = threadIdx.x % WARP, square = lane / 8;
  const int row = lane % 8 + 8 * (BELOW ? square % 2 : square / 2);
  const int column = 8 * (BELOW ? square / 2 : square % 2);
  Tile tile;
  if constexpr (TRANSPOSED) {
    load_squares_transposed(tile.squares, first + row * stride + column);
  } else {
    load_squares(tile.squares, first + row * stride + column);
  }
  return tile;
}

// The left factor, and its transposed.
__device__ __forceinline__ Tile left(const Storage* first, int stride) {
  return load_tile<true, false>(first, stride);
}
__device__ __forceinline__ Tile left_transposed(const Storage* first, int stride) {
  return load_tile<false, true>(first, stride);
}

// The right factor, of twice 8 columns, and its transposed.
__device__ __forceinline__ Tile right(const Storage* first, int stride) {
  return load_tile<true, true>(first, stride);
}
__device__ __forceinline__ Tile right_transposed(const Storage* first, int stride) {
  return load_tile<false, false>(first, stride);
}

// Adds the product with a half of the right factor.
__device__ __forceinline__ void multiply_add(Sums& sums, const Tile& a, const Tile& b, int half) {
  multiply(sums, a.squares, b.squares[2 * half], b.squares[2 * half + 1]);
}

// Makes a left factor of the sums of 16 columns.
__device__ __forceinline__ Tile as_left(const Sums& low, const Sums& high) {
  return {{narrow_pair(low[0], low[1]), narrow_pair(low[2], low[3]), narrow_pair(high[0], high[1]),
           narrow_pair(high[2], high[3])}};
}

// Of four things that each of four lanes has, gives every lane all of one.
__device__ __forceinline__ void exchange(uint32_t (&x)[4]) {
#pragma unroll
  for (int step = 1; step < 4; step *= 2) {
    const bool upper = threadIdx.x & step;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if (i & step) continue;
      const uint32_t other = __shfl_xor_sync(ALL, upper ? x[i] : x[i + step], step);
      x[i] = upper ? other : x[i];
      x[i + step] = upper ? x[i + step] : other;
    }
  }
}

// Writes half of the sums of N times 8 columns, times a factor, to a row, if there is one.
template <int N>
__device__ __forceinline__ void store_row(Storage* row, const Sums (&sums)[N], int half,
                                          float factor) {
  const int quarter = threadIdx.x % 4;
#pragma unroll
  for (int first = 0; first < N; first += 4) {
    uint32_t pairs[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if (first + i < N) {
        pairs[i] =
            narrow_pair(sums[first + i][2 * half] * factor, sums[first + i][2 * half + 1] * factor);
      }
    }
    if (first + 4 <= N) {
      exchange(pairs);
      if (row != nullptr) {
        store_pack<4>(reinterpret_cast<uint32_t*>(row) + 4 * (first + quarter),
                      {{pairs[0], pairs[1], pairs[2], pairs[3]}});
      }
    } else if (row != nullptr) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        if (first + i < N) reinterpret_cast<uint32_t*>(row)[4 * (first + i) + quarter] = pairs[i];
      }
    }
  }
}
