// Where the taps of a deformable convolution read a map, for a tile of positions of its output.
#pragma once

#include "common/matrix.h"
#include "deform_conv2d/deform_conv2d.h"

namespace {

// Positions of a tile at most: whole vectors of any type.
constexpr int64_t POSITIONS = 96;

// Columns of a right factor that lie close together, and its rows that fill the first cache.
constexpr int64_t PANEL = 64, STRETCH = 128;

// The outputs of a group, in panels of whole vectors.
template <class T>
struct Outputs {
  explicit Outputs(const saccade_deform_conv2d& a)
      : each(a.out_channels / a.groups),
        whole(ceil_div(each, LANES<T>) * LANES<T>),
        panel(std::min(PANEL, whole)),
        panels(ceil_div(whole, panel)) {}

  // Columns of a panel, with those that fill up its last vector.
  int64_t columns(int64_t j) const { return std::min(panel, whole - j * panel); }

  // Those of them that are outputs.
  int64_t count(int64_t j) const { return std::min(panel, each - j * panel); }

  const int64_t each, whole, panel, panels;
};

// The samples of a tap, for positions of the output of an image, by row and by column of the four
// cells around each: the cell, its share, and whether it is on the map. What is not has no share
// and is read from row or column 0.
template <class T>
class Samples {
 public:
  explicit Samples(const saccade_deform_conv2d& a) : a(a) {}

  // Goes on to positions of an image.
  void at(int64_t image, int64_t first, int64_t count) {
    n = image;
    start = first;
    this->count = count;
    for (int64_t i = 0; i < count; i++) {
      down[i] = static_cast<T>((first + i) / a.columns * a.stride_y - a.padding_y);
      across[i] = static_cast<T>((first + i) % a.columns * a.stride_x - a.padding_x);
    }
  }

  // Goes on to a tap of a group of channels.
  void find(int64_t group, int64_t tap) {
    const int64_t taps = a.kernel_h * a.kernel_w, size = a.rows * a.columns;
    const int64_t plane = (n * a.offset_groups + group) * taps + tap;
    const T* offset = static_cast<const T*>(a.offset) + 2 * plane * size + start;
    find(offset, down, static_cast<T>(tap / a.kernel_w * a.dilation_y), a.h, rows);
    find(offset + size, across, static_cast<T>(tap % a.kernel_w * a.dilation_x), a.w, columns);
    if (a.mask == nullptr) {
      std::fill(mask, mask + count, T(1));
    } else {
      const T* from = static_cast<const T*>(a.mask) + plane * size + start;
      std::copy(from, from + count, mask);
    }
  }

  // The four cells of a sample, row by row, and where each is in the map.
  void cells(int64_t i, int64_t* to) const {
    for (int k = 0; k < 4; k++) {
      const int64_t row = rows.cell[k / 2][i], column = columns.cell[k % 2][i];
      to[k] = ((n * a.h + row) * a.w + column) * a.channels;
    }
  }

  struct Axis {
    int32_t cell[2][POSITIONS];
    T share[2][POSITIONS], inside[2][POSITIONS];
  };

  Axis rows, columns;
  T mask[POSITIONS];
  int64_t count = 0;

 private:
  void find(const T* offset, const T* base, T tap, int64_t cells, Axis& axis) const {
    const T end = static_cast<T>(cells);
    for (int64_t i = 0; i < count; i++) {
      const T position = offset[i] + (base[i] + tap), low = std::floor(position), high = low + 1;
      const T far = position - low;
      const bool has_low = low >= 0 && low < end, has_high = high >= 0 && high < end;
      axis.cell[0][i] = static_cast<int32_t>(has_low ? low : T(0));
      axis.cell[1][i] = static_cast<int32_t>(has_high ? high : T(0));
      axis.share[0][i] = has_low ? 1 - far : T(0);
      axis.share[1][i] = has_high ? far : T(0);
      axis.inside[0][i] = has_low ? T(1) : T(0);
      axis.inside[1][i] = has_high ? T(1) : T(0);
    }
  }

  const saccade_deform_conv2d& a;
  int64_t n = 0, start = 0;
  T down[POSITIONS], across[POSITIONS];
};

}  // namespace
