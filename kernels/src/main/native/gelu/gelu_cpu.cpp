// GELU and its gradient, in one pass over memory each.

#include "gelu/gelu.h"

#include "gelu/normal.h"

namespace {

constexpr int64_t SHARE = 1 << 14;  // numbers that a thread takes at a time

template <class S, class F>
void each(const saccade_gelu& a, F f) {
  constexpr int L = LANES<float>;
  const S *x = static_cast<const S*>(a.x), *d_out = static_cast<const S*>(a.d_out);
  S* out = static_cast<S*>(a.out);
#pragma omp parallel for
  for (int64_t first = 0; first < a.count; first += SHARE) {
    const int64_t end = std::min(first + SHARE, a.count);
    by_vectors<float, 1>(end - first, [&](auto, auto whole, int64_t i) {
      const int64_t left = std::min<int64_t>(L, end - first - i);
      const int64_t at = first + i;
      const Vec<float> d = d_out == nullptr ? Vec<float>{} : take<whole>(d_out + at, left);
      put<whole>(f(take<whole>(x + at, left), d), out + at, left);
    });
  }
}

template <class F>
int run(const saccade_gelu& a, F f) {
  if (a.type == SACCADE_FLOAT) {
    each<float>(a, f);
  } else if (a.type == SACCADE_BFLOAT16) {
    each<BFloat16>(a, f);
  } else {
    return -1;
  }
  return 0;
}

}  // namespace

extern "C" int SACCADE_KERNEL(gelu_forward)(const saccade_gelu* a) {
  return run(*a, [](Vec<float> x, Vec<float>) { return x * normal(x).cumulative; });
}

extern "C" int SACCADE_KERNEL(gelu_backward)(const saccade_gelu* a) {
  return run(*a, [](Vec<float> x, Vec<float> d) {
    const Normal n = normal(x);
    return d * (n.cumulative + x * n.density);
  });
}
