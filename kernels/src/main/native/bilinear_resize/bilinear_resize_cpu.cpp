// Each row of the result is first interpolated vertically, at the columns of the map.

#include "bilinear_resize/bilinear_resize.h"

#include <cfloat>
#include <vector>

#include "common/simd.h"

namespace {

constexpr int L = LANES<float>;

struct Position {
  int64_t low, high;
  float near, far;  // weights of both

  Position(float x, int64_t cells)
      : low(std::min(static_cast<int64_t>(std::max(x, 0.f)), cells - 1)),
        high(std::min(low + 1, cells - 1)),
        near(1 - (x - static_cast<float>(low))),
        far(x - static_cast<float>(low)) {}
};

// Interpolates a row of a map; cells are `stride` numbers apart, of which the last are padding.
template <class S>
void interpolate_row(const saccade_bilinear_resize& a, const S* map, int64_t y, int64_t stride,
                     float* out) {
  const Position at(a.rows[y], a.h);
  const S *low = map + at.low * a.w * a.channels, *high = map + at.high * a.w * a.channels;
  for (int64_t x = 0; x < a.w; x++) {
    by_vectors<float, 1>(a.channels, [&](auto, auto whole, int64_t c) {
      const int64_t i = x * a.channels + c, left = a.channels - c;
      put<whole>(at.near * take<whole>(low + i, left) + at.far * take<whole>(high + i, left),
                 out + x * stride + c, left);
    });
  }
}

// Returns the first channel with the largest value between two cells; ignores NaN.
int64_t best_channel(const float* low, const float* high, const Position& at, int64_t channels) {
  Vec<float> lane;
  for (int i = 0; i < L; i++) lane[i] = static_cast<float>(i);
  const float none = static_cast<float>(channels);
  Vec<float> best = broadcast(-FLT_MAX), channel = broadcast(none);
  for (int64_t c = 0; c < channels; c += L) {
    const Vec<float> x = at.near * load(low + c) + at.far * load(high + c);
    channel = x > best ? lane + static_cast<float>(c) : channel;
    best = x > best ? x : best;
  }
  const Vec<float> found = best == largest<float>(best) ? channel : broadcast(none);
  const float first = -largest<float>(-found);
  return first < none ? static_cast<int64_t>(first) : 0;
}

template <class S>
void resize(const saccade_bilinear_resize& a) {
  const int64_t stride = ceil_div(a.channels, L) * L;
  std::vector<Position> columns;
  for (int64_t x = 0; x < a.width; x++) columns.emplace_back(a.columns[x], a.w);
#pragma omp parallel
  {
    std::vector<float> row(a.w * stride, -FLT_MAX);
#pragma omp for schedule(static)
    for (int64_t i = 0; i < a.n * a.height; i++) {
      const int64_t image = i / a.height, y = i % a.height;
      const S* map = static_cast<const S*>(a.map) + image * a.h * a.w * a.channels;
      interpolate_row(a, map, y, stride, row.data());
      for (int64_t x = 0; x < a.width; x++) {
        const Position& at = columns[x];
        const float *low = &row[at.low * stride], *high = &row[at.high * stride];
        if (a.out != nullptr) {
          S* out = static_cast<S*>(a.out) + (i * a.width + x) * a.channels;
          by_vectors<float, 1>(a.channels, [&](auto, auto whole, int64_t c) {
            put<whole>(at.near * load(low + c) + at.far * load(high + c), out + c, a.channels - c);
          });
        } else {
          const int64_t channel = best_channel(low, high, at, a.channels);
          uint8_t* label = a.labels + y * a.label_row + 2 * x;
          label[0] = static_cast<uint8_t>(channel);
          label[1] = static_cast<uint8_t>(channel >> 8);
        }
      }
    }
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(bilinear_resize_forward)(const saccade_bilinear_resize* a) {
  if (!saccade_bilinear_resize_is_sound(a)) return -1;
  a->type == SACCADE_FLOAT ? resize<float>(*a) : resize<BFloat16>(*a);
  return 0;
}
