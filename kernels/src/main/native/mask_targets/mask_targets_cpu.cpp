// Targets of a mask head: RoIAlign of bitmaps, and a threshold of one half. Where all that a bin
// sees is alike, there is nothing to compute.

#include <vector>

#include "mask_targets/mask_targets.h"
#include "roi_align/points.h"

namespace {

// A point between two cells.
struct Point {
  int64_t low, high;
  float near, far;
};

// The points of a region along one axis, those of a bin side by side.
class Axis {
 public:
  Axis(float from, float to, int64_t bins, int64_t cells) {
    const float most = static_cast<float>(cells);
    const Points<float> layout(std::clamp(from, 0.f, most), std::clamp(to, 0.f, most), 1, true, 0,
                               bins, cells);
    per_bin = layout.per_bin;
    for (int64_t bin = 0; bin < bins; bin++) {
      layout.each(bin, [&](int64_t low, int64_t high, float near, float far) {
        points.push_back({low, high, near, far});
      });
    }
  }

  const Point* begin(int64_t bin) const { return points.data() + bin * per_bin; }
  const Point* end(int64_t bin) const { return begin(bin + 1); }

  int64_t per_bin;

 private:
  std::vector<Point> points;
};

class Region {
 public:
  Region(const saccade_mask_targets& a, int64_t r)
      : a(a),
        mask(a.masks + a.mask_of[r] * a.h * a.w),
        x(a.boxes[4 * r], a.boxes[4 * r + 2], a.side, a.sizes[2 * a.mask_of[r] + 1]),
        y(a.boxes[4 * r + 1], a.boxes[4 * r + 3], a.side, a.sizes[2 * a.mask_of[r]]) {}

  bool is_empty() const { return x.per_bin == 0 || y.per_bin == 0; }

  bool is_foreground(int64_t row, int64_t column) const {
    const int64_t left = x.begin(column)->low, right = (x.end(column) - 1)->high;
    const int64_t top = y.begin(row)->low, bottom = (y.end(row) - 1)->high;
    uint8_t any = 0, all = 1;
    for (int64_t i = top; i <= bottom; i++) {
      for (int64_t j = left; j <= right; j++) {
        any |= mask[i * a.w + j];
        all &= mask[i * a.w + j];
      }
    }
    return any == all ? any != 0 : mean(row, column) >= 0.5f;
  }

 private:
  // The mean over the points of a bin, summed in the order of the original.
  float mean(int64_t row, int64_t column) const {
    float sum = 0;
    for (const Point* i = y.begin(row); i != y.end(row); i++) {
      const uint8_t *above = mask + i->low * a.w, *below = mask + i->high * a.w;
      for (const Point* j = x.begin(column); j != x.end(column); j++) {
        sum += i->near * j->near * above[j->low] + i->near * j->far * above[j->high] +
               i->far * j->near * below[j->low] + i->far * j->far * below[j->high];
      }
    }
    return sum / static_cast<float>(x.per_bin * y.per_bin);
  }

  const saccade_mask_targets& a;
  const uint8_t* mask;
  const Axis x, y;
};

void fill(const saccade_mask_targets& a) {
#pragma omp parallel for schedule(dynamic)
  for (int64_t r = 0; r < a.regions; r++) {
    const Region region(a, r);
    float* out = a.out + r * a.side * a.side;
    for (int64_t i = 0; i < a.side * a.side; i++) {
      out[i] = !region.is_empty() && region.is_foreground(i / a.side, i % a.side);
    }
  }
}

// Whether every region has a bitmap, and these fit in their memory.
bool are_inside(const saccade_mask_targets& a) {
  for (int64_t m = 0; m < a.n; m++) {
    const int64_t* size = a.sizes + 2 * m;
    if (size[0] < 0 || size[0] > a.h || size[1] < 0 || size[1] > a.w) return false;
  }
  return std::all_of(a.mask_of, a.mask_of + a.regions,
                     [&](int64_t m) { return m >= 0 && m < a.n; });
}

}  // namespace

extern "C" int SACCADE_KERNEL(mask_targets_forward)(const saccade_mask_targets* a) {
  if (!saccade_mask_targets_is_sound(a) || !are_inside(*a)) return -1;
  fill(*a);
  return 0;
}
