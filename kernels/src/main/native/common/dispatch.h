// A launcher of the library: it chooses, once, the form for the instructions that the processor
// has.
#pragma once

#include "common/saccade.h"

namespace saccade {

enum class InstructionSet { NONE, NEON, AVX2, AVX512 };

InstructionSet instruction_set();

}  // namespace saccade

#if defined(__aarch64__)
#define SACCADE_DISPATCH(name, arguments)                                              \
  extern "C" int saccade_##name##_neon(arguments*);                                    \
  extern "C" __attribute__((visibility("default"))) int saccade_##name(arguments* a) { \
    return saccade_##name##_neon(a);                                                   \
  }
#else
#define SACCADE_DISPATCH(name, arguments)                                              \
  extern "C" int saccade_##name##_avx2(arguments*);                                    \
  extern "C" int saccade_##name##_avx512(arguments*);                                  \
  extern "C" __attribute__((visibility("default"))) int saccade_##name(arguments* a) { \
    const saccade::InstructionSet set = saccade::instruction_set();                    \
    if (set == saccade::InstructionSet::AVX512) return saccade_##name##_avx512(a);     \
    return set == saccade::InstructionSet::AVX2 ? saccade_##name##_avx2(a) : -2;       \
  }
#endif
