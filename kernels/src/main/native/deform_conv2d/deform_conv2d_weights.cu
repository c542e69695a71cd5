// The weights of a deformable convolution on a GPU: in the type of sums as they are given, and in
// that of products by output, by tap and by channel.

#include "cuda/storage.cuh"
#include "deform_conv2d/deform_conv2d_weights.h"

namespace {

__device__ __forceinline__ int64_t thread() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// Where the i-th for products is given.
__device__ __forceinline__ int64_t given(const saccade_deform_conv2d_weights& w, int64_t i) {
  const int64_t row = i / w.channels, output = row / w.taps;
  return output * w.by_output + (row - output * w.taps) * w.by_tap +
         (i - row * w.channels) * w.by_channel;
}

}  // namespace

extern "C" __global__ void deform_conv2d_narrow(const Sum* from, saccade_deform_conv2d_weights w,
                                                Storage* to) {
  const int64_t i = thread();
  if (i < w.count) to[i] = narrow(from[given(w, i)]);
}

// Adds what some of the positions give to what those before them gave, if there were any.
extern "C" __global__ void deform_conv2d_add(const Storage* product, Sum* to,
                                             saccade_deform_conv2d_weights w, int is_first) {
  const int64_t i = thread();
  if (i >= w.count) return;
  Sum& sum = to[given(w, i)];
  sum = widen(product[i]) + (is_first ? Sum(0) : sum);
}
