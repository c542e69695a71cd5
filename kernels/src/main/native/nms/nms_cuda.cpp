// Greedy non-maximum suppression on a GPU: a block for each image.

#include "cuda/cuda.h"
#include "nms/nms.h"

using namespace saccade::cuda;

extern "C" int saccade_nms_forward_cuda(const saccade_nms* a, const saccade_cuda* cuda) {
  if (!saccade_nms_is_sound(a)) return -1;
  if (a->images == 0 || a->max == 0 || a->rows == 0) return 0;
  if (a->order == nullptr) return -1;
  void* boxes = cuda->allocate(cuda->context, 16 * a->images * a->max);
  void* groups = cuda->allocate(cuda->context, 8 * a->images * a->max);
  if (boxes == nullptr || groups == nullptr) return -1;
  return launch(*cuda, {"nms/nms.cu", "nms", ""}, {a->images, 512}, *a, boxes, groups);
}
