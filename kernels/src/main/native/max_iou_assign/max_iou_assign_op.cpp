// saccade::max_iou_assign for torch.

#include "common/dispatch.h"
#include "common/operators.h"
#include "max_iou_assign/max_iou_assign.h"

SACCADE_DISPATCH(max_iou_assign_forward, const saccade_max_iou_assign)

namespace saccade {
namespace {

using at::Tensor;

std::tuple<Tensor, Tensor> max_iou_assign(const Tensor& boxes, const Tensor& objects,
                                          const Tensor& skip, at::ArrayRef<double> thresholds,
                                          bool match_low_quality, bool gt_max_assign_all) {
  TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 4 && objects.dim() == 2 &&
                  objects.size(1) == 4 && (skip.numel() == 0 || skip.numel() == boxes.size(0)) &&
                  thresholds.size() == 3,
              "saccade::max_iou_assign: boxes ", boxes.sizes(), ", objects ", objects.sizes(),
              ", skip ", skip.sizes(), ", thresholds ", thresholds,
              ", expected [N, 4], [K, 4], [N] or none, and those of positive, negative and least");
  const Tensor b = boxes.to(at::kFloat).contiguous();
  const Tensor o = objects.to(b.device(), at::kFloat).contiguous();
  const Tensor s = skip.to(b.device(), at::kByte).contiguous();
  Tensor gt_inds = at::empty({b.size(0)}, b.options().dtype(at::kLong));
  Tensor overlaps = at::empty({b.size(0)}, b.options());
  saccade_max_iou_assign a = {};
  a.n = b.size(0);
  a.k = o.size(0);
  a.boxes = b.data_ptr<float>();
  a.objects = o.data_ptr<float>();
  a.skip = s.numel() > 0 ? s.data_ptr<uint8_t>() : nullptr;
  a.pos_iou = static_cast<float>(thresholds[0]);
  a.neg_iou = static_cast<float>(thresholds[1]);
  a.min_pos_iou = static_cast<float>(thresholds[2]);
  a.match_low_quality = match_low_quality;
  a.gt_max_assign_all = gt_max_assign_all;
  a.gt_inds = gt_inds.data_ptr<int64_t>();
  a.max_overlaps = overlaps.data_ptr<float>();
  launch("max_iou_assign", b, saccade_max_iou_assign_forward, saccade_max_iou_assign_forward_cuda,
         a);
  return {gt_inds, overlaps};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "max_iou_assign(Tensor boxes, Tensor objects, Tensor skip, float[] thresholds, "
      "bool match_low_quality, bool gt_max_assign_all) -> (Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("max_iou_assign", max_iou_assign); }
TORCH_LIBRARY_IMPL(saccade, CUDA, m) { m.impl("max_iou_assign", max_iou_assign); }

}  // namespace saccade
