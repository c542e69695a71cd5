// saccade::paste_masks for torch.

#include "common/dispatch.h"
#include "common/operators.h"
#include "paste_masks/paste_masks.h"

SACCADE_DISPATCH(paste_masks_forward, const saccade_paste_masks)

namespace saccade {
namespace {

using at::Tensor;

Tensor paste_masks(const Tensor& masks, const Tensor& boxes, int64_t height, int64_t width,
                   double threshold) {
  TORCH_CHECK(masks.dim() == 3 && masks.size(1) > 0 && masks.size(2) > 0 && boxes.dim() == 2 &&
                  boxes.size(0) == masks.size(0) && boxes.size(1) == 4 && height >= 0 && width >= 0,
              "saccade::paste_masks: masks ", masks.sizes(), ", boxes ", boxes.sizes(), ", canvas ",
              height, " x ", width, ", expected [N, h, w] and [N, 4]");
  const Tensor m = masks.to(at::kFloat).contiguous(),
               b = boxes.to(m.device(), at::kFloat).contiguous();
  Tensor out = at::empty({m.size(0), height, width}, m.options().dtype(at::kByte));
  saccade_paste_masks a = {};
  a.n = m.size(0);
  a.h = m.size(1);
  a.w = m.size(2);
  a.height = height;
  a.width = width;
  a.threshold = static_cast<float>(threshold);
  a.masks = m.data_ptr<float>();
  a.boxes = b.data_ptr<float>();
  a.out = out.data_ptr<uint8_t>();
  launch("paste_masks", m, saccade_paste_masks_forward, saccade_paste_masks_forward_cuda, a);
  return out;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "paste_masks(Tensor masks, Tensor boxes, int height, int width, float threshold) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("paste_masks", paste_masks); }
TORCH_LIBRARY_IMPL(saccade, CUDA, m) { m.impl("paste_masks", paste_masks); }

}  // namespace saccade
