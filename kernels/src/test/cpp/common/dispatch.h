// In place of the library's own: arrays on the processor take the launchers for GPUs, where an
// operator has one.
#pragma once

#include <cstring>
#include <new>
#include <vector>

#include "common/operators.h"

namespace emulated {

// As memory of GPUs: products may depend on where factors lie.
constexpr std::align_val_t ALIGNED{256};

template <class A>
int launch(A* a, int (*launcher)(A*, const saccade_cuda*)) {
  struct Memory {
    ~Memory() {
      for (char* p : kept) ::operator delete(p, ALIGNED);
    }
    std::vector<char*> kept;
  } memory;
  saccade_cuda cuda = {};
  cuda.context = &memory;
  cuda.allocate = [](void* context, int64_t bytes) -> void* {
    auto& kept = static_cast<Memory*>(context)->kept;
    kept.push_back(static_cast<char*>(::operator new(bytes, ALIGNED)));
    return memset(kept.back(), 0xFF, bytes);  // no number
  };
  cuda.multiply = [](void*, const saccade_multiplication* m) { saccade::multiply(*m, at::kCPU); };
  return launcher(a, &cuda);
}

}  // namespace emulated

#define SACCADE_DISPATCH(name, arguments)                                                      \
  extern "C" __attribute__((weak)) int saccade_##name##_avx2(arguments*);                      \
  extern "C" __attribute__((weak)) int saccade_##name##_cuda(arguments*, const saccade_cuda*); \
  extern "C" int saccade_##name(arguments* a) {                                                \
    if (saccade_##name##_cuda != nullptr) return emulated::launch(a, saccade_##name##_cuda);   \
    return saccade_##name##_avx2 != nullptr ? saccade_##name##_avx2(a) : -2;                   \
  }
