// What the operators share in handing tensors of torch to the launchers.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

#include "saccade.h"

namespace saccade {

inline saccade_type type_of(const at::Tensor& t) {
  switch (t.scalar_type()) {
    case at::kFloat: return SACCADE_FLOAT;
    case at::kDouble: return SACCADE_DOUBLE;
    case at::kHalf: return SACCADE_HALF;
    case at::kBFloat16: return SACCADE_BFLOAT16;
    default: TORCH_CHECK(false, "saccade: numbers of type ", t.scalar_type(), " are not supported");
  }
}

// The type that sums are in.
inline at::ScalarType sums(const at::Tensor& t) {
  return t.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

inline void* data(const at::Tensor& t) { return t.defined() ? t.data_ptr() : nullptr; }

inline void check(int status, const char* name) {
  TORCH_CHECK(status == 0, "saccade::", name, ": the launcher refused, status ", status);
}

}  // namespace saccade
