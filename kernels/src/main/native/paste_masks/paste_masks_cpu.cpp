// Maps of masks on a canvas: the rows of a map are spread over the pixels of a row once, and two of
// them make every row of pixels between them.

#include <vector>

#include "common/simd.h"
#include "paste_masks/paste_masks.h"

namespace {

constexpr int L = LANES<float>;

// Where the pixels of one axis lie on a map.
struct Axis {
  int64_t start, count;      // of the pixels near the box
  std::vector<int64_t> low;  // the cell before the centre of each, from -1
  std::vector<float> near, far;

  // Every step is rounded as in the original.
  Axis(float from, float to, int64_t cells, int64_t pixels) {
    // Of what is no number, 0.
    auto on_canvas = [&](float x) {
      return static_cast<int64_t>(std::min(std::max(0.f, x), static_cast<float>(pixels)));
    };
    start = on_canvas(std::floor(from) - 1);
    const int64_t end = on_canvas(std::ceil(to) + 1);
    count = std::max<int64_t>(end - start, 0);
    const int64_t room = ceil_div(count, L) * L;
    low.resize(room);
    near.resize(room);
    far.resize(room);
    for (int64_t i = 0; i < count; i++) {
      const float position =
          rounded((static_cast<float>(start + i) + 0.5f - from) / (to - from) * 2) - 1;
      // Of a box without extent, every pixel is its centre.
      const float u = std::isinf(position) ? 0 : position;
      const float cell = rounded((u + 1) * (static_cast<float>(cells) / 2)) - 0.5f;
      const float floor = std::floor(cell);
      if (floor >= -1 && floor < static_cast<float>(cells)) {
        low[i] = static_cast<int64_t>(floor);
        far[i] = cell - floor;
        near[i] = 1 - far[i];
      }
    }
  }
};

// A row of a map, spread over pixels: the cells before and behind the centre of each.
struct Spread {
  std::vector<float> before, behind;

  // Spreads a row from -1 to as many as there are; those at both ends are zeros.
  void fill(const saccade_paste_masks& a, int64_t n, int64_t row, const Axis& x) {
    before.assign(x.low.size(), 0);
    behind.assign(x.low.size(), 0);
    if (row < 0 || row >= a.h) return;
    const float* cells = a.masks + (n * a.h + row) * a.w;
    for (int64_t i = 0; i < x.count; i++) {
      const int64_t low = x.low[i];
      before[i] = low >= 0 ? cells[low] : 0;
      behind[i] = low + 1 < a.w ? cells[low + 1] : 0;
    }
  }
};

// Writes a row of pixels between two rows of a map.
void interpolate(const Spread& above, const Spread& below, const Axis& x, float near, float far,
                 float threshold, uint8_t* out) {
  typedef uint8_t Bytes __attribute__((vector_size(L)));
  auto product = [](Vec<float> a, Vec<float> b) { return rounded(a * b); };
  for (int64_t i = 0; i < x.count; i += L) {
    const Vec<float> first = load(&x.near[i]), second = load(&x.far[i]);
    const Vec<float> sum = product(load(&above.before[i]), first * near) +
                           product(load(&above.behind[i]), second * near) +
                           product(load(&below.before[i]), first * far) +
                           product(load(&below.behind[i]), second * far);
    const Bytes found = __builtin_convertvector(-(sum >= threshold), Bytes);
    memcpy(out + i, &found, std::min<int64_t>(L, x.count - i));
  }
}

void paste(const saccade_paste_masks& a, int64_t n) {
  const float* box = a.boxes + 4 * n;
  const Axis x(box[0], box[2], a.w, a.width), y(box[1], box[3], a.h, a.height);
  uint8_t* out = a.out + n * a.height * a.width;
  memset(out, 0, a.height * a.width);
  Spread above, below;
  for (int64_t i = 0; i < y.count; i++) {
    if (i == 0 || y.low[i] != y.low[i - 1]) {
      above.fill(a, n, y.low[i], x);
      below.fill(a, n, y.low[i] + 1, x);
    }
    interpolate(above, below, x, y.near[i], y.far[i], a.threshold,
                out + (y.start + i) * a.width + x.start);
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(paste_masks_forward)(const saccade_paste_masks* a) {
  if (!saccade_paste_masks_is_sound(a)) return -1;
#pragma omp parallel for schedule(dynamic)
  for (int64_t n = 0; n < a->n; n++) paste(*a, n);
  return 0;
}
