// saccade::nms for torch.

#include "common/dispatch.h"
#include "common/operators.h"
#include "nms/nms.h"

SACCADE_DISPATCH(nms_forward, const saccade_nms)

namespace saccade {
namespace {

using at::Tensor;

Tensor nms(const Tensor& boxes, const Tensor& scores, const Tensor& groups, double iou_threshold) {
  TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 4 && scores.dim() == 1 && groups.dim() == 1 &&
                  scores.size(0) == boxes.size(0) && groups.size(0) == boxes.size(0),
              "saccade::nms: boxes ", boxes.sizes(), ", scores ", scores.sizes(), ", groups ",
              groups.sizes(), ", expected [N, 4], [N] and [N]");
  auto on_device = [&](const Tensor& t, at::ScalarType type) {
    return t.to(boxes.device(), type).contiguous();
  };
  const Tensor b = on_device(boxes, at::kFloat), s = on_device(scores, at::kFloat),
               g = on_device(groups, at::kLong);
  const Tensor keep = at::empty_like(g), kept = at::empty({1}, g.options());
  saccade_nms a = {};
  a.n = b.size(0);
  a.boxes = b.data_ptr<float>();
  a.scores = s.data_ptr<float>();
  a.groups = g.data_ptr<int64_t>();
  a.iou_threshold = static_cast<float>(iou_threshold);
  a.keep = keep.data_ptr<int64_t>();
  a.kept = kept.data_ptr<int64_t>();
  launch("nms", b, saccade_nms_forward, saccade_nms_forward_cuda, a);
  const int64_t count = kept.item<int64_t>();
  TORCH_CHECK(count >= 0, "saccade::nms: a group is not from 0 to before 2^31");
  return keep.slice(0, 0, count);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("nms(Tensor boxes, Tensor scores, Tensor groups, float iou_threshold) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("nms", nms); }
TORCH_LIBRARY_IMPL(saccade, CUDA, m) { m.impl("nms", nms); }

}  // namespace saccade
