// saccade::mask_targets for torch.

#include "common/dispatch.h"
#include "common/operators.h"
#include "mask_targets/mask_targets.h"

SACCADE_DISPATCH(mask_targets_forward, const saccade_mask_targets)

namespace saccade {
namespace {

using at::Tensor;

Tensor mask_targets(const Tensor& masks, const Tensor& sizes, const Tensor& boxes,
                    const Tensor& index, int64_t size) {
  TORCH_CHECK(masks.dim() == 3 && masks.scalar_type() == at::kByte && sizes.dim() == 2 &&
                  sizes.size(0) == masks.size(0) && sizes.size(1) == 2 && boxes.dim() == 2 &&
                  boxes.size(1) == 4 && index.dim() == 1 && index.size(0) == boxes.size(0) &&
                  size > 0,
              "saccade::mask_targets: masks ", masks.sizes(), " of ", masks.scalar_type(),
              ", sizes ", sizes.sizes(), ", boxes ", boxes.sizes(), ", index ", index.sizes(),
              ", size ", size, ", expected bytes of [G, H, W], [G, 2], [R, 4] and [R]");
  const Tensor m = masks.contiguous(), b = boxes.to(m.device(), at::kFloat).contiguous();
  const Tensor s = sizes.to(m.device(), at::kLong).contiguous();
  const Tensor of = index.to(m.device(), at::kLong).contiguous();
  Tensor out = at::empty({b.size(0), size, size}, b.options());
  saccade_mask_targets a = {};
  a.n = m.size(0);
  a.h = m.size(1);
  a.w = m.size(2);
  a.regions = b.size(0);
  a.side = size;
  a.masks = m.data_ptr<uint8_t>();
  a.sizes = s.data_ptr<int64_t>();
  a.boxes = b.data_ptr<float>();
  a.mask_of = of.data_ptr<int64_t>();
  a.out = out.data_ptr<float>();
  launch("mask_targets", m, saccade_mask_targets_forward, saccade_mask_targets_forward_cuda, a);
  return out;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "mask_targets(Tensor masks, Tensor sizes, Tensor boxes, Tensor index, int size) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("mask_targets", mask_targets); }
TORCH_LIBRARY_IMPL(saccade, CUDA, m) { m.impl("mask_targets", mask_targets); }

}  // namespace saccade
