// GELU and its gradient, in one pass over memory each. The error function is that of Abramowitz and
// Stegun, 7.1.26, to 1.5e-7, as in oneDNN: its exponential is that of the normal density, too.

#include "gelu/gelu.h"

#include "common/simd.h"

namespace {

constexpr int64_t SHARE = 1 << 14;  // numbers that a thread takes at a time

struct Normal {
  Vec<float> cumulative, density;
};

inline Normal normal(Vec<float> x) {
  const Vec<float> size = max<float>(x, -x) * 0.70710678118654752f;
  const Vec<float> e = exponential(-size * size);
  const Vec<float> t = 1.f / (1.f + 0.3275911f * size);
  Vec<float> tail = t * 1.061405429f - 1.453152027f;
  tail = tail * t + 1.421413741f;
  tail = tail * t - 0.284496736f;
  tail = tail * t + 0.254829592f;
  tail = 0.5f * tail * t * e;
  return {x > 0 ? 1.f - tail : tail, e * 0.39894228040143268f};
}

template <class F>
void each(const saccade_gelu& a, F f) {
  constexpr int L = LANES<float>;
#pragma omp parallel for
  for (int64_t first = 0; first < a.count; first += SHARE) {
    const int64_t end = std::min(first + SHARE, a.count);
    by_vectors<float, 1>(end - first, [&](auto, auto whole, int64_t i) {
      const int64_t left = std::min<int64_t>(L, end - first - i);
      const int64_t at = first + i;
      const Vec<float> d =
          a.d_out == nullptr ? Vec<float>{} : take<whole>(a.d_out + at, left);
      put<whole>(f(take<whole>(a.x + at, left), d), a.out + at, left);
    });
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(gelu_forward)(const saccade_gelu* a) {
  each(*a, [](Vec<float> x, Vec<float>) { return x * normal(x).cumulative; });
  return 0;
}

extern "C" int SACCADE_KERNEL(gelu_backward)(const saccade_gelu* a) {
  each(*a, [](Vec<float> x, Vec<float> d) {
    const Normal n = normal(x);
    return d * (n.cumulative + x * n.density);
  });
  return 0;
}
