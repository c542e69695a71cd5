// Where RoIAlign takes the values of a region from, on a GPU.
#pragma once

#include "cuda/device.cuh"

// A number that is not fused with a sum, because the last bit decides how many points there are.
template <class T>
__device__ T product(T a, T b) {
  if constexpr (sizeof(T) == 4) return __fmul_rn(a, b);
  return __dmul_rn(a, b);
}

// The points of a region along one axis.
template <class T>
struct Points {
  T start, size;  // of the region and of a bin, in cells
  int bins, per_bin, cells;

  __device__ Points(T from, T to, T scale, bool aligned, int64_t sampling_ratio, int64_t bins,
                    int64_t cells)
      : bins(static_cast<int>(bins)), cells(static_cast<int>(cells)) {
    const T offset = aligned ? T(0.5) : T(0);
    start = product(from, scale) - offset;
    const T extent = product(to, scale) - offset - start;
    size = (aligned || extent > 1 ? extent : T(1)) / this->bins;
    const int one_a_cell = size > 0 ? static_cast<int>(ceil(size < T(1e9) ? size : T(1e9))) : 0;
    per_bin = sampling_ratio > 0 ? static_cast<int>(sampling_ratio) : one_a_cell;
  }

  // Calls f(low, near, far) with the cell before each point in the map, and the shares of it and of
  // the next one.
  template <class F>
  __device__ void each(int bin, F f) const {
    const T from = start + product(static_cast<T>(bin), size);
    for (int i = 0; i < per_bin && cells > 0; i++) {
      const T position = from + product(i + T(0.5), size) / per_bin;
      if (!(position >= -1 && position <= cells)) continue;
      const T inside = position > 0 ? position : T(0);
      const int low = min(static_cast<int>(inside), cells - 1);
      const T far = low < cells - 1 ? inside - low : T(0);
      f(low, 1 - far, far);
    }
  }
};
