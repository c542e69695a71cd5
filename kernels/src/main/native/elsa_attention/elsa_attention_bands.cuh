// Sums over neighbourhoods as products of matrices, for numbers of 16 bits: what the COLUMNS pixels
// of a row of a tile take from a row of pixels around it is a band of weights times the values
// there.
#pragma once

#include "elsa_attention/elsa_attention.cuh"
#include "elsa_attention/elsa_attention.h"

// Where a weight is the same for all channels.
#define MATRICES (SACCADE_STORAGE >= 2 && !MUL)

#if MATRICES

constexpr int ACROSS = 24;                              // pixels of a row that weights are kept for
constexpr int DEEP = (KERNEL * ACROSS + 15) / 16 * 16;  // of all rows of the kernel
constexpr int BAND = DEEP + 8;                          // rows of 8 pixels lie in different banks
constexpr int SQUARES = KERNEL * ACROSS / 8;            // of 8 columns, that are not only zeros
static_assert(COLUMNS + 2 * REACH <= ACROSS && COLUMNS == 16 && ROWS == THREADS / WARP);

typedef Field<REACH, 8, ACROSS> Around;

// The weights of all pixels of a tile, [PIXELS][BAND].
__device__ __forceinline__ void clear_bands(Storage* bands) {
  for (int i = threadIdx.x; i < PIXELS * BAND / ACCESS; i += THREADS) {
    store_pack<4>(reinterpret_cast<uint32_t*>(bands) + 4 * i, {});
  }
}

// Makes the weights of a tile by which its pixels see what is around them (SIGN 1), or by which
// these see them (SIGN -1).
template <int SIGN>
__device__ __forceinline__ void softmax_bands(const saccade_elsa_attention& a, const Place& place,
                                              int64_t group, Storage* bands) {
  constexpr int AROUND = SIGN > 0 ? 0 : REACH;
  for (int first = 0; first < Weights<AROUND>::COUNT; first += THREADS / LANES) {
    const Weights<AROUND> weights(a, place, group, first + threadIdx.x / LANES);
    const int y = weights.pixel / weights.WIDTH, x = weights.pixel % weights.WIDTH;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      const int ky = weights.tap(i) / KERNEL, kx = weights.tap(i) % KERNEL;
      const int row = SIGN > 0 ? y : y + ky - 2 * REACH, column = SIGN > 0 ? x : x + kx - 2 * REACH;
      const bool seen = row >= 0 && row < ROWS && column >= 0 && column < COLUMNS;
      if (weights.pixel < weights.COUNT && weights.tap(i) < TAPS && seen) {
        bands[(row * COLUMNS + column) * BAND + ky * ACROSS + (SIGN > 0 ? x + kx : x)] =
            narrow(weights.at[i]);
      }
    }
  }
}

// Sums a row of a tile by each warp, into the place of its weights: floats, SUMS a pixel.
constexpr int SUMS = CHANNELS + 8;
static_assert(SUMS * 4 <= BAND * 2);

template <int SIGN>
__device__ __forceinline__ void sum_bands(const Around& field, Storage* bands) {
  const int y = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  Storage* row = bands + y * COLUMNS * BAND;
  float sums[CHANNELS / 8][4] = {};
#pragma unroll
  for (int step = 0; step < DEEP / 16; step++) {
    uint32_t weights[4];
    load_squares(weights, row + lane % 16 * BAND + step * 16 + lane / 16 * 8);
    // The weights of a last square of zeros meet any values.
    const int square = min(2 * step + lane / 8 % 2, SQUARES - 1), ky = square / (ACROSS / 8);
    const Storage* from =
        field.at(SIGN > 0 ? y + ky : y + 2 * REACH - ky, square % (ACROSS / 8) * 8 + lane % 8);
#pragma unroll
    for (int n = 0; n < CHANNELS / 8; n += 2) {
      uint32_t values[4];
      load_squares_transposed(values, from + (n + lane / 16) * 8);
      multiply(sums[n], weights, values[0], values[1]);
      multiply(sums[n + 1], weights, values[2], values[3]);
    }
  }
  __syncwarp();
#pragma unroll
  for (int n = 0; n < CHANNELS / 8; n++) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float* to =
          reinterpret_cast<float*>(row) + (lane / 4 + 8 * half) * SUMS + n * 8 + lane % 4 * 2;
      store_pack<2>(to, {{sums[n][2 * half], sums[n][2 * half + 1]}});
    }
  }
}

// Writes the sums of a tile, and what the ghost head adds to them.
template <int SIGN>
__device__ __forceinline__ void sum_tile(const saccade_elsa_attention& a, const Work& work,
                                         const void* in, void* out) {
  const int64_t channels = a.groups * a.depth;
  const Around field = {reinterpret_cast<Storage*>(shared_memory())};
  Storage* bands = reinterpret_cast<Storage*>(shared_memory() + Around::BYTES);
  float* add = reinterpret_cast<float*>(bands + PIXELS * BAND);
  copy(field, in, a.h, a.w, channels, work.place, work.first, work.known, REACH);
  if constexpr (ADD) copy_ghost(a.add, channels, work.first, work.known, add);
  clear_bands(bands);
  __syncthreads();
  softmax_bands<SIGN>(a, work.place, work.group, bands);
  finish();
  __syncthreads();
  sum_bands<SIGN>(field, bands);
  __syncthreads();

  const Share<4> share(threadIdx.x);
  Pair sums[RUN];
#pragma unroll
  for (int i = 0; i < RUN; i++) {
    const float* from =
        reinterpret_cast<const float*>(bands + share.y * COLUMNS * BAND) + (share.x + i) * SUMS;
    const Pack<float, 2> sum = load_pack<2>(from + share.channel);
    sums[i] = {sum.at[0], sum.at[1]};
  }
  if constexpr (ADD) {
#pragma unroll 1
    for (int ky = 0; ky < KERNEL; ky++) {
      const int y = SIGN > 0 ? share.y + ky : share.y + 2 * REACH - ky;
      Pair near[RUN + KERNEL - 1];
#pragma unroll
      for (int i = 0; i < RUN + KERNEL - 1; i++)
        near[i] = load_pair(field.at(y, share.x + i) + share.channel);
#pragma unroll
      for (int kx = 0; kx < KERNEL; kx++) {
        const Pack<float, 2> ghost =
            load_pack<2>(add + (ky * KERNEL + kx) * CHANNELS + share.channel);
#pragma unroll
        for (int i = 0; i < RUN; i++) {
          const Pair& value = near[SIGN > 0 ? i + kx : i + 2 * REACH - kx];
          sums[i].x += ghost.at[0] * value.x;
          sums[i].y += ghost.at[1] * value.y;
        }
      }
    }
  }
  write_run(out, a.h, a.w, channels, work.place, share, work.first, work.known, sums);
}

#endif
