// Gradients of attention on tensor cores. A warp makes those of the scores of 16 queries and a part
// of the keys, which it adds up over places; then warps share what is made of them.
#pragma once

#include "attention/attention_tiles.cuh"

constexpr int QUERY_TILES = SIZES.rows() / 16;
constexpr int KEY_TILES = SIZES.columns() / 16;
constexpr int PART = SIZES.part();  // eights of keys of a warp

// What the warps of a block share.
struct Shared {
  Storage *queries, *d_out, *keys, *values;  // rows of channels
  Storage *weights, *d_scores;               // rows of keys
  float* parts;         // of keys, and rows: largest score, sum of weights, of gradients
  float* d_score_sums;  // [PART * 4][threads]: sums of gradients of scores

  __device__ __forceinline__ explicit Shared(unsigned char* memory)
      : queries(reinterpret_cast<Storage*>(memory)),
        d_out(row_of(queries, SIZES.rows())),
        keys(row_of(d_out, SIZES.rows())),
        values(row_of(keys, SIZES.columns())),
        weights(row_of(values, SIZES.columns())),
        d_scores(weights + SIZES.rows() * SIZES.breadth()),
        parts(reinterpret_cast<float*>(d_scores + SIZES.rows() * SIZES.breadth())),
        d_score_sums(parts + 3 * SIZES.parts() * SIZES.rows()) {}
};

// Hands the sums of gradients of scores out, [KEYS][QUERIES]: added to those of others or, where
// there are none yet, written.
__device__ __forceinline__ void put_d_score_sums(unsigned char* memory, float* to, bool fresh) {
  const Shared shared(memory);
  const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
#pragma unroll 4
  for (int i = 0; i < 4 * PART; i++) {
    const int query = warp % QUERY_TILES * 16 + lane / 4 + i % 4 / 2 * 8;
    const int key = 8 * (warp / QUERY_TILES * PART + i / 4) + lane % 4 * 2 + i % 2;
    const float sum = shared.d_score_sums[i * THREADS + threadIdx.x];
    float* at = to + key * QUERIES + query;
    if (query < QUERIES && key < KEYS) *at = fresh ? sum : *at + sum;
  }
}

// Makes weights of the scores of half of the rows of a tile, and gradients of scores of those of
// weights.
template <int N>
__device__ __forceinline__ void softmax_backward(const Shared& shared, Sums (&scores)[N],
                                                 Sums (&d_scores)[N]) {
  float high[2], total[2] = {}, product[2] = {};
#pragma unroll
  for (int half = 0; half < 2; half++) {
    high[half] = largest(scores, half, ABSENT);
#pragma unroll
    for (int n = 0; n < N; n++) {
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; i++) {
        scores[n][i] = exponential(scores[n][i] - high[half]);
        total[half] += scores[n][i];
        product[half] += scores[n][i] * d_scores[n][i];
      }
    }
    total[half] = sum_of_row(total[half]);
    product[half] = sum_of_row(product[half]);
  }
  float share[2] = {1, 1};
  if constexpr (SIZES.parts() > 1) {
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int row = warp % QUERY_TILES * 16 + lane / 4;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float* mine = shared.parts + (warp / QUERY_TILES * SIZES.rows() + row + 8 * half) * 3;
      if (lane % 4 == 0) {
        mine[0] = high[half];
        mine[1] = total[half];
        mine[2] = product[half];
      }
    }
    __syncthreads();
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float top = high[half];
      const float* all = shared.parts + (row + 8 * half) * 3;
      for (int part = 0; part < SIZES.parts(); part++)
        top = fmaxf(top, all[part * SIZES.rows() * 3]);
      share[half] = exponential(high[half] - top);
      total[half] = product[half] = 0;
      for (int part = 0; part < SIZES.parts(); part++) {
        const float* of = all + part * SIZES.rows() * 3;
        total[half] += of[1] * exponential(of[0] - top);
        product[half] += of[2] * exponential(of[0] - top);
      }
    }
  }
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const float factor = share[half] / total[half], mean = product[half] / total[half];
#pragma unroll
    for (int n = 0; n < N; n++) {
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; i++) {
        scores[n][i] *= factor;
        d_scores[n][i] = scores[n][i] * (d_scores[n][i] - mean);
      }
    }
  }
}

// Writes pairs of a tile of queries and some keys to rows of keys.
__device__ __forceinline__ void put_pairs(Storage* rows, int tile, int eight,
                                          const Sums (&pairs)[PART]) {
  const int lane = threadIdx.x % WARP;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    Storage* to = rows + (tile * 16 + lane / 4 + 8 * half) * SIZES.breadth() + lane % 4 * 2;
#pragma unroll
    for (int n = 0; n < PART; n++) {
      store_pair(to + 8 * (eight + n), {pairs[n][2 * half], pairs[n][2 * half + 1]});
    }
    if (PART * SIZES.parts() % 2 == 1 && eight + PART == PART * SIZES.parts())
      store_pair(to + 8 * PART * SIZES.parts(), {0, 0});
  }
}

template <class Place>
__device__ __forceinline__ void backward(const Place& place, unsigned char* memory, bool fresh) {
  const Shared shared(memory);
  fetch_queries(place, shared.queries);
  fetch_gradients(place, shared.d_out);
  fetch_keys(place, shared.keys, shared.values);
  commit_copies();
  wait_copies();
  __syncthreads();
  const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  {
    const int tile = warp % QUERY_TILES, eight = SIZES.parts() == 1 ? 0 : warp / QUERY_TILES * PART;
    Sums scores[PART], d_scores[PART];
    multiply_rows<true>(row_of(shared.d_out, 16 * tile), shared.values, eight, d_scores);
    multiply_rows<true>(row_of(shared.queries, 16 * tile), shared.keys, eight, scores);
    score<KEY_EIGHTS == PART * SIZES.parts()>(place, tile, eight, scores);
    softmax_backward(shared, scores, d_scores);
    put_pairs(shared.weights, tile, eight, scores);
    put_pairs(shared.d_scores, tile, eight, d_scores);
#pragma unroll
    for (int n = 0; n < PART; n++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        float& sum = shared.d_score_sums[(4 * n + i) * THREADS + threadIdx.x];
        sum = fresh ? d_scores[n][i] : sum + d_scores[n][i];
      }
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int task = warp; task < QUERY_TILES + 2 * KEY_TILES; task += SIZES.warps()) {
    Sums sums[EIGHTS] = {};
    if (task < QUERY_TILES) {
#pragma unroll 2
      for (int step = 0; step < KEY_TILES; step++) {
        add_weighted(left(shared.d_scores + 16 * (task * SIZES.breadth() + step), SIZES.breadth()),
                     row_of(shared.keys, 16 * step), sums);
      }
    } else {
      const bool of_keys = task < QUERY_TILES + KEY_TILES;
      const Storage* pairs =
          (of_keys ? shared.d_scores : shared.weights) + (task - QUERY_TILES) % KEY_TILES * 16;
      Storage* rows = of_keys ? shared.queries : shared.d_out;
#pragma unroll 2
      for (int step = 0; step < QUERY_TILES; step++) {
        add_weighted(left_transposed(pairs + 16 * step * SIZES.breadth(), SIZES.breadth()),
                     row_of(rows, 16 * step), sums);
      }
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
      Storage* to = nullptr;
      float factor = place.scale();
      if (task < QUERY_TILES) {
        const int query = task * 16 + lane / 4 + 8 * half;
        if (query < QUERIES) to = place.d_query(query);
      } else {
        const int key = (task - QUERY_TILES) % KEY_TILES * 16 + lane / 4 + 8 * half;
        if (key < KEYS) to = place.d_key(key);
        if (task >= QUERY_TILES + KEY_TILES) {
          factor = 1;
          if (to != nullptr) to += place.to_d_values();
        }
      }
      store_row(to, sums, half, factor);
    }
  }
}
