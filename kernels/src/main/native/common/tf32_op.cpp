// Whether GPUs may multiply numbers of float32 with ten bits of their fractions.

#include <ATen/Context.h>

#include "common/operators.h"

namespace saccade {
namespace {

// Scripts leave out what changes none of its inputs.
at::Tensor& allow_tf32(at::Tensor& token, bool allowed) {
  at::globalContext().setAllowTF32CuBLAS(allowed);
  at::globalContext().setAllowTF32CuDNN(allowed);
  return token;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("allow_tf32(Tensor(a!) token, bool allowed) -> Tensor(a!)", allow_tf32);
}

}  // namespace saccade
