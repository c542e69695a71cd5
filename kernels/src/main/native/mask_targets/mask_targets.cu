// Targets of a mask head on a GPU: RoIAlign of bitmaps, and a threshold of one half; a thread for a
// bin.

#include "mask_targets/mask_targets.h"
#include "roi_align/points.cuh"

namespace {

__device__ Points<float> points_of(const saccade_mask_targets& a, int64_t region, int axis) {
  const float* corners = a.boxes + 4 * region + (axis == 0 ? 1 : 0);
  const int64_t* size = a.sizes + 2 * a.mask_of[region];
  const int64_t cells = axis == 0 ? min(size[0], a.h) : min(size[1], a.w);
  const float most = static_cast<float>(cells);
  auto cut = [&](float x) { return x < 0 ? 0 : x > most ? most : x; };
  return {cut(corners[0]), cut(corners[2]), 1, true, 0, a.side, cells};
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256) mask_targets(saccade_mask_targets a) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x, bins = a.side * a.side;
  if (i >= a.regions * bins) return;
  const int64_t region = i / bins, of = a.mask_of[region];
  if (of < 0 || of >= a.n) {
    a.out[i] = nanf("");
    return;
  }
  const int bin = static_cast<int>(i - region * bins), side = static_cast<int>(a.side);
  const Points<float> y = points_of(a, region, 0), x = points_of(a, region, 1);
  const uint8_t* mask = a.masks + of * a.h * a.w;
  float sum = 0;
  y.each(bin / side, [&](int top, float up, float down) {
    const uint8_t *above = mask + top * a.w, *below = mask + min(top + 1, y.cells - 1) * a.w;
    x.each(bin % side, [&](int left, float near, float far) {
      const int right = min(left + 1, x.cells - 1);
      sum += up * near * above[left] + up * far * above[right] + down * near * below[left] +
             down * far * below[right];
    });
  });
  const int points = y.per_bin * x.per_bin;
  a.out[i] = points > 0 && sum / points >= 0.5f ? 1 : 0;
}
