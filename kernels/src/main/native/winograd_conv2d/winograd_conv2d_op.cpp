// saccade::winograd_conv2d for torch: on CPUs, without gradients.

#include "winograd_conv2d/winograd_conv2d.h"

#include "common/dispatch.h"
#include "common/operators.h"

SACCADE_DISPATCH(winograd_conv2d_size, saccade_winograd_conv2d)
SACCADE_DISPATCH(winograd_conv2d_pack, const saccade_winograd_conv2d)
SACCADE_DISPATCH(winograd_conv2d_forward, const saccade_winograd_conv2d)

namespace saccade {
namespace {

using at::Tensor;

int64_t packed_count(int64_t in, int64_t out, at::ScalarType products) {
  saccade_winograd_conv2d a = {};
  a.products = type_of(products);
  a.in = in;
  a.out = out;
  check(saccade_winograd_conv2d_size(&a), "winograd_conv2d");
  return a.packed_count;
}

// Transforms weights [out, in, 3, 3] once for all calls, to the type of the products.
Tensor winograd_weights(const Tensor& weight, at::ScalarType products) {
  TORCH_CHECK(weight.dim() == 4 && weight.size(2) == 3 && weight.size(3) == 3 &&
                  weight.numel() > 0 && weight.scalar_type() == at::kFloat,
              "saccade::winograd_weights: weight ", weight.sizes(), " of ", weight.scalar_type(),
              ", expected [out, in, 3, 3] of Float");
  const Tensor rows = weight.contiguous();
  saccade_winograd_conv2d a = {};
  a.type = SACCADE_FLOAT;
  a.products = type_of(products);
  a.out = weight.size(0);
  a.in = weight.size(1);
  const Tensor packed =
      at::empty({packed_count(a.in, a.out, products)}, weight.options().dtype(products));
  a.weight = rows.const_data_ptr<float>();
  a.packed = data(packed);
  check(saccade_winograd_conv2d_pack(&a), "winograd_conv2d");
  return packed;
}

Tensor winograd_conv2d(const Tensor& x, const Tensor& packed, const std::optional<Tensor>& bias,
                       const std::optional<Tensor>& add, int64_t out, int64_t padding, bool relu) {
  const at::ScalarType type = x.scalar_type();
  TORCH_CHECK(x.dim() == 4 && (type == at::kFloat || type == at::kBFloat16) && out > 0 &&
                  padding >= 0 && x.size(2) + 2 * padding > 2 && x.size(3) + 2 * padding > 2 &&
                  packed.numel() == packed_count(x.size(1), out, packed.scalar_type()) &&
                  (!bias || (bias->numel() == out && bias->scalar_type() == at::kFloat)),
              "saccade::winograd_conv2d: x ", x.sizes(), " of ", type, ", ", packed.numel(),
              " weights, ", out, " channels, padding ", padding,
              ", expected [N, C, H, W] of Float or BFloat16 and weights for C channels");
  const Tensor map = x.contiguous(at::MemoryFormat::ChannelsLast);
  saccade_winograd_conv2d a = {};
  a.type = type_of(x);
  a.n = x.size(0);
  a.in = x.size(1);
  a.h = x.size(2);
  a.w = x.size(3);
  a.out = out;
  a.padding = padding;
  a.relu = relu;
  const Tensor y = at::empty({a.n, out, a.h + 2 * padding - 2, a.w + 2 * padding - 2}, x.options(),
                             at::MemoryFormat::ChannelsLast);
  TORCH_CHECK(!add || (add->sizes() == y.sizes() && add->scalar_type() == type),
              "saccade::winograd_conv2d: add ", add ? add->sizes() : y.sizes(), ", expected ",
              y.sizes(), " of ", type);
  const Tensor sum = add ? add->contiguous(at::MemoryFormat::ChannelsLast) : Tensor();
  const Tensor biases = bias ? bias->contiguous() : Tensor();
  a.x = data(map);
  a.products = type_of(packed);
  a.packed = data(packed);
  a.bias = static_cast<const float*>(data(biases));
  a.add = data(sum);
  a.y = data(y);
  if (y.numel() > 0) check(saccade_winograd_conv2d_forward(&a), "winograd_conv2d");
  return y;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("winograd_weights(Tensor weight, ScalarType products) -> Tensor");
  m.def(
      "winograd_conv2d(Tensor x, Tensor packed, Tensor? bias, Tensor? add, int out, int padding, "
      "bool relu) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) {
  m.impl("winograd_weights", winograd_weights);
  m.impl("winograd_conv2d", winograd_conv2d);
}

}  // namespace saccade
