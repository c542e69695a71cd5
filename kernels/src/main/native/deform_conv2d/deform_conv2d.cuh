// Where the taps of a deformable convolution read a map, on a GPU. A launch works on some positions
// of the output, of those of all images: count of them, from first on.
#pragma once

#include "cuda/vector.cuh"
#include "deform_conv2d/deform_conv2d.h"

namespace {

constexpr int THREADS = 256;  // of a block

// What a tap reads at a position, for channels that are moved together: between the four cells of a
// square, of which some may lie beyond the map. A square with none on the map is that of row
// NOWHERE.
struct Sample {
  static constexpr int NOWHERE = -2;

  int image, row, column;  // of the cell at the top left of the square, from -1 on
  Sum below, right;        // how far from that cell, up to 1
  Sum mask;
  int64_t plane;  // of masks, of the size of the output; two of offsets are beside each
  int place;      // in the plane
};

// The samples of a launch, by position, by tap and by group of channels that are moved together.
__device__ __forceinline__ int samples(const saccade_deform_conv2d& a, int count) {
  return count * static_cast<int>(a.kernel_h * a.kernel_w * a.offset_groups);
}

// The cell before a place along an axis, and how far that is from it; false where neither this cell
// nor the next one is on the map, as of a place that is no number.
__device__ __forceinline__ bool find_cell(Sum place, int64_t cells, int& cell, Sum& far) {
  const Sum low = floor(place);
  if (!(low >= -1 && low < static_cast<Sum>(cells))) return false;
  cell = static_cast<int>(low);
  far = place - low;
  return true;
}

__device__ __forceinline__ Sample find_sample(const saccade_deform_conv2d& a, int first, int i) {
  const int groups = static_cast<int>(a.offset_groups), width = static_cast<int>(a.kernel_w);
  const int taps = static_cast<int>(a.kernel_h) * width, columns = static_cast<int>(a.columns);
  const int size = static_cast<int>(a.rows) * columns;
  const int group = i % groups, tap = i / groups % taps, position = first + i / groups / taps;
  Sample s;
  s.image = position / size;
  const int place = position - s.image * size, row = place / columns;
  s.plane = (static_cast<int64_t>(s.image) * groups + group) * taps + tap;
  s.place = place;
  const Sum* offset = static_cast<const Sum*>(a.offset) + 2 * s.plane * size + place;
  const int64_t y = row * a.stride_y - a.padding_y + tap / width * a.dilation_y;
  const int64_t x = (place - row * columns) * a.stride_x - a.padding_x + tap % width * a.dilation_x;
  const bool there = find_cell(offset[0] + static_cast<Sum>(y), a.h, s.row, s.below) &&
                     find_cell(offset[size] + static_cast<Sum>(x), a.w, s.column, s.right);
  if (!there) {
    s.row = s.column = Sample::NOWHERE;
    s.below = s.right = 0;
  }
  s.mask = a.mask == nullptr ? Sum(1) : static_cast<const Sum*>(a.mask)[s.plane * size + place];
  return s;
}

// The vectors of channels that are moved together.
__device__ __forceinline__ int vectors(const saccade_deform_conv2d& a) {
  return static_cast<int>(a.channels / a.offset_groups) / VECTOR;
}

// Where the samples of a position and tap lie, the at-th in order of these, from a channel on:
// [groups, positions, taps, channels of a group].
__device__ __forceinline__ int64_t column(const saccade_deform_conv2d& a, int count, int at,
                                          int channel) {
  if (a.groups == 1) return at * a.channels + channel;
  const int depth = static_cast<int>(a.channels / a.groups), group = channel / depth;
  const int64_t rows = count * a.kernel_h * a.kernel_w;
  return (group * rows + at) * depth + channel - group * depth;
}

// A sample as the lanes need it that read its channels.
struct Reading {
  int64_t plane;  // of the mask: where it begins
  int place;
  int cells[4];  // of the square, row by row, among those of all images; -1 beyond the map
  int at;        // in the order of positions and taps
  int channel;   // the first
  Sum below, right, mask;

  // Of a cell in the sample.
  __device__ __forceinline__ Sum share(int k) const {
    return (k / 2 ? below : 1 - below) * (k % 2 ? right : 1 - right);
  }
};

__device__ __forceinline__ Reading reading(const saccade_deform_conv2d& a, int first, int i) {
  const Sample s = find_sample(a, first, i);
  const int groups = static_cast<int>(a.offset_groups), at = i / groups;
  Reading r = {s.plane * a.rows * a.columns, s.place};
  for (int k = 0; k < 4; k++) {
    const int row = s.row + k / 2, column = s.column + k % 2;
    const bool there = row >= 0 && row < a.h && column >= 0 && column < a.w;
    r.cells[k] = there ? static_cast<int>((s.image * a.h + row) * a.w + column) : -1;
  }
  r.at = at;
  r.channel = (i - at * groups) * vectors(a) * VECTOR;
  r.below = s.below;
  r.right = s.right;
  r.mask = s.mask;
  return r;
}

// The vector at p, or zeros.
__device__ __forceinline__ Vector vector_if(bool there, const Storage* p) {
  if (there) return load_vector(p);
  return {};
}

}  // namespace
