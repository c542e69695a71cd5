// The operators by which a program learns that the library is there, and what it runs on.

#include <string_view>

#include "operators.h"

namespace saccade {

// The bits of the vectors in use: 512, 256, or 0 where no operator runs.
int64_t instruction_set() {
  const std::string_view name = saccade_instruction_set();
  return name == "avx512" ? 512 : name == "avx2" ? 256 : 0;
}

// Operations and bytes a second that the processor can do at best, [2] of double.
at::Tensor ceilings() {
  saccade_ceilings_result result = {};
  check(saccade_ceilings(&result), "ceilings");
  return at::tensor({result.operations, result.bytes}, at::kDouble);
}

TORCH_LIBRARY(saccade, m) {
  m.def("instruction_set() -> int", instruction_set);
  m.def("ceilings() -> Tensor", ceilings);
}

}  // namespace saccade
