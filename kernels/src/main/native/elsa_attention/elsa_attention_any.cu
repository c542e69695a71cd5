// Attention to a neighbourhood with a ghost head, of any kernel, dilation and type: a warp works on
// a pixel of a group, and reads what it needs where it lies.

#include "cuda/storage.cuh"
#include "elsa_attention/elsa_attention.h"

struct Pixel {
  int64_t index, n, y, x, group;

  __device__ Pixel(const saccade_elsa_attention& a, int64_t item) {
    group = item % a.groups;
    index = item / a.groups;
    x = index % a.w;
    y = index / a.w % a.h;
    n = index / (a.w * a.h);
  }

  // The pixel that a tap of the kernel sees (SIGN 1) or that sees this one by it (SIGN -1); -1
  // beyond the map.
  template <int SIGN>
  __device__ int64_t seen(const saccade_elsa_attention& a, int64_t tap) const {
    const int64_t row = y + SIGN * (tap / a.kernel - a.kernel / 2) * a.dilation;
    const int64_t column = x + SIGN * (tap % a.kernel - a.kernel / 2) * a.dilation;
    return row >= 0 && row < a.h && column >= 0 && column < a.w ? (n * a.h + row) * a.w + column
                                                                : -1;
  }
};

__device__ __forceinline__ Sum ghost(const void* of, Sum otherwise, int64_t at) {
  return of ? static_cast<const Sum*>(of)[at] : otherwise;
}

// Softmax of the logits of a pixel, by a warp.
__device__ __forceinline__ void softmax_weights(const Storage* logits, int64_t taps, Sum* weights) {
  const int lane = threadIdx.x % WARP;
  Sum largest = -infinity(), total = 0;
  for (int64_t tap = lane; tap < taps; tap += WARP) largest = max(largest, widen(logits[tap]));
  largest = warp_largest(largest);
  for (int64_t tap = lane; tap < taps; tap += WARP)
    total += weights[tap] = exponential(widen(logits[tap]) - largest);
  total = warp_sum(total);
  for (int64_t tap = lane; tap < taps; tap += WARP) weights[tap] /= total;
  __syncwarp();
}

extern "C" __global__ void elsa_attention_forward(saccade_elsa_attention a) {
  const int warps = blockDim.x / WARP, lane = threadIdx.x % WARP;
  const int64_t item = static_cast<int64_t>(blockIdx.x) * warps + threadIdx.x / WARP,
                taps = a.kernel * a.kernel;
  if (item >= a.n * a.h * a.w * a.groups) return;
  Sum* weights = reinterpret_cast<Sum*>(shared_memory()) + threadIdx.x / WARP * taps;
  const Pixel pixel(a, item);
  softmax_weights(static_cast<const Storage*>(a.logits) + item * taps, taps, weights);
  const int64_t channels = a.groups * a.depth;
  for (int64_t c = pixel.group * a.depth + lane; c < (pixel.group + 1) * a.depth; c += WARP) {
    Sum sum = 0;
    for (int64_t tap = 0; tap < taps; tap++) {
      const int64_t from = pixel.seen<1>(a, tap), at = tap * channels + c;
      if (from < 0) continue;
      sum += (ghost(a.mul, 1, at) * weights[tap] + ghost(a.add, 0, at)) *
             widen(static_cast<const Storage*>(a.values)[from * channels + c]);
    }
    static_cast<Storage*>(a.out)[pixel.index * channels + c] = narrow(sum);
  }
}

// Writes the weights, [pixels, groups, taps], and the gradients of the logits.
extern "C" __global__ void elsa_attention_logits(saccade_elsa_attention a, Sum* all_weights) {
  const int warps = blockDim.x / WARP, lane = threadIdx.x % WARP;
  const int64_t item = static_cast<int64_t>(blockIdx.x) * warps + threadIdx.x / WARP,
                taps = a.kernel * a.kernel;
  if (item >= a.n * a.h * a.w * a.groups) return;
  Sum* d_weights = reinterpret_cast<Sum*>(shared_memory()) + threadIdx.x / WARP * taps;
  Sum* weights = all_weights + item * taps;
  const Pixel pixel(a, item);
  softmax_weights(static_cast<const Storage*>(a.logits) + item * taps, taps, weights);
  const int64_t channels = a.groups * a.depth, first = pixel.group * a.depth;
  const Storage* d_out = static_cast<const Storage*>(a.d_out) + pixel.index * channels;
  Sum mean = 0;
  for (int64_t tap = 0; tap < taps; tap++) {
    const int64_t from = pixel.seen<1>(a, tap);
    Sum sum = 0;
    if (from >= 0) {
      const Storage* values = static_cast<const Storage*>(a.values) + from * channels;
      for (int64_t c = first + lane; c < first + a.depth; c += WARP) {
        sum += ghost(a.mul, 1, tap * channels + c) * widen(d_out[c]) * widen(values[c]);
      }
    }
    sum = warp_sum(sum);
    mean += weights[tap] * sum;
    if (lane == 0) d_weights[tap] = sum;
  }
  __syncwarp();
  Storage* to = static_cast<Storage*>(a.d_logits) + item * taps;
  for (int64_t tap = lane; tap < taps; tap += WARP)
    to[tap] = narrow(weights[tap] * (d_weights[tap] - mean));
}

extern "C" __global__ void elsa_attention_values(saccade_elsa_attention a, const Sum* weights) {
  const int warps = blockDim.x / WARP, lane = threadIdx.x % WARP;
  const int64_t item = static_cast<int64_t>(blockIdx.x) * warps + threadIdx.x / WARP,
                taps = a.kernel * a.kernel;
  if (item >= a.n * a.h * a.w * a.groups) return;
  const Pixel pixel(a, item);
  const int64_t channels = a.groups * a.depth;
  for (int64_t c = pixel.group * a.depth + lane; c < (pixel.group + 1) * a.depth; c += WARP) {
    Sum sum = 0;
    for (int64_t tap = 0; tap < taps; tap++) {
      const int64_t by = pixel.seen<-1>(a, tap), at = tap * channels + c;
      if (by < 0) continue;
      sum += (ghost(a.mul, 1, at) * weights[(by * a.groups + pixel.group) * taps + tap] +
              ghost(a.add, 0, at)) *
             widen(static_cast<const Storage*>(a.d_out)[by * channels + c]);
    }
    static_cast<Storage*>(a.d_values)[pixel.index * channels + c] = narrow(sum);
  }
}

// What one of so many parts of the pixels adds to the gradients of the ghost head, [parts, taps,
// channels]; a block for each part and tap.
extern "C" __global__ void elsa_attention_ghost(saccade_elsa_attention a, const Sum* weights,
                                                Sum* d_mul, Sum* d_add, int64_t parts) {
  const int64_t taps = a.kernel * a.kernel, tap = blockIdx.x % taps, part = blockIdx.x / taps;
  const int64_t pixels = a.n * a.h * a.w, channels = a.groups * a.depth;
  for (int64_t c = threadIdx.x; c < channels; c += blockDim.x) {
    const int64_t group = c / a.depth;
    Sum of_mul = 0, of_add = 0;
    for (int64_t i = part * pixels / parts; i < (part + 1) * pixels / parts; i++) {
      const int64_t from = Pixel(a, i * a.groups).seen<1>(a, tap);
      if (from < 0) continue;
      const Sum product = widen(static_cast<const Storage*>(a.d_out)[i * channels + c]) *
                          widen(static_cast<const Storage*>(a.values)[from * channels + c]);
      of_add += product;
      of_mul += product * weights[(i * a.groups + group) * taps + tap];
    }
    const int64_t to = (part * taps + tap) * channels + c;
    if (d_add) d_add[to] = of_add;
    if (d_mul) d_mul[to] = of_mul;
  }
}
