// Where RoIAlign takes the values of a region from.
#pragma once

#include "common/simd.h"

namespace {

// The points of a region along one axis.
template <class T>
struct Points {
  T start, size;  // of the region and of a bin, in cells
  int64_t per_bin, cells;

  // Every step is rounded as in the original: an extent that is off by a bit may have a point more.
  Points(T from, T to, T scale, bool aligned, int64_t sampling_ratio, int64_t bins, int64_t cells)
      : cells(cells) {
    const T offset = aligned ? T(0.5) : T(0);
    start = rounded(from * scale) - offset;
    const T extent = rounded(to * scale) - offset - start;
    size = (aligned ? extent : std::max(extent, T(1))) / static_cast<T>(bins);
    const int64_t one_a_cell =
        size > 0 ? static_cast<int64_t>(std::ceil(std::min(size, T(1e9)))) : 0;
    per_bin = sampling_ratio > 0 ? sampling_ratio : one_a_cell;
  }

  // Calls f(low, high, near, far) with the two cells of each point in the map, and its shares of
  // them.
  template <class F>
  void each(int64_t bin, F f) const {
    for (int64_t i = 0; i < per_bin && cells > 0; i++) {
      const T offset = (static_cast<T>(i) + T(0.5)) * size / static_cast<T>(per_bin);
      const T position = start + rounded(static_cast<T>(bin) * size) + offset;
      if (!(position >= -1 && position <= static_cast<T>(cells))) continue;
      const T inside = std::max(position, T(0));
      const int64_t low = std::min(static_cast<int64_t>(inside), cells - 1);
      const int64_t high = std::min(low + 1, cells - 1);
      const T far = low < high ? inside - static_cast<T>(low) : T(0);
      f(low, high, 1 - far, far);
    }
  }
};

}  // namespace
