// ELSA's attention, forward: a block of threads for some channels of a group of a tile.

#include "elsa_attention/elsa_attention.h"
#include "elsa_attention/elsa_attention_bands.cuh"

#if MATRICES

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    elsa_attention_forward(saccade_elsa_attention a) {
  const int64_t items = a.groups * ((a.depth + CHANNELS - 1) / CHANNELS);
  sum_tile<1>(a, Work(a, blockIdx.x / items, blockIdx.x % items), a.values, a.out);
}

#else

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    elsa_attention_forward(saccade_elsa_attention a) {
  const int64_t items = a.groups * ((a.depth + CHANNELS - 1) / CHANNELS);
  const Work work(a, blockIdx.x / items, blockIdx.x % items);
  const int64_t channels = a.groups * a.depth;
  const Field<REACH> values = {reinterpret_cast<Storage*>(shared_memory())};
  float* weights = reinterpret_cast<float*>(shared_memory() + Field<REACH>::BYTES);
  float* mul = weights + PIXELS * WEIGHTS;
  float* add = mul + (MUL ? TAPS * CHANNELS : 0);
  copy(values, a.values, a.h, a.w, channels, work.place, work.first, work.known, REACH);
  softmax_weights<0>(a, work.place, work.group, weights);
  if constexpr (MUL) copy_ghost(a.mul, channels, work.first, work.known, mul);
  if constexpr (ADD) copy_ghost(a.add, channels, work.first, work.known, add);
  finish();
  __syncthreads();

  const Share<> share(threadIdx.x);
  Pair sums[RUN] = {};
#pragma unroll 1
  for (int ky = 0; ky < KERNEL; ky++) {
    const Ghost ghost(mul, add, ky, share.channel);
    Pair near[RUN + KERNEL - 1];
#pragma unroll
    for (int i = 0; i < RUN + KERNEL - 1; i++)
      near[i] = load_pair(values.at(share.y + ky, share.x + i) + share.channel);
#pragma unroll
    for (int i = 0; i < RUN; i++) {
      const Row row(weights + (share.y * COLUMNS + share.x + i) * WEIGHTS + ky * SLOT);
#pragma unroll
      for (int kx = 0; kx < KERNEL; kx++) ghost.add_to(sums[i], kx, row.at[kx], near[i + kx]);
    }
  }
  write_run(a.out, a.h, a.w, channels, work.place, share, work.first, work.known, sums);
}

#endif
