// saccade::max_pool2d for torch: on CPUs, without gradients.

#include "max_pool2d/max_pool2d.h"

#include "common/dispatch.h"
#include "common/operators.h"

SACCADE_DISPATCH(max_pool2d_forward, const saccade_max_pool2d)

namespace saccade {
namespace {

using at::Tensor;

// The result is in channels-last format.
Tensor max_pool2d(const Tensor& x, int64_t kernel, int64_t stride, int64_t padding) {
  const at::ScalarType type = x.scalar_type();
  TORCH_CHECK(x.dim() == 4 && (type == at::kFloat || type == at::kBFloat16) && kernel > 0 &&
                  stride > 0 && padding >= 0 && padding < kernel,
              "saccade::max_pool2d: x ", x.sizes(), " of ", type, ", kernel ", kernel, ", stride ",
              stride, ", padding ", padding,
              ", expected [N, C, H, W] of Float or BFloat16, and padding below kernel");
  saccade_max_pool2d a = {};
  a.type = type_of(x);
  a.n = x.size(0);
  a.channels = x.size(1);
  a.h = x.size(2);
  a.w = x.size(3);
  a.kernel = kernel;
  a.stride = stride;
  a.padding = padding;
  a.out_h = (a.h + 2 * padding - kernel) / stride + 1;
  a.out_w = (a.w + 2 * padding - kernel) / stride + 1;
  TORCH_CHECK(a.h + 2 * padding >= kernel && a.w + 2 * padding >= kernel, "saccade::max_pool2d: x ",
              x.sizes(), ", expected at least the kernel of ", kernel);
  const Tensor map = x.contiguous(at::MemoryFormat::ChannelsLast);
  const Tensor y =
      at::empty({a.n, a.channels, a.out_h, a.out_w}, x.options(), at::MemoryFormat::ChannelsLast);
  a.x = data(map);
  a.y = data(y);
  if (y.numel() > 0) check(saccade_max_pool2d_forward(&a), "max_pool2d");
  return y;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("max_pool2d(Tensor x, int kernel, int stride, int padding) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("max_pool2d", max_pool2d); }

}  // namespace saccade
