// The operators by which a program learns that the library is there, and what it runs on.

#include <dlfcn.h>

#include <string_view>

#include "common/dispatch.h"
#include "common/operators.h"
#include "cuda/cuda.h"

SACCADE_DISPATCH(ceilings, saccade_ceilings_result)

namespace saccade {

// The bits of the vectors in use: 512, 256, 128, or 0 where no operator runs.
int64_t vector_bits() {
  const std::string_view name = saccade_instruction_set();
  return name == "avx512" ? 512 : name == "avx2" ? 256 : name == "neon" ? 128 : 0;
}

// Operations and bytes a second that the processor can do at best, [2] of double.
at::Tensor ceilings() {
  saccade_ceilings_result result = {};
  check(saccade_ceilings(&result), "ceilings");
  return at::tensor({result.operations, result.bytes}, at::kDouble);
}

// 90 where kernels can be compiled for a GPU, of compute capability 9.0; 0 where they cannot.
int64_t cuda_architecture(int64_t device) {
  return cuda::properties(static_cast<int>(device)).architecture;
}

void* cuda_stream(int device) {
  // The library of torch that knows, where it is loaded; this one is not linked against it.
  static void* const torch = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  static void* const symbol = torch ? dlsym(torch, "aoti_torch_get_current_cuda_stream") : nullptr;
  void* stream = nullptr;
  const auto current = reinterpret_cast<int32_t (*)(int32_t, void**)>(symbol);
  TORCH_CHECK(current && current(device, &stream) == 0,
              "saccade: this libtorch does not tell its CUDA stream");
  return stream;
}

const char* cuda_error() { return cuda::error().c_str(); }

TORCH_LIBRARY(saccade, m) {
  m.def("instruction_set() -> int", vector_bits);
  m.def("ceilings() -> Tensor", ceilings);
  m.def("cuda_architecture(int device) -> int", cuda_architecture);
}

}  // namespace saccade
