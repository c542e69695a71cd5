// Layer normalization on a GPU. A row lies in the registers of ROW threads, PER vectors of channels
// in each: neighbouring lanes of a warp where ROW is at most 32, else a block. Backward, a thread
// adds up the gradients of weight and bias over all rows of its block; blocks are added up in their
// order. With WIDE what is summed is stored as sums are, what goes into products as it is.

#include "cuda/vector.cuh"
#include "layer_norm/layer_norm.h"

#if WIDE
typedef Sum Stream;
__device__ __forceinline__ Sum widen(Sum x) { return x; }
__device__ __forceinline__ void narrow(Sum x, Sum& out) { out = x; }
#else
typedef Storage Stream;
#endif
__device__ __forceinline__ void narrow(Sum x, Storage& out) { out = narrow(x); }

namespace {

template <class T>
__device__ __forceinline__ Vector widen_pack(const Pack<T, VECTOR>& pack) {
  Vector v;
#pragma unroll
  for (int i = 0; i < VECTOR; i++) v.at[i] = widen(pack.at[i]);
  return v;
}

constexpr int THREADS = ROW > WARP ? ROW : 256;
constexpr int BLOCKS = THREADS < 1024 ? 1024 / THREADS : 1;  // of a multiprocessor, at least

// The sums over the threads of a row.
template <int N>
__device__ void sum_row(Sum (&x)[N]) {
#pragma unroll
  for (int step = (ROW < WARP ? ROW : WARP) / 2; step > 0; step /= 2) {
#pragma unroll
    for (int i = 0; i < N; i++) x[i] += __shfl_xor_sync(ALL, x[i], step);
  }
  if constexpr (ROW > WARP) {
    __shared__ Sum of_warps[N][THREADS / WARP];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; i++) {
      if (threadIdx.x % WARP == 0) of_warps[i][threadIdx.x / WARP] = x[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; i++) {
      x[i] = 0;
      for (int w = 0; w < ROW / WARP; w++) x[i] += of_warps[i][w];
    }
  }
}

// The channels of a thread: vector k begins at channel(k).
struct Channels {
  int count;

  __device__ explicit Channels(const saccade_layer_norm& a) : count(static_cast<int>(a.channels)) {}

  __device__ int channel(int k) const {
    return (k * ROW + static_cast<int>(threadIdx.x % ROW)) * VECTOR;
  }
  __device__ bool has(int k) const { return channel(k) < count; }

  // As they are stored: half the registers, where that is half the bytes.
  template <class T>
  __device__ Pack<T, VECTOR> load(bool there, const void* from, int64_t row, int k) const {
    if (there && has(k))
      return load_pack<VECTOR>(static_cast<const T*>(from) + row * count + channel(k));
    return {};
  }

  template <class T>
  __device__ void store(bool there, void* to, int64_t row, int k, const Vector& v) const {
    if (!there || !has(k)) return;
    Pack<T, VECTOR> pack;
#pragma unroll
    for (int i = 0; i < VECTOR; i++) narrow(v.at[i], pack.at[i]);
    store_pack<VECTOR>(static_cast<T*>(to) + row * count + channel(k), pack);
  }

  // Of what all rows share.
  __device__ Vector shared(const void* from, int k) const {
    if (has(k)) return load_vector_of_sums(static_cast<const Sum*>(from) + channel(k));
    return {};
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    layer_norm_forward(saccade_layer_norm a) {
  const Channels channels(a);
  const int64_t row = static_cast<int64_t>(blockIdx.x) * (THREADS / ROW) + threadIdx.x / ROW;
  const bool there = row < a.rows;
  Vector x[PER];
  Sum mean[1] = {0}, variance[1] = {0};
#pragma unroll
  for (int k = 0; k < PER; k++) {
    x[k] = widen_pack(channels.load<Stream>(there, a.x, row, k));
  }
  if (a.residual != nullptr) {
#pragma unroll
    for (int k = 0; k < PER; k++) {
      add(x[k], 1, widen_pack(channels.load<Storage>(there, a.residual, row, k)));
      channels.store<Stream>(there, a.sum, row, k, x[k]);
#pragma unroll
      for (int i = 0; i < VECTOR; i++) {
        Stream kept;
        narrow(x[k].at[i], kept);
        x[k].at[i] = widen(kept);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < PER; k++) {
#pragma unroll
    for (int i = 0; i < VECTOR; i++) mean[0] += x[k].at[i];
  }
  sum_row(mean);
  mean[0] /= channels.count;
#pragma unroll
  for (int k = 0; k < PER; k++) {
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
      x[k].at[i] -= mean[0];
      variance[0] += channels.has(k) ? x[k].at[i] * x[k].at[i] : 0;
    }
  }
  sum_row(variance);
  const Sum scale = 1 / sqrt(variance[0] / channels.count + static_cast<Sum>(a.eps));
#pragma unroll
  for (int k = 0; k < PER; k++) {
    const Vector weight = channels.shared(a.weight, k), bias = channels.shared(a.bias, k);
#pragma unroll
    for (int i = 0; i < VECTOR; i++) x[k].at[i] = x[k].at[i] * (weight.at[i] * scale) + bias.at[i];
    channels.store<Storage>(there, a.out, row, k, x[k]);
  }
  if (a.mean != nullptr && there && threadIdx.x % ROW == 0) {
    static_cast<Sum*>(a.mean)[row] = mean[0];
    static_cast<Sum*>(a.scale)[row] = scale;
  }
}

// partial: [blocks, 2, channels], what each block adds to the gradients of weight and bias.
extern "C" __global__ void __launch_bounds__(THREADS, (BLOCKS + 1) / 2)
    layer_norm_backward(saccade_layer_norm a, Sum* partial) {
  const Channels channels(a);
  constexpr int TOGETHER = THREADS / ROW;
  Vector d_weight[PER] = {}, d_bias[PER] = {};
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * TOGETHER; first < a.rows;
       first += static_cast<int64_t>(gridDim.x) * TOGETHER) {
    const int64_t row = first + threadIdx.x / ROW;
    const bool there = row < a.rows;
    Pack<Stream, VECTOR> x[PER];
    Pack<Storage, VECTOR> d[PER];
#pragma unroll
    for (int k = 0; k < PER; k++) {
      x[k] = channels.load<Stream>(there, a.x, row, k);
      d[k] = channels.load<Storage>(there, a.d_out, row, k);
    }
    const Sum mean = there ? static_cast<const Sum*>(a.mean)[row] : 0;
    const Sum scale = there ? static_cast<const Sum*>(a.scale)[row] : 0;
    Sum along[2] = {0, 0};  // the mean, and the row
#pragma unroll
    for (int k = 0; k < PER; k++) {
      const Vector weight = channels.shared(a.weight, k);
#pragma unroll
      for (int i = 0; i < VECTOR; i++) {
        const Sum normal = (widen(x[k].at[i]) - mean) * scale, slope = widen(d[k].at[i]);
        d_weight[k].at[i] += slope * normal;
        d_bias[k].at[i] += slope;
        along[0] += slope * weight.at[i];
        along[1] += slope * weight.at[i] * normal;
      }
    }
    sum_row(along);
    const Sum level = along[0] / channels.count, slope = along[1] / channels.count;
#pragma unroll
    for (int k = 0; k < PER; k++) {
      const Vector weight = channels.shared(a.weight, k);
      Vector v = widen_pack(channels.load<Stream>(there && a.d_sum != nullptr, a.d_sum, row, k));
#pragma unroll
      for (int i = 0; i < VECTOR; i++) {
        const Sum normal = (widen(x[k].at[i]) - mean) * scale;
        v.at[i] += (widen(d[k].at[i]) * weight.at[i] - level - normal * slope) * scale;
      }
      channels.store<Stream>(there, a.d_x, row, k, v);
      channels.store<Storage>(there && a.d_residual != nullptr, a.d_residual, row, k, v);
    }
  }

  // Over the rows of a warp, then over warps.
  constexpr int WARPS = ROW > WARP ? 1 : THREADS / WARP;
  Sum* of_warps = reinterpret_cast<Sum*>(shared_memory());  // [WARPS, 2, channels]
#pragma unroll
  for (int k = 0; k < PER; k++) {
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
#pragma unroll
      for (int step = ROW; step < WARP; step *= 2) {
        d_weight[k].at[i] += __shfl_xor_sync(ALL, d_weight[k].at[i], step);
        d_bias[k].at[i] += __shfl_xor_sync(ALL, d_bias[k].at[i], step);
      }
      if (channels.has(k) && (ROW > WARP || threadIdx.x % WARP < ROW)) {
        Sum* to = of_warps + (ROW > WARP ? 0 : threadIdx.x / WARP) * 2 * channels.count +
                  channels.channel(k) + i;
        to[0] = d_weight[k].at[i];
        to[channels.count] = d_bias[k].at[i];
      }
    }
  }
  __syncthreads();
  for (int c = threadIdx.x; c < 2 * channels.count; c += THREADS) {
    Sum total = 0;
    for (int w = 0; w < WARPS; w++) total += of_warps[w * 2 * channels.count + c];
    partial[static_cast<int64_t>(blockIdx.x) * 2 * channels.count + c] = total;
  }
}

// Adds what so many blocks found out to the gradients of weight and bias: a block for 32 channels,
// a warp for every 32nd of the blocks.
extern "C" __global__ void __launch_bounds__(1024)
    layer_norm_weight(saccade_layer_norm a, const Sum* partial, int blocks) {
  __shared__ Sum of_warps[WARP][WARP + 1];
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP,
            channels = static_cast<int>(a.channels);
  const int c = blockIdx.x * WARP + lane;
  Sum total = 0;
  for (int block = warp; c < 2 * channels && block < blocks; block += WARP) {
    total += partial[static_cast<int64_t>(block) * 2 * channels + c];
  }
  of_warps[warp][lane] = total;
  __syncthreads();
  if (warp != 0 || c >= 2 * channels) return;
  total = 0;
  for (int w = 0; w < WARP; w++) total += of_warps[w][lane];
  Sum* to =
      static_cast<Sum*>(c < channels ? a.d_weight : a.d_bias) + (c < channels ? c : c - channels);
  *to += total;
}
