// The gradients of ELSA's attention. Each is gathered by those it belongs to; what all tiles add to
// the ghost head is summed within parts of them, and these in their order.

#include "elsa_attention/elsa_attention.h"
#include "elsa_attention/elsa_attention_bands.cuh"

namespace logits {

typedef Field<0, ACCESS> Outs;

#if MATRICES

typedef Around Values;

// Sets the gradients of the weights of a tile, or adds to them, what some channels have. A warp has
// a row of the tile: the products of its gradients with a row of values, of which the band is
// wanted.
__device__ __forceinline__ void weight_gradients(const Values& values, const Outs& d_out,
                                                 const float*, bool first, float* d_weights) {
  const int y = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  uint32_t g[CHANNELS / 16][4];
#pragma unroll
  for (int k = 0; k < CHANNELS / 16; k++)
    load_squares(g[k], d_out.at(y, lane % 16) + k * 16 + lane / 16 * 8);
#pragma unroll 1
  for (int ky = 0; ky < KERNEL; ky++) {
#pragma unroll
    for (int n = 0; n < ACROSS; n += 8) {
      uint32_t v[4];
      load_squares(v, values.at(y + ky, n + lane % 8) + lane / 8 * 8);
      float sums[4] = {};
      multiply(sums, g[0], v[0], v[1]);
      multiply(sums, g[1], v[2], v[3]);
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int x = lane / 4 + i / 2 * 8, kx = n + lane % 4 * 2 + i % 2 - x;
        float* to = d_weights + (y * COLUMNS + x) * WEIGHTS + ky * SLOT + kx;
        if (kx >= 0 && kx < KERNEL) *to = first ? sums[i] : *to + sums[i];
      }
    }
  }
}

#else

typedef Field<REACH, ACCESS> Values;
constexpr int RUN = 4;

__device__ __forceinline__ void widen_all(const Storage* from, float (&to)[ACCESS]) {
  const Pack<Storage, ACCESS> pack = load_pack<ACCESS>(from);
#pragma unroll
  for (int j = 0; j < ACCESS; j++) to[j] = widen(pack.at[j]);
}

// Sets the gradients of the weights of a tile, or adds to them, what some channels have; mul is
// [TAPS][CHANNELS]. A warp has a row of the kernel, a thread RUN pixels of a row of the tile.
__device__ __forceinline__ void weight_gradients(const Values& values, const Outs& d_out,
                                                 const float* mul, bool first, float* d_weights) {
  const int ky = threadIdx.x / WARP, y = threadIdx.x % ROWS, x = threadIdx.x % WARP / ROWS * RUN;
  if (ky >= KERNEL) return;
  float sums[RUN][KERNEL] = {};
#pragma unroll 1
  for (int c = 0; c < CHANNELS; c += ACCESS) {
    float g[RUN][ACCESS];
#pragma unroll
    for (int p = 0; p < RUN; p++) widen_all(d_out.at(y, x + p) + c, g[p]);
#pragma unroll
    for (int i = 0; i < RUN + KERNEL - 1; i++) {
      float v[ACCESS];
      widen_all(values.at(y + ky, x + i) + c, v);
#pragma unroll
      for (int p = 0; p < RUN; p++) {
        const int kx = i - p;
        if (kx < 0 || kx >= KERNEL) continue;
#pragma unroll
        for (int j = 0; j < ACCESS; j++) {
          const float product = g[p][j] * v[j];
          sums[p][kx] += MUL ? product * mul[(ky * KERNEL + kx) * CHANNELS + c + j] : product;
        }
      }
    }
  }
#pragma unroll
  for (int p = 0; p < RUN; p++) {
#pragma unroll
    for (int kx = 0; kx < KERNEL; kx++) {
      float* to = d_weights + (y * COLUMNS + x + p) * WEIGHTS + ky * SLOT + kx;
      *to = first ? sums[p][kx] : *to + sums[p][kx];
    }
  }
}

#endif

}  // namespace logits

// The gradients of logits: a block for a group of a tile.
extern "C" __global__ void __launch_bounds__(THREADS, MUL ? 1 : 2)
    elsa_attention_logits(saccade_elsa_attention a) {
  using logits::Outs, logits::Values;
  const int64_t chunks = (a.depth + CHANNELS - 1) / CHANNELS, channels = a.groups * a.depth;
  const int64_t group = blockIdx.x % a.groups, tile = blockIdx.x / a.groups;
  const Values values = {reinterpret_cast<Storage*>(shared_memory())};
  const Outs d_out = {reinterpret_cast<Storage*>(shared_memory() + Values::BYTES)};
  float* d_weights = reinterpret_cast<float*>(shared_memory() + Values::BYTES + Outs::BYTES);
  float* mul = d_weights + PIXELS * WEIGHTS;
  for (int64_t chunk = 0; chunk < chunks; chunk++) {
    const Work work(a, tile, group * chunks + chunk);
    __syncthreads();
    copy(values, a.values, a.h, a.w, channels, work.place, work.first, work.known, REACH);
    copy(d_out, a.d_out, a.h, a.w, channels, work.place, work.first, work.known, 0);
    if constexpr (MUL) copy_ghost(a.mul, channels, work.first, work.known, mul);
    finish();
    __syncthreads();
    logits::weight_gradients(values, d_out, mul, chunk == 0, d_weights);
  }
  __syncthreads();
  const Place place(tile, a.h, a.w);
  for (int first = 0; first < PIXELS; first += THREADS / LANES) {
    const Weights<0> weights(a, place, group, first + threadIdx.x / LANES);
    float d[EACH], mean = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      d[i] = weights.tap(i) < TAPS ? d_weights[weights.place_of(i)] : 0;
      mean += weights.at[i] * d[i];
    }
    mean = weights.sum(mean);
    Storage* to = static_cast<Storage*>(a.d_logits) + weights.first;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      if (weights.there && weights.tap(i) < TAPS)
        to[weights.tap(i)] = narrow(weights.at[i] * (d[i] - mean));
    }
  }
}

// The gradients of values: as the forward, of the pixels that see them.
#if MATRICES

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    elsa_attention_values(saccade_elsa_attention a) {
  const int64_t items = a.groups * ((a.depth + CHANNELS - 1) / CHANNELS);
  sum_tile<-1>(a, Work(a, blockIdx.x / items, blockIdx.x % items), a.d_out, a.d_values);
}

#else

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    elsa_attention_values(saccade_elsa_attention a) {
  const int64_t items = a.groups * ((a.depth + CHANNELS - 1) / CHANNELS),
                channels = a.groups * a.depth;
  const Work work(a, blockIdx.x / items, blockIdx.x % items);
  const Field<REACH> d_out = {reinterpret_cast<Storage*>(shared_memory())};
  float* weights = reinterpret_cast<float*>(shared_memory() + Field<REACH>::BYTES);
  float* mul = weights + ::Weights<REACH>::COUNT * WEIGHTS;
  float* add = mul + (MUL ? TAPS * CHANNELS : 0);
  copy(d_out, a.d_out, a.h, a.w, channels, work.place, work.first, work.known, REACH);
  softmax_weights<REACH>(a, work.place, work.group, weights);
  if constexpr (MUL) copy_ghost(a.mul, channels, work.first, work.known, mul);
  if constexpr (ADD) copy_ghost(a.add, channels, work.first, work.known, add);
  finish();
  __syncthreads();

  const Share<> share(threadIdx.x);
  Pair sums[RUN] = {};
#pragma unroll 1
  for (int ky = 0; ky < KERNEL; ky++) {
    const Ghost ghost(mul, add, ky, share.channel);
    const int y = share.y + 2 * REACH - ky;
#pragma unroll
    for (int i = 0; i < RUN + KERNEL - 1; i++) {
      const Pair near = load_pair(d_out.at(y, share.x + i) + share.channel);
      const Row row(weights + (y * ::Weights<REACH>::WIDTH + share.x + i) * WEIGHTS + ky * SLOT);
#pragma unroll
      for (int kx = 0; kx < KERNEL; kx++) {
        const int p = i + kx - 2 * REACH;
        if (p >= 0 && p < RUN) ghost.add_to(sums[p], kx, row.at[kx], near);
      }
    }
  }
  write_run(a.d_values, a.h, a.w, channels, work.place, share, work.first, work.known, sums);
}

#endif

// What each part of the tiles adds to the gradients of the ghost head, [parts, TAPS, channels]. A
// warp has a row of the kernel, half a warp half the rows of a tile, a thread two channels.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    elsa_attention_ghost(saccade_elsa_attention a, float* d_mul, float* d_add, int64_t parts) {
  const int64_t items = a.groups * ((a.depth + CHANNELS - 1) / CHANNELS),
                channels = a.groups * a.depth;
  const int64_t item = blockIdx.x % items, part = blockIdx.x / items;
  const int64_t tiles = a.n * ((a.h + ROWS - 1) / ROWS) * ((a.w + COLUMNS - 1) / COLUMNS);
  const Field<REACH, ACCESS> values = {reinterpret_cast<Storage*>(shared_memory())};
  const Field<0, ACCESS> d_out = {reinterpret_cast<Storage*>(shared_memory() + values.BYTES)};
  float* weights = reinterpret_cast<float*>(shared_memory() + values.BYTES + d_out.BYTES);
  const int ky = threadIdx.x / WARP, half = threadIdx.x % WARP / PAIRS,
            channel = threadIdx.x % PAIRS * 2;
  Pair of_add[KERNEL] = {}, of_mul[MUL ? KERNEL : 1] = {};
  for (int64_t tile = part * tiles / parts; tile < (part + 1) * tiles / parts; tile++) {
    const Work work(a, tile, item);
    __syncthreads();
    copy(values, a.values, a.h, a.w, channels, work.place, work.first, work.known, REACH);
    copy(d_out, a.d_out, a.h, a.w, channels, work.place, work.first, work.known, 0);
    if constexpr (MUL) softmax_weights<0>(a, work.place, work.group, weights);
    finish();
    __syncthreads();
    if (ky >= KERNEL) continue;
#pragma unroll 1
    for (int y = half * ROWS / 2; y < (half + 1) * ROWS / 2; y++) {
      Pair near[COLUMNS + KERNEL - 1];
#pragma unroll
      for (int i = 0; i < COLUMNS + KERNEL - 1; i++)
        near[i] = load_pair(values.at(y + ky, i) + channel);
#pragma unroll
      for (int x = 0; x < COLUMNS; x++) {
        const Pair g = load_pair(d_out.at(y, x) + channel);
#pragma unroll
        for (int kx = 0; kx < KERNEL; kx++) {
          const Pair product = {g.x * near[x + kx].x, g.y * near[x + kx].y};
          of_add[kx].x += product.x;
          of_add[kx].y += product.y;
          if constexpr (MUL) {
            const float weight = weights[(y * COLUMNS + x) * WEIGHTS + ky * SLOT + kx];
            of_mul[kx].x += weight * product.x;
            of_mul[kx].y += weight * product.y;
          }
        }
      }
    }
  }
  if (ky >= KERNEL) return;
  const Work work(a, 0, item);
  auto write = [&](float* to, int kx, Pair sum) {
    sum.x += __shfl_xor_sync(ALL, sum.x, PAIRS);
    sum.y += __shfl_xor_sync(ALL, sum.y, PAIRS);
    to += (part * TAPS + ky * KERNEL + kx) * channels + work.first + channel;
    if (half == 0 && channel < work.known) to[0] = sum.x;
    if (half == 0 && channel + 1 < work.known) to[1] = sum.y;
  };
#pragma unroll
  for (int kx = 0; kx < KERNEL; kx++) {
    if (d_add) write(d_add, kx, of_add[kx]);
    if constexpr (MUL) {
      if (d_mul) write(d_mul, kx, of_mul[kx]);
    }
  }
}
