// saccade::nms for torch.

#include "common/dispatch.h"
#include "common/operators.h"
#include "nms/nms.h"

SACCADE_DISPATCH(nms_forward, const saccade_nms)

namespace saccade {
namespace {

using at::Tensor;

// On a GPU, order must be there. Without one, there are as many columns as stay of an image at
// most; with one, as can stay, for then nobody needs to look.
std::tuple<Tensor, Tensor> nms(const Tensor& boxes, const Tensor& scores, const Tensor& groups,
                               const Tensor& order, double iou_threshold, double score_threshold,
                               int64_t max) {
  TORCH_CHECK(boxes.dim() == 3 && boxes.size(2) == 4 && scores.dim() == 3 && groups.dim() == 1 &&
                  scores.size(0) == boxes.size(0) && groups.size(0) == scores.size(1) && max >= 0 &&
                  (boxes.size(1) == scores.size(1) ||
                   boxes.size(1) == scores.size(1) * scores.size(2)) &&
                  (order.numel() == 0 ? !boxes.is_cuda() || scores.numel() == 0
                                      : order.numel() == scores.numel()),
              "saccade::nms: boxes ", boxes.sizes(), ", scores ", scores.sizes(), ", groups ",
              groups.sizes(), ", order ", order.sizes(),
              ", expected [B, R, 4] or [B, R * C, 4], [B, R, C], [R] and [B, R * C], or on a CPU "
              "no order");
  auto on_device = [&](const Tensor& t, at::ScalarType type) {
    return t.to(boxes.device(), type).contiguous();
  };
  const Tensor b = on_device(boxes, at::kFloat), s = on_device(scores, at::kFloat),
               g = on_device(groups, at::kLong), o = on_device(order, at::kLong);
  Tensor keep = at::zeros({b.size(0), max}, g.options());
  const Tensor counts = at::zeros({b.size(0)}, g.options());
  saccade_nms a = {};
  a.images = b.size(0);
  a.rows = s.size(1);
  a.classes = s.size(2);
  a.per_class = b.size(1) != s.size(1);
  a.boxes = b.data_ptr<float>();
  a.scores = s.data_ptr<float>();
  a.groups = g.data_ptr<int64_t>();
  a.order = o.data_ptr<int64_t>();
  a.iou_threshold = static_cast<float>(iou_threshold);
  a.score_threshold = static_cast<float>(score_threshold);
  a.max = max;
  a.keep = keep.data_ptr<int64_t>();
  a.counts = counts.data_ptr<int64_t>();
  launch("nms", b, saccade_nms_forward, saccade_nms_forward_cuda, a);
  if (!b.is_cuda() && b.size(0) > 0) {
    const int64_t *from = a.counts, *to = from + b.size(0);
    TORCH_CHECK(*std::min_element(from, to) >= 0, "saccade::nms: a group is not before 2^31");
    if (order.numel() == 0) keep = keep.slice(1, 0, *std::max_element(from, to)).contiguous();
  }
  return {keep, counts};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "nms(Tensor boxes, Tensor scores, Tensor groups, Tensor order, float iou_threshold, "
      "float score_threshold, int max) -> (Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("nms", nms); }
TORCH_LIBRARY_IMPL(saccade, CUDA, m) { m.impl("nms", nms); }

}  // namespace saccade
