// In place of the library's own: arrays on the processor take the launchers for GPUs, where an
// operator has one.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "common/saccade.h"

namespace emulated {

template <class A>
int launch(A* a, int (*launcher)(A*, const saccade_cuda*)) {
  std::vector<std::unique_ptr<char[]>> memory;
  saccade_cuda cuda = {};
  cuda.context = &memory;
  cuda.allocate = [](void* context, int64_t bytes) -> void* {
    auto& kept = *static_cast<std::vector<std::unique_ptr<char[]>>*>(context);
    kept.emplace_back(new char[bytes]);
    memset(kept.back().get(), 0xFF, bytes);  // no number
    return kept.back().get();
  };
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
