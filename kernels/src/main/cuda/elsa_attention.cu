// Attention to a neighbourhood with a ghost head: a block of threads works on a tile of one group, with
// the weights of the tile made from the logits and kept beside it. MUL and ADD say what the ghost head has.

#include "tile.cuh"

// Weights of a pixel in shared memory, rows of the kernel in whole accesses of 16 bytes; pixels lie
// apart by an odd number of these.
constexpr int SLOT = KERNEL == 3 ? 4 : 8;
constexpr int WEIGHTS = KERNEL == 3 ? 12 : KERNEL * SLOT + 4;

constexpr int LANES = 8;  // that share the taps of a pixel
constexpr int EACH = (TAPS + LANES - 1) / LANES;

// Softmax of the logits of a tile with so many pixels around it, zeros beyond the map.
template <int AROUND>
__device__ __forceinline__ void weigh(const saccade_elsa_attention& a, const Place& place, int64_t group,
                                      float* weights) {
  constexpr int WIDTH = COLUMNS + 2 * AROUND, COUNT = (ROWS + 2 * AROUND) * WIDTH;
  const int lane = threadIdx.x % LANES;
  // All threads of a warp go round together, for its sums.
  for (int first = 0; first < COUNT; first += THREADS / LANES) {
    const int pixel = first + threadIdx.x / LANES;
    const int row = place.top + pixel / WIDTH - AROUND, column = place.left + pixel % WIDTH - AROUND;
    const bool there = pixel < COUNT && row >= 0 && row < a.h && column >= 0 && column < a.w;
    const Storage* from = static_cast<const Storage*>(a.logits) +
                          (there ? (((place.n * a.h + row) * a.w + column) * a.groups + group) * TAPS : 0);
    float x[EACH], largest = -infinity(), total = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      const int tap = lane + i * LANES;
      x[i] = there && tap < TAPS ? widen(from[tap]) : -infinity();
      largest = fmaxf(largest, x[i]);
    }
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(ALL, largest, step));
#pragma unroll
    for (int i = 0; i < EACH; i++) total += x[i] = there ? exponential(x[i] - largest) : 0;
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) total += __shfl_xor_sync(ALL, total, step);
    const float scale = there ? 1 / total : 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      const int tap = lane + i * LANES;
      if (pixel < COUNT && tap < TAPS) weights[pixel * WEIGHTS + tap / KERNEL * SLOT + tap % KERNEL] = x[i] * scale;
    }
  }
}

// Copies the ghost head of some channels, [TAPS][CHANNELS].
__device__ __forceinline__ void copy_ghost(const void* ghost, int64_t channels, int64_t first, int known, float* to) {
  for (int i = threadIdx.x; i < TAPS * CHANNELS; i += THREADS) {
    const int channel = i % CHANNELS;
    to[i] = channel < known ? static_cast<const float*>(ghost)[i / CHANNELS * channels + first + channel] : 0;
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

  __device__ explicit Work(const saccade_elsa_attention& a)
      : place(blockIdx.x / (a.groups * chunks(a)), a.h, a.w) {
    const int64_t chunk = blockIdx.x % chunks(a);
    group = blockIdx.x / chunks(a) % a.groups;
    first = group * a.depth + chunk * CHANNELS;
    known = static_cast<int>(min(a.depth - chunk * CHANNELS, static_cast<int64_t>(CHANNELS)));
  }

  __device__ static int64_t chunks(const saccade_elsa_attention& a) { return (a.depth + CHANNELS - 1) / CHANNELS; }
};

extern "C" __global__ void __launch_bounds__(THREADS, 2) elsa_attention_forward(saccade_elsa_attention a) {
  const Work work(a);
  const int64_t channels = a.groups * a.depth;
  const Field<REACH> values = {reinterpret_cast<Storage*>(shared_memory())};
  float* weights = reinterpret_cast<float*>(shared_memory() + Field<REACH>::BYTES);
  float* mul = weights + PIXELS * WEIGHTS;
  float* add = mul + (MUL ? TAPS * CHANNELS : 0);
  copy(values, a.values, a.h, a.w, channels, work.place, work.first, work.known, REACH);
  weigh<0>(a, work.place, work.group, weights);
  if constexpr (MUL) copy_ghost(a.mul, channels, work.first, work.known, mul);
  if constexpr (ADD) copy_ghost(a.add, channels, work.first, work.known, add);
  finish();
  __syncthreads();

  const Share share(threadIdx.x);
  Pair sums[RUN] = {};
#pragma unroll 1
  for (int ky = 0; ky < KERNEL; ky++) {
    const Ghost ghost(mul, add, ky, share.channel);
    Pair near[RUN + KERNEL - 1];
#pragma unroll
    for (int i = 0; i < RUN + KERNEL - 1; i++) near[i] = load_pair(values.at(share.y + ky, share.x + i) + share.channel);
#pragma unroll
    for (int i = 0; i < RUN; i++) {
      const Row row(weights + (share.y * COLUMNS + share.x + i) * WEIGHTS + ky * SLOT);
#pragma unroll
      for (int kx = 0; kx < KERNEL; kx++) ghost.add_to(sums[i], kx, row.at[kx], near[i + kx]);
    }
  }
  write_run(a.out, a.h, a.w, channels, work.place, share, work.first, work.known, sums);
}
