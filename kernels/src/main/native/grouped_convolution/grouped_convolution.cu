// A convolution of groups of GROUP channels, 1, 2, 4 or 8: a block of threads works on CHANNELS of
// a tile, which are whole groups.

#include "cuda/tile.cuh"
#include "grouped_convolution/grouped_convolution.h"

// Inputs of a group that are worked on together.
constexpr int INPUTS = GROUP < 2 ? 1 : 2;

struct Work {
  int64_t first;
  int known;
  Place place;

  __device__ Work(const saccade_grouped_convolution& a, int64_t tile, int64_t chunk)
      : first(chunk * CHANNELS), place(tile, a.h, a.w) {
    known = static_cast<int>(min(a.groups * GROUP - first, static_cast<int64_t>(CHANNELS)));
  }
};

// The first channel of the group that a channel is in.
__device__ __forceinline__ int group_of(int channel) {
  return GROUP < 2 ? channel : channel / GROUP * GROUP;
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    grouped_convolution_forward(saccade_grouped_convolution a) {
  const int64_t channels = a.groups * GROUP, chunks = (channels + CHANNELS - 1) / CHANNELS;
  const Work work(a, blockIdx.x / chunks, blockIdx.x % chunks);
  const Field<REACH> field = {reinterpret_cast<Storage*>(shared_memory())};
  float* weights =
      reinterpret_cast<float*>(shared_memory() + Field<REACH>::BYTES);  // [TAPS][GROUP][CHANNELS]
  copy(field, a.x, a.h, a.w, channels, work.place, work.first, work.known, REACH);
  for (int i = threadIdx.x; i < TAPS * GROUP * CHANNELS; i += THREADS) {
    const float* from = static_cast<const float*>(a.weight) + i / CHANNELS * channels + work.first;
    weights[i] = i % CHANNELS < work.known ? from[i % CHANNELS] : 0;
  }
  finish();
  __syncthreads();

  const Share<> share(threadIdx.x);
  const int group = group_of(share.channel);
  Pair sums[RUN];
  const float* bias = static_cast<const float*>(a.bias);
#pragma unroll
  for (int i = 0; i < RUN; i++) {
    sums[i].x = bias && share.channel < work.known ? bias[work.first + share.channel] : 0;
    sums[i].y = bias && share.channel + 1 < work.known ? bias[work.first + share.channel + 1] : 0;
  }
#pragma unroll 1
  for (int ky = 0; ky < KERNEL; ky++) {
#pragma unroll 1
    for (int input = 0; input < GROUP; input += INPUTS) {
      Pair near[RUN + KERNEL - 1];
#pragma unroll
      for (int i = 0; i < RUN + KERNEL - 1; i++)
        near[i] = load_pair(field.at(share.y + ky, share.x + i) + group + input);
#pragma unroll
      for (int kx = 0; kx < KERNEL; kx++) {
        const float* at = weights + ((ky * KERNEL + kx) * GROUP + input) * CHANNELS + share.channel;
        const Pack<float, 2> first = load_pack<2>(at);
        if constexpr (GROUP == 1) {
#pragma unroll
          for (int i = 0; i < RUN; i++) {
            sums[i].x += first.at[0] * near[i + kx].x;
            sums[i].y += first.at[1] * near[i + kx].y;
          }
        } else {
          const Pack<float, 2> second = load_pack<2>(at + CHANNELS);
#pragma unroll
          for (int i = 0; i < RUN; i++) {
            sums[i].x += first.at[0] * near[i + kx].x + second.at[0] * near[i + kx].y;
            sums[i].y += first.at[1] * near[i + kx].x + second.at[1] * near[i + kx].y;
          }
        }
      }
    }
  }
  write_run(a.out, a.h, a.w, channels, work.place, share, work.first, work.known, sums);
}

// What each part of the tiles adds to the gradient of the weights, [parts, TAPS, GROUP, channels],
// for INPUTS of each group. A warp has a row of the kernel, half a warp half the rows of a tile, a
// thread two channels.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    grouped_convolution_weight(saccade_grouped_convolution a, float* d_weight, int64_t parts) {
  constexpr int PASSES = GROUP / INPUTS;
  const int64_t channels = a.groups * GROUP, chunks = (channels + CHANNELS - 1) / CHANNELS;
  const int64_t chunk = blockIdx.x / PASSES % chunks, part = blockIdx.x / (PASSES * chunks);
  const int input = blockIdx.x % PASSES * INPUTS;
  const int64_t tiles = a.n * ((a.h + ROWS - 1) / ROWS) * ((a.w + COLUMNS - 1) / COLUMNS);
  const Field<REACH, ACCESS> field = {reinterpret_cast<Storage*>(shared_memory())};
  const Field<0, ACCESS> d_out = {reinterpret_cast<Storage*>(shared_memory() + field.BYTES)};
  const int ky = threadIdx.x / WARP, half = threadIdx.x % WARP / PAIRS,
            channel = threadIdx.x % PAIRS * 2;
  const int from = group_of(channel) + input;
  Pair sums[KERNEL][INPUTS] = {};
  for (int64_t tile = part * tiles / parts; tile < (part + 1) * tiles / parts; tile++) {
    const Work work(a, tile, chunk);
    __syncthreads();
    copy(field, a.x, a.h, a.w, channels, work.place, work.first, work.known, REACH);
    copy(d_out, a.d_out, a.h, a.w, channels, work.place, work.first, work.known, 0);
    finish();
    __syncthreads();
    if (ky >= KERNEL) continue;
#pragma unroll 1
    for (int y = half * ROWS / 2; y < (half + 1) * ROWS / 2; y++) {
      Pair near[COLUMNS + KERNEL - 1];
#pragma unroll
      for (int i = 0; i < COLUMNS + KERNEL - 1; i++)
        near[i] = load_pair(field.at(y + ky, i) + from);
#pragma unroll
      for (int x = 0; x < COLUMNS; x++) {
        const Pair g = load_pair(d_out.at(y, x) + channel);
#pragma unroll
        for (int kx = 0; kx < KERNEL; kx++) {
          const Pair& v = near[x + kx];
          sums[kx][0].x += g.x * v.x;
          sums[kx][0].y += g.y * (GROUP == 1 ? v.y : v.x);
          if constexpr (GROUP > 1) {
            sums[kx][1].x += g.x * v.y;
            sums[kx][1].y += g.y * v.y;
          }
        }
      }
    }
  }
  if (ky >= KERNEL) return;
  const Work work(a, 0, chunk);
#pragma unroll
  for (int kx = 0; kx < KERNEL; kx++) {
#pragma unroll
    for (int i = 0; i < INPUTS; i++) {
      Pair sum = sums[kx][i];
      sum.x += __shfl_xor_sync(ALL, sum.x, PAIRS);
      sum.y += __shfl_xor_sync(ALL, sum.y, PAIRS);
      float* to = d_weight + ((part * TAPS + ky * KERNEL + kx) * GROUP + input + i) * channels +
                  work.first + channel;
      if (half == 0 && channel < work.known) to[0] = sum.x;
      if (half == 0 && channel + 1 < work.known) to[1] = sum.y;
    }
  }
}
