// The normal distribution. The error function is that of Abramowitz and Stegun, 7.1.26, to 1.5e-7,
// as in oneDNN: its exponential is that of the normal density, too.
#pragma once

#include "common/simd.h"

namespace {

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

}  // namespace
