// saccade::nms for torch.

#include "operators.h"

namespace saccade {
namespace {

using at::Tensor;

Tensor nms(const Tensor& boxes, const Tensor& scores, const Tensor& groups, double iou_threshold) {
  TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 4 && scores.dim() == 1 && groups.dim() == 1 &&
                  scores.size(0) == boxes.size(0) && groups.size(0) == boxes.size(0),
              "saccade::nms: boxes ", boxes.sizes(), ", scores ", scores.sizes(), ", groups ", groups.sizes(),
              ", expected [N, 4], [N] and [N]");
  const Tensor b = boxes.to(at::kFloat).contiguous(), s = scores.to(at::kFloat).contiguous();
  const Tensor g = groups.to(at::kLong).contiguous();
  for (const int64_t group : at::IntArrayRef(g.data_ptr<int64_t>(), g.numel())) {
    TORCH_CHECK(group >= 0 && group <= INT32_MAX, "saccade::nms: group ", group, ", expected from 0");
  }
  Tensor keep = at::empty_like(g);
  int64_t kept = 0;
  saccade_nms a = {};
  a.n = b.size(0);
  a.boxes = b.data_ptr<float>();
  a.scores = s.data_ptr<float>();
  a.groups = g.data_ptr<int64_t>();
  a.iou_threshold = static_cast<float>(iou_threshold);
  a.keep = keep.data_ptr<int64_t>();
  a.kept = &kept;
  check(saccade_nms_forward(&a), "nms");
  return keep.slice(0, 0, kept);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("nms(Tensor boxes, Tensor scores, Tensor groups, float iou_threshold) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("nms", nms); }

}  // namespace saccade
