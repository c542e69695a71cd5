// Attention of QUERIES tokens to KEYS others on tensor cores, for a place: a head of a window,
// which knows where rows of DEPTH channels lie, and what is added to scores.
#pragma once

#include "cuda/matrices.cuh"

constexpr int STEPS = SIZES.width() / 16;  // tiles of channels
constexpr int EIGHTS = DEPTH / 8;          // eights of channels
constexpr int KEY_EIGHTS = SIZES.eights();
constexpr float ABSENT = -1e30f;  // the score of what is no key

// Rows of channels in shared memory.
__device__ __forceinline__ Storage* row_of(Storage* rows, int row) {
  return rows + row * SIZES.width();
}

// Starts to copy rows to shared memory, up to so many; those that are not there are zeros.
template <class F>
__device__ __forceinline__ void fetch(int rows, int whole, F copy) {
  constexpr int PIECES = 2 * STEPS;
  for (int i = threadIdx.x; i < whole * PIECES; i += blockDim.x) {
    copy(i / PIECES, i % PIECES * 8, i % PIECES < EIGHTS && i / PIECES < rows);
  }
}

template <class Place>
__device__ __forceinline__ void fetch_keys(const Place& place, Storage* keys, Storage* values) {
  fetch(KEYS, SIZES.columns(), [&](int key, int channel, bool there) {
    const Storage* from = there ? place.key(key) : nullptr;
    const Storage* first = from == nullptr ? place.anything() : from + channel;
    copy_async(row_of(keys, key) + channel, first, from != nullptr);
    copy_async(row_of(values, key) + channel, from == nullptr ? first : first + place.to_values(),
               from != nullptr);
  });
}

template <class Place>
__device__ __forceinline__ void fetch_queries(const Place& place, Storage* queries) {
  fetch(QUERIES, SIZES.rows(), [&](int query, int channel, bool there) {
    const Storage* from = there ? place.query(query) : place.anything();
    copy_async(row_of(queries, query) + channel, there ? from + channel : from, there);
  });
}

template <class Place>
__device__ __forceinline__ void fetch_gradients(const Place& place, Storage* gradients) {
  fetch(QUERIES, SIZES.rows(), [&](int query, int channel, bool there) {
    const Storage* from = there ? place.d_out(query) : nullptr;
    copy_async(row_of(gradients, query) + channel,
               from == nullptr ? place.anything() : from + channel, from != nullptr);
  });
}

// Multiplies 16 rows with N eights of other rows, from one on; all of them are there where WHOLE.
template <bool WHOLE, int N>
__device__ __forceinline__ void multiply_rows(const Storage* rows, Storage* others, int eight,
                                              Sums (&products)[N]) {
#pragma unroll
  for (int n = 0; n < N; n++) {
#pragma unroll
    for (int i = 0; i < 4; i++) products[n][i] = 0;
  }
#pragma unroll
  for (int step = 0; step < STEPS; step++) {
    const Tile factors = left(rows + 16 * step, SIZES.width());
#pragma unroll
    for (int n = 0; n < N; n += 2) {
      if (!WHOLE && eight + n >= KEY_EIGHTS) continue;
      const Tile near =
          right_transposed(row_of(others, 8 * (eight + n)) + 16 * step, SIZES.width());
      multiply_add(products[n], factors, near, 0);
      if (n + 1 < N && (WHOLE || eight + n + 1 < KEY_EIGHTS))
        multiply_add(products[n + 1], factors, near, 1);
    }
  }
}

// Makes scores of products of queries and keys, from an eight of keys on: scaled, and with what the
// place adds.
template <bool WHOLE, class Place, int N>
__device__ __forceinline__ void score(const Place& place, int tile, int eight, Sums (&scores)[N]) {
  const int lane = threadIdx.x % WARP, query = tile * 16 + lane / 4;
  const auto upper = place.bias(query < QUERIES ? query : QUERIES - 1);
  const auto lower = place.bias(query + 8 < QUERIES ? query + 8 : QUERIES - 1);
#pragma unroll
  for (int n = 0; n < N; n++) {
    const int key = 8 * (eight + n) + lane % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const auto& bias = half == 0 ? upper : lower;
      float &first = scores[n][2 * half], &second = scores[n][2 * half + 1];
      const bool both = (WHOLE && n + 1 < N) || key + 1 < KEYS;
      const Pair added = bias.pair(both ? key : KEYS - 2);
      first = both         ? first * place.scale() + added.x
              : key < KEYS ? first * place.scale() + added.y
                           : ABSENT;
      second = both ? second * place.scale() + added.y : ABSENT;
    }
  }
}

template <int N>
__device__ __forceinline__ float largest(const Sums (&scores)[N], int half, float high) {
#pragma unroll
  for (int n = 0; n < N; n++)
    high = fmaxf(high, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
#pragma unroll
  for (int step = 1; step < 4; step *= 2) high = fmaxf(high, __shfl_xor_sync(ALL, high, step));
  return high;
}

__device__ __forceinline__ float sum_of_row(float x) {
#pragma unroll
  for (int step = 1; step < 4; step *= 2) x += __shfl_xor_sync(ALL, x, step);
  return x;
}

// Adds to sums the products of weights of up to 16 rows with rows of channels.
__device__ __forceinline__ void add_weighted(const Tile& weights, const Storage* rows,
                                             Sums (&sums)[EIGHTS]) {
#pragma unroll
  for (int n = 0; n < EIGHTS; n += 2) {
    const Tile near = right(rows + 8 * n, SIZES.width());
    multiply_add(sums[n], weights, near, 0);
    if (n + 1 < EIGHTS) multiply_add(sums[n + 1], weights, near, 1);
  }
}

template <class Place>
__device__ __forceinline__ void attend(const Place& place, unsigned char* memory) {
  constexpr int CHUNK = KEY_EIGHTS < 8 ? SIZES.up(KEY_EIGHTS, 2) : 8;
  Storage* queries = reinterpret_cast<Storage*>(memory);
  Storage* keys = row_of(queries, SIZES.rows());
  Storage* values = row_of(keys, SIZES.columns());
  fetch_queries(place, queries);
  fetch_keys(place, keys, values);
  commit_copies();
  wait_copies();
  __syncthreads();
  for (int tile = threadIdx.x / WARP; tile < SIZES.rows() / 16; tile += SIZES.warps()) {
    Sums sums[EIGHTS] = {};
    float high[2] = {ABSENT, ABSENT}, total[2] = {};
#pragma unroll 1
    for (int eight = 0; eight < KEY_EIGHTS; eight += CHUNK) {
      Sums scores[CHUNK];
      multiply_rows<KEY_EIGHTS == CHUNK>(row_of(queries, 16 * tile), keys, eight, scores);
      score<KEY_EIGHTS == CHUNK>(place, tile, eight, scores);
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const float top = largest(scores, half, high[half]);
        const float share = exponential(high[half] - top);
        high[half] = top;
        total[half] *= share;
#pragma unroll
        for (int n = 0; n < EIGHTS; n++) {
          sums[n][2 * half] *= share;
          sums[n][2 * half + 1] *= share;
        }
#pragma unroll
        for (int n = 0; n < CHUNK; n++) {
#pragma unroll
          for (int i = 2 * half; i < 2 * half + 2; i++) {
            scores[n][i] = eight + n < KEY_EIGHTS ? exponential(scores[n][i] - top) : 0;
            total[half] += scores[n][i];
          }
        }
      }
#pragma unroll
      for (int n = 0; n < CHUNK; n += 2) {
        if (eight + n < KEY_EIGHTS)
          add_weighted(as_left(scores[n], scores[n + 1]), row_of(values, 8 * (eight + n)), sums);
      }
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int query = tile * 16 + threadIdx.x % WARP / 4 + 8 * half;
      store_row(query < QUERIES ? place.out(query) : nullptr, sums, half,
                1 / sum_of_row(total[half]));
    }
  }
}
