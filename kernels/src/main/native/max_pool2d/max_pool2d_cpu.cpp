// Threads share rows of the result.

#include "common/simd.h"
#include "max_pool2d/max_pool2d.h"

namespace {

// The larger of two; NaN if one is NaN.
Vec<float> larger(Vec<float> a, Vec<float> b) { return b > a || b != b ? b : a; }

template <class S>
void pool(const saccade_max_pool2d& a) {
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < a.n * a.out_h; row++) {
    const S* map = static_cast<const S*>(a.x) + row / a.out_h * a.h * a.w * a.channels;
    S* to = static_cast<S*>(a.y) + row * a.out_w * a.channels;
    const int64_t top = row % a.out_h * a.stride - a.padding;
    const int64_t first_y = std::max<int64_t>(top, 0), end_y = std::min(top + a.kernel, a.h);
    for (int64_t column = 0; column < a.out_w; column++, to += a.channels) {
      const int64_t left = column * a.stride - a.padding;
      const int64_t first_x = std::max<int64_t>(left, 0), end_x = std::min(left + a.kernel, a.w);
      by_vectors<float, 4>(a.channels, [&](auto vectors, auto whole, int64_t c) {
        constexpr int L = LANES<float>;
        const auto at = [&](int64_t y, int64_t x, int v) {
          return take<whole>(map + (y * a.w + x) * a.channels + c + v * L, a.channels - c);
        };
        Vec<float> most[vectors];
        for (int v = 0; v < vectors; v++) most[v] = at(first_y, first_x, v);
        for (int64_t y = first_y; y < end_y; y++) {
          for (int64_t x = first_x; x < end_x; x++) {
            for (int v = 0; v < vectors; v++) most[v] = larger(most[v], at(y, x, v));
          }
        }
        for (int v = 0; v < vectors; v++) put<whole>(most[v], to + c + v * L, a.channels - c);
      });
    }
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(max_pool2d_forward)(const saccade_max_pool2d* a) {
  if (!saccade_max_pool2d_is_sound(a)) return -1;
  a->type == SACCADE_FLOAT ? pool<float>(*a) : pool<BFloat16>(*a);
  return 0;
}
