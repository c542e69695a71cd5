// A convolution of narrow groups of any kernel and type: a thread makes one number, from what it
// reads where it lies.

#include "cuda/storage.cuh"
#include "grouped_convolution/grouped_convolution.h"

// The pixel that a tap of the kernel sees; -1 beyond the map.
__device__ __forceinline__ int64_t seen(const saccade_grouped_convolution& a, int64_t pixel,
                                        int64_t tap) {
  const int64_t row = pixel / a.w % a.h + tap / a.kernel - a.kernel / 2;
  const int64_t column = pixel % a.w + tap % a.kernel - a.kernel / 2;
  return row >= 0 && row < a.h && column >= 0 && column < a.w
             ? (pixel / (a.w * a.h) * a.h + row) * a.w + column
             : -1;
}

extern "C" __global__ void grouped_convolution_forward(saccade_grouped_convolution a) {
  const int64_t channels = a.groups * a.width,
                item = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (item >= a.n * a.h * a.w * channels) return;
  const int64_t c = item % channels;
  Sum sum = a.bias ? static_cast<const Sum*>(a.bias)[c] : 0;
  for (int64_t tap = 0; tap < a.kernel * a.kernel; tap++) {
    const int64_t from = seen(a, item / channels, tap);
    if (from < 0) continue;
    const Storage* x = static_cast<const Storage*>(a.x) + from * channels + c / a.width * a.width;
    const Sum* weight = static_cast<const Sum*>(a.weight) + tap * a.width * channels + c;
    for (int64_t i = 0; i < a.width; i++) sum += weight[i * channels] * widen(x[i]);
  }
  static_cast<Storage*>(a.out)[item] = narrow(sum);
}

// What each part of the pixels adds to the gradient of the weights, [parts, taps, width, channels].
extern "C" __global__ void grouped_convolution_weight(saccade_grouped_convolution a, Sum* d_weight,
                                                      int64_t parts) {
  const int64_t channels = a.groups * a.width, count = a.kernel * a.kernel * a.width * channels;
  const int64_t item = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (item >= parts * count) return;
  const int64_t part = item / count, c = item % channels, input = item / channels % a.width;
  const int64_t tap = item % count / (channels * a.width), pixels = a.n * a.h * a.w;
  Sum sum = 0;
  for (int64_t pixel = part * pixels / parts; pixel < (part + 1) * pixels / parts; pixel++) {
    const int64_t from = seen(a, pixel, tap);
    if (from < 0) continue;
    sum += widen(static_cast<const Storage*>(a.d_out)[pixel * channels + c]) *
           widen(static_cast<const Storage*>(a.x)[from * channels + c / a.width * a.width + input]);
  }
  d_weight[item] = sum;
}
