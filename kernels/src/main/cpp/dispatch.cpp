// Chooses, once, the launchers for the instructions that the processor has.

#include "saccade.h"

namespace {

enum class Isa { NONE, AVX2, AVX512 };

Isa detect() {
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? Isa::AVX512 : avx2 ? Isa::AVX2 : Isa::NONE;
}

Isa isa() {
  static const Isa found = detect();
  return found;
}

}  // namespace

extern "C" const char* saccade_instruction_set(void) {
  return isa() == Isa::AVX512 ? "avx512" : isa() == Isa::AVX2 ? "avx2" : "";
}

#define SACCADE_DISPATCH(name, arguments)                                     \
  extern "C" int saccade_##name##_avx2(arguments*);                           \
  extern "C" int saccade_##name##_avx512(arguments*);                         \
  extern "C" __attribute__((visibility("default"))) int saccade_##name(arguments* a) { \
    switch (isa()) {                                                          \
      case Isa::AVX512: return saccade_##name##_avx512(a);                    \
      case Isa::AVX2: return saccade_##name##_avx2(a);                        \
      default: return -2;                                                     \
    }                                                                         \
  }

SACCADE_DISPATCH(ceilings, saccade_ceilings_result)
SACCADE_DISPATCH(elsa_attention_forward, const saccade_elsa_attention)
SACCADE_DISPATCH(elsa_attention_backward, const saccade_elsa_attention)
SACCADE_DISPATCH(grouped_convolution_forward, const saccade_grouped_convolution)
SACCADE_DISPATCH(grouped_convolution_weight, const saccade_grouped_convolution)
SACCADE_DISPATCH(focal_attention_forward, const saccade_focal_attention)
SACCADE_DISPATCH(focal_attention_backward, const saccade_focal_attention)
SACCADE_DISPATCH(roi_align_forward, const saccade_roi_align)
SACCADE_DISPATCH(roi_align_backward, const saccade_roi_align)
SACCADE_DISPATCH(nms_forward, const saccade_nms)
SACCADE_DISPATCH(window_attention_forward, const saccade_window_attention)
SACCADE_DISPATCH(window_attention_backward, const saccade_window_attention)
SACCADE_DISPATCH(layer_norm_forward, const saccade_layer_norm)
SACCADE_DISPATCH(layer_norm_backward, const saccade_layer_norm)
SACCADE_DISPATCH(product_forward, const saccade_product)
SACCADE_DISPATCH(salient_mean_forward, const saccade_salient_mean)
SACCADE_DISPATCH(salient_mean_backward, const saccade_salient_mean)
SACCADE_DISPATCH(norms_forward, const saccade_norms)
SACCADE_DISPATCH(adamw_step, const saccade_adamw)
SACCADE_DISPATCH(paste_masks_forward, const saccade_paste_masks)
SACCADE_DISPATCH(mask_targets_forward, const saccade_mask_targets)
