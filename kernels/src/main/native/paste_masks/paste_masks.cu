// Maps of masks on a canvas, on a GPU: a thread for some pixels of a column, whose place on the map
// it works out once.

#include "cuda/device.cuh"
#include "paste_masks/paste_masks.h"

namespace {

constexpr int COLUMNS = 256, ROWS = 32;  // of pixels, of a block

// Where the centre of a pixel of one axis lies on a map: between cell low and the next.
struct Place {
  bool near_box;  // at most a pixel beyond it
  int low = 0;
  float near = 0, far = 0;

  // Nothing is fused: every step is rounded as in the original.
  __device__ Place(float from, float to, int cells, int pixel)
      : near_box(pixel >= floorf(from) - 1 && pixel < ceilf(to) + 1) {
    if (!near_box) return;
    const float position = __fmul_rn((pixel + 0.5f - from) / (to - from), 2) - 1;
    // Of a box without extent, every pixel is its centre.
    const float u = isinf(position) ? 0 : position;
    const float cell = __fmul_rn(u + 1, cells / 2.f) - 0.5f, floor = floorf(cell);
    if (floor >= -1 && floor < cells) {
      low = static_cast<int>(floor);
      far = cell - floor;
      near = 1 - far;
    }
  }
};

__device__ float at(const saccade_paste_masks& a, const float* map, int row, int column) {
  return row >= 0 && row < a.h && column >= 0 && column < a.w ? map[row * a.w + column] : 0;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(COLUMNS)
    paste_masks(saccade_paste_masks a, int down, int across) {
  const int64_t n = blockIdx.x / (down * across);
  const int top = blockIdx.x / across % down * ROWS,
            column = blockIdx.x % across * COLUMNS + threadIdx.x;
  const float *box = a.boxes + 4 * n, *map = a.masks + n * a.h * a.w;
  const int height = static_cast<int>(a.height), width = static_cast<int>(a.width);
  if (column >= width) return;
  const Place x(box[0], box[2], static_cast<int>(a.w), column);
  uint8_t* out = a.out + n * a.height * a.width + column;
  for (int row = top; row < min(top + ROWS, height); row++) {
    uint8_t found = 0;
    if (x.near_box) {
      const Place y(box[1], box[3], static_cast<int>(a.h), row);
      const float sum = __fmul_rn(at(a, map, y.low, x.low), x.near * y.near) +
                        __fmul_rn(at(a, map, y.low, x.low + 1), x.far * y.near) +
                        __fmul_rn(at(a, map, y.low + 1, x.low), x.near * y.far) +
                        __fmul_rn(at(a, map, y.low + 1, x.low + 1), x.far * y.far);
      found = y.near_box && sum >= a.threshold;
    }
    out[row * a.width] = found;
  }
}
