// What torch computes in: its autocast, which scripts cannot switch for the thread they run in.

#include <ATen/autocast_mode.h>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include "common/operators.h"

namespace saccade {
namespace {

void set(at::DeviceType device, int64_t type) {
  at::autocast::set_autocast_enabled(device, type >= 0);
  if (type >= 0) at::autocast::set_autocast_dtype(device, static_cast<at::ScalarType>(type));
}

// Sets the types that this thread computes in on processors and on GPUs, or -1 for those of the
// inputs, and whether a weight that has been cast is kept for its next use. What was kept is
// forgotten: weights change between two calls. Scripts leave out what changes none of its inputs.
at::Tensor& autocast(at::Tensor& token, int64_t on_cpus, int64_t on_gpus, bool keeps) {
  set(at::kCPU, on_cpus);
  set(at::kCUDA, on_gpus);
  at::autocast::set_autocast_cache_enabled(keeps);
  at::autocast::clear_cache();
  return token;
}

// Whether the processor has products of numbers of a type of 16 bits, of those that libtorch uses.
#if defined(__aarch64__)
int64_t has_products(int64_t type) {
  return static_cast<at::ScalarType>(type) == at::kBFloat16 && getauxval(AT_HWCAP2) & HWCAP2_BF16;
}
#else
int64_t has_products(int64_t type) {
  switch (static_cast<at::ScalarType>(type)) {
    case at::kBFloat16:
      return __builtin_cpu_supports("avx512bf16") != 0;
    case at::kHalf:
      return __builtin_cpu_supports("avx512fp16") != 0;
    default:
      return 0;
  }
}
#endif

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("autocast(Tensor(a!) token, int on_cpus, int on_gpus, bool keeps) -> Tensor(a!)", autocast);
  m.def("has_products(int type) -> int", has_products);
}

}  // namespace saccade
