// Targets of a mask head on a GPU.

#include "cuda.h"

using namespace saccade::cuda;

extern "C" int saccade_mask_targets_forward_cuda(const saccade_mask_targets* a, const saccade_cuda* cuda) {
  if (a->n < 0 || a->h < 0 || a->w < 0 || a->regions < 0 || a->side <= 0 || a->side >= 1 << 15) return -1;
  return launch(*cuda, {"mask_targets.cu", "mask_targets", ""}, {ceil_div(a->regions * a->side * a->side, 256), 256}, *a);
}
