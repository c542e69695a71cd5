// Which object each box should learn, on a GPU: what is launched in turn.

#include "cuda/cuda.h"
#include "max_iou_assign/max_iou_assign.h"

using namespace saccade::cuda;

extern "C" int saccade_max_iou_assign_forward_cuda(const saccade_max_iou_assign* a,
                                                   const saccade_cuda* cuda) {
  if (!saccade_max_iou_assign_is_sound(a)) return -1;
  const int64_t room = 4 * a->k + 4;
  int* most = static_cast<int*>(cuda->allocate(cuda->context, 2 * room));
  if (most == nullptr) return -1;
  int* before = most + a->k + 1;
  const Grid grid = {ceil_div(a->n, 256), 256};
  auto run = [&](const char* name) {
    return launch(*cuda, {"max_iou_assign/max_iou_assign.cu", name, ""}, grid, *a, most, before);
  };
  int status = zero(*cuda, most, 2 * room);
  if (status == 0) status = run("max_iou_overlaps");
  if (!a->match_low_quality || status != 0) return status;
  if (a->gt_max_assign_all) return run("max_iou_match");
  status = run("max_iou_find_first");
  return status == 0 ? run("max_iou_match_first") : status;
}
