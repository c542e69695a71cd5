// Attention to a neighbourhood with a ghost head: a block of threads works on a tile of one group,
// with the weights of the tile made from the logits and kept beside it. MUL and ADD say what the
// ghost head has.
#pragma once

#include "cuda/tile.cuh"
#include "elsa_attention/elsa_attention.h"

// Weights of a pixel in shared memory, rows of the kernel in whole accesses of 16 bytes; pixels lie
// apart by an odd number of these.
constexpr int SLOT = KERNEL == 3 ? 4 : 8;
constexpr int WEIGHTS = KERNEL == 3 ? 12 : KERNEL * SLOT + 4;

constexpr int LANES = 8;  // that share the taps of a pixel
constexpr int EACH = (TAPS + LANES - 1) / LANES;

// The weights of a pixel of a tile with so many pixels around it, shared by LANES threads: those of
// the taps lane, lane + LANES, ...; zeros beyond the map. All threads of a warp make some.
template <int AROUND>
struct Weights {
  static constexpr int WIDTH = COLUMNS + 2 * AROUND, COUNT = (ROWS + 2 * AROUND) * WIDTH;

  const int pixel, lane;
  int64_t first;  // logit of the pixel
  bool there;
  float at[EACH];

  __device__ __forceinline__ Weights(const saccade_elsa_attention& a, const Place& place,
                                     int64_t group, int pixel)
      : pixel(pixel), lane(threadIdx.x % LANES) {
    const int row = place.top + pixel / WIDTH - AROUND,
              column = place.left + pixel % WIDTH - AROUND;
    there = pixel < COUNT && row >= 0 && row < a.h && column >= 0 && column < a.w;
    first = there ? (((place.n * a.h + row) * a.w + column) * a.groups + group) * TAPS : 0;
    const Storage* from = static_cast<const Storage*>(a.logits) + first;
    float largest = -infinity(), total = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      at[i] = there && tap(i) < TAPS ? widen(from[tap(i)]) : -infinity();
      largest = fmaxf(largest, at[i]);
    }
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
      largest = fmaxf(largest, __shfl_xor_sync(ALL, largest, step));
#pragma unroll
    for (int i = 0; i < EACH; i++) total += at[i] = there ? exponential(at[i] - largest) : 0;
    const float scale = there ? 1 / sum(total) : sum(0);
#pragma unroll
    for (int i = 0; i < EACH; i++) at[i] *= scale;
  }

  __device__ int tap(int i) const { return lane + i * LANES; }

  // Where a weight lies in shared memory.
  __device__ int place_of(int i) const {
    return pixel * WEIGHTS + tap(i) / KERNEL * SLOT + tap(i) % KERNEL;
  }

  // The sum over the threads that share the pixel.
  __device__ static float sum(float x) {
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) x += __shfl_xor_sync(ALL, x, step);
    return x;
  }
};

// Makes the weights of a tile in shared memory.
template <int AROUND>
__device__ __forceinline__ void softmax_weights(const saccade_elsa_attention& a, const Place& place,
                                                int64_t group, float* to) {
  for (int first = 0; first < Weights<AROUND>::COUNT; first += THREADS / LANES) {
    const Weights<AROUND> weights(a, place, group, first + threadIdx.x / LANES);
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      if (weights.pixel < weights.COUNT && weights.tap(i) < TAPS)
        to[weights.place_of(i)] = weights.at[i];
    }
  }
}

// Copies the ghost head of some channels, [TAPS][CHANNELS].
__device__ __forceinline__ void copy_ghost(const void* ghost, int64_t channels, int64_t first,
                                           int known, float* to) {
  for (int i = threadIdx.x; i < TAPS * CHANNELS; i += THREADS) {
    const int channel = i % CHANNELS;
    to[i] = channel < known
                ? static_cast<const float*>(ghost)[i / CHANNELS * channels + first + channel]
                : 0;
  }
}

// The weights of a row of the kernel for one pixel.
struct Row {
  float at[SLOT];

  __device__ explicit Row(const float* from) {
#pragma unroll
    for (int i = 0; i < SLOT; i += 4) {
      const Pack<float, 4> part = load_pack<4>(from + i);
#pragma unroll
      for (int j = 0; j < 4; j++) at[i + j] = part.at[j];
    }
  }
};

// The ghost head of a row of the kernel for two channels.
struct Ghost {
  Pair mul[MUL ? KERNEL : 1], add[ADD ? KERNEL : 1];

  __device__ Ghost(const float* muls, const float* adds, int ky, int channel) {
#pragma unroll
    for (int kx = 0; kx < KERNEL; kx++) {
      const int at = (ky * KERNEL + kx) * CHANNELS + channel;
      if constexpr (MUL) mul[kx] = {muls[at], muls[at + 1]};
      if constexpr (ADD) add[kx] = {adds[at], adds[at + 1]};
    }
  }

  // Adds a value with its weight.
  __device__ void add_to(Pair& sum, int kx, float weight, const Pair& value) const {
    Pair w = {weight, weight};
    if constexpr (MUL) w = {w.x * mul[kx].x, w.y * mul[kx].y};
    if constexpr (ADD) w = {w.x + add[kx].x, w.y + add[kx].y};
    sum.x += w.x * value.x;
    sum.y += w.y * value.y;
  }
};

// What a block works on: some channels of a group of a tile.
struct Work {
  int64_t group, first;
  int known;
  Place place;

  __device__ Work(const saccade_elsa_attention& a, int64_t tile, int64_t item)
      : place(tile, a.h, a.w) {
    const int64_t chunks = (a.depth + CHANNELS - 1) / CHANNELS, chunk = item % chunks;
    group = item / chunks;
    first = group * a.depth + chunk * CHANNELS;
    known = static_cast<int>(min(a.depth - chunk * CHANNELS, static_cast<int64_t>(CHANNELS)));
  }
};
