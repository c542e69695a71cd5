// Targets of a mask head on a GPU.

#include "cuda/cuda.h"
#include "mask_targets/mask_targets.h"

using namespace saccade::cuda;

extern "C" int saccade_mask_targets_forward_cuda(const saccade_mask_targets* a,
                                                 const saccade_cuda* cuda) {
  if (!saccade_mask_targets_is_sound(a) || a->side >= 1 << 15) return -1;
  return launch(*cuda, {"mask_targets/mask_targets.cu", "mask_targets", ""},
                {ceil_div(a->regions * a->side * a->side, 256), 256}, *a);
}
