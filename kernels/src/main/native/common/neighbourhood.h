// A map of channels cut into tiles, each seen with what lies around it: what a filter of a
// neighbourhood reads, copied side by side with zeros beyond the map.
#pragma once

#include "common/simd.h"

namespace {

// S is what numbers are stored as.
template <class S>
class Neighbourhood {
 public:
  using T = SumOf<S>;
  static constexpr int L = LANES<T>;
  static constexpr int V = SACCADE_REGISTERS == 32 ? 2 : 1;  // vectors of channels at a time
  static constexpr int CHUNK = V * L;
  static constexpr int PIXELS = 8;  // of a row, what is worked on together divides this

  // h and w of the map, in groups of depth channels, of which a filter reaches so far to each side.
  Neighbourhood(int64_t n, int64_t h, int64_t w, int64_t groups, int64_t depth, int64_t reach)
      : h(h),
        w(w),
        groups(groups),
        channels(depth),
        reach(static_cast<int>(reach)),
        depth(static_cast<int>(ceil_div(depth, CHUNK) * CHUNK)),
        rows(static_cast<int>(std::min<int64_t>(h, ROWS))),
        columns(static_cast<int>(std::min<int64_t>(w, COLUMNS))),
        stride(static_cast<int>(ceil_div(columns, PIXELS) * PIXELS + 2 * reach)),
        across(ceil_div(w, columns)),
        down(ceil_div(h, rows)),
        count(n * across * down),
        field((rows + 2 * reach) * stride),
        together(std::clamp<int64_t>(TOGETHER / depth, 1, groups)),
        blocks(ceil_div(groups, together)) {}

  struct Place {
    int64_t n, top, left;
    int rows, columns;
  };

  Place place(int64_t index) const {
    int64_t top = index / across % down * rows;
    int64_t left = index % across * columns;
    return {index / (across * down), top, left, static_cast<int>(std::min<int64_t>(rows, h - top)),
            static_cast<int>(std::min<int64_t>(columns, w - left))};
  }

  // A few groups that lie side by side.
  struct Block {
    int64_t first, end;
  };

  Block block(int64_t index) const {
    return {index * together, std::min((index + 1) * together, groups)};
  }

  // Returns the pixel of a cell of the field around a tile, or -1 beyond the map.
  int64_t pixel(const Place& p, int y, int x) const {
    int64_t row = p.top + y - reach;
    int64_t column = p.left + x - reach;
    bool inside = row >= 0 && row < h && column >= 0 && column < w;
    return inside ? (p.n * h + row) * w + column : -1;
  }

  int64_t first_channel(int64_t pixel, int64_t group) const {
    return (pixel * groups + group) * channels;
  }

  // Copies the channels of groups around a tile, [group][rows + 2 reach][stride][depth].
  void copy(const Place& p, const void* map, const Block& b, T* to) const {
    for (int64_t cell = 0; cell < field; cell++) {
      const int64_t from =
          pixel(p, static_cast<int>(cell / stride), static_cast<int>(cell % stride));
      const int64_t known = from < 0 ? 0 : channels;
      for (int64_t group = b.first; group < b.end; group++) {
        T* here = to + ((group - b.first) * field + cell) * depth;
        if (known > 0) widen(static_cast<const S*>(map) + first_channel(from, group), here, known);
        std::fill(here + known, here + depth, T(0));
      }
    }
  }

  const int64_t h, w, groups, channels;
  const int reach;
  const int depth;  // channels of a group in whole chunks
  const int rows, columns, stride;
  const int64_t across, down, count;
  const int64_t field;  // cells of a tile with what lies around it
  const int64_t together, blocks;

 private:
  static constexpr int ROWS = 8;
  static constexpr int COLUMNS = 32;
  // Channels that are copied together: what lies side by side is read at once, yet fits the cache.
  static constexpr int64_t TOGETHER = 128;
};

}  // namespace
