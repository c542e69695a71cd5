// A launcher of the library: it chooses, once, the form for the instructions that the processor
// has.
#pragma once

#include "common/saccade.h"

namespace saccade {

enum class InstructionSet { NONE, AVX2, AVX512 };

InstructionSet instruction_set();

}  // namespace saccade

#define SACCADE_DISPATCH(name, arguments)                                              \
  extern "C" int saccade_##name##_avx2(arguments*);                                    \
  extern "C" int saccade_##name##_avx512(arguments*);                                  \
  extern "C" __attribute__((visibility("default"))) int saccade_##name(arguments* a) { \
    const saccade::InstructionSet set = saccade::instruction_set();                    \
    if (set == saccade::InstructionSet::AVX512) return saccade_##name##_avx512(a);     \
    return set == saccade::InstructionSet::AVX2 ? saccade_##name##_avx2(a) : -2;       \
  }
