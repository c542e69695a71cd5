#include "common/dispatch.h"

namespace saccade {
namespace {

#if defined(__aarch64__)
// Every such processor has it.
InstructionSet detect() { return InstructionSet::NEON; }
#else
InstructionSet detect() {
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? InstructionSet::AVX512 : avx2 ? InstructionSet::AVX2 : InstructionSet::NONE;
}
#endif

}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet found = detect();
  return found;
}

}  // namespace saccade

extern "C" const char* saccade_instruction_set(void) {
  switch (saccade::instruction_set()) {
    case saccade::InstructionSet::AVX512:
      return "avx512";
    case saccade::InstructionSet::AVX2:
      return "avx2";
    case saccade::InstructionSet::NEON:
      return "neon";
    default:
      return "";
  }
}
