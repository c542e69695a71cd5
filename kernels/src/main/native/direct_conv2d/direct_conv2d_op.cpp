// saccade::direct_conv2d and saccade::direct_linear for torch: on CPUs, without gradients.

#include "direct_conv2d/direct_conv2d.h"

#include "common/dispatch.h"
#include "common/operators.h"

SACCADE_DISPATCH(direct_conv2d_size, saccade_direct_conv2d)
SACCADE_DISPATCH(direct_conv2d_pack, const saccade_direct_conv2d)
SACCADE_DISPATCH(direct_conv2d_forward, const saccade_direct_conv2d)

namespace saccade {
namespace {

using at::Tensor;

saccade_products products_of(at::ScalarType type) {
  if (type == at::kChar) return SACCADE_INT8_PRODUCTS;
  return type == at::kBFloat16 ? SACCADE_BFLOAT16_PRODUCTS : SACCADE_FLOAT_PRODUCTS;
}

saccade_direct_conv2d sizes(int64_t in, int64_t out, int64_t kernel, at::ScalarType products) {
  saccade_direct_conv2d a = {};
  a.type = SACCADE_FLOAT;
  a.products = products_of(products);
  a.in = in;
  a.out = out;
  a.kernel = kernel;
  check(saccade_direct_conv2d_size(&a), "direct_conv2d");
  return a;
}

// Whether the processor has the instructions for products of a type.
int64_t has_direct_products(at::ScalarType products) {
  saccade_direct_conv2d a = {};
  a.products = products_of(products);
  a.in = a.out = a.kernel = 1;
  return saccade_direct_conv2d_size(&a) == 0;
}

// Packs weights [out, in, kernel, kernel] once for all calls, in the type of the products: values
// and, of 8-bit products, scales.
std::tuple<Tensor, Tensor> direct_weights(const Tensor& weight, at::ScalarType products) {
  TORCH_CHECK(weight.dim() == 4 && weight.size(2) == weight.size(3) && weight.numel() > 0 &&
                  weight.scalar_type() == at::kFloat,
              "saccade::direct_weights: weight ", weight.sizes(), " of ", weight.scalar_type(),
              ", expected [out, in, kernel, kernel] of Float");
  const Tensor rows = weight.contiguous();
  saccade_direct_conv2d a = sizes(weight.size(1), weight.size(0), weight.size(2), products);
  const Tensor packed = at::empty({a.packed_count}, weight.options().dtype(products));
  const Tensor scales = at::empty({a.scale_count}, weight.options());
  a.weight = rows.const_data_ptr<float>();
  a.packed = data(packed);
  a.scales = scales.data_ptr<float>();
  check(saccade_direct_conv2d_pack(&a), "direct_conv2d");
  return {packed, scales};
}

int64_t side(int64_t size, const saccade_direct_conv2d& a) {
  return (size + 2 * a.padding - a.dilation * (a.kernel - 1) - 1) / a.stride + 1;
}

Tensor direct_conv2d(const Tensor& x, const Tensor& packed, const Tensor& scales,
                     const Tensor& bias, const std::optional<Tensor>& add, int64_t kernel,
                     int64_t stride, int64_t padding, int64_t dilation, bool relu) {
  const at::ScalarType type = x.scalar_type();
  TORCH_CHECK(x.dim() == 4 && (type == at::kFloat || type == at::kBFloat16) && kernel > 0 &&
                  stride > 0 && padding >= 0 && dilation > 0 && bias.dim() == 1 &&
                  bias.scalar_type() == at::kFloat && scales.scalar_type() == at::kFloat,
              "saccade::direct_conv2d: x ", x.sizes(), " of ", type, ", bias ", bias.sizes(),
              " of ", bias.scalar_type(),
              ", expected [N, C, H, W] of Float or BFloat16, [out] of Float");
  saccade_direct_conv2d a = sizes(x.size(1), bias.size(0), kernel, packed.scalar_type());
  a.type = type_of(x);
  a.n = x.size(0);
  a.h = x.size(2);
  a.w = x.size(3);
  a.stride = stride;
  a.padding = padding;
  a.dilation = dilation;
  a.out_h = side(a.h, a);
  a.out_w = side(a.w, a);
  a.activation = relu ? SACCADE_RELU : SACCADE_NO_ACTIVATION;
  TORCH_CHECK(packed.numel() == a.packed_count && scales.numel() == a.scale_count && a.out_h > 0 &&
                  a.out_w > 0,
              "saccade::direct_conv2d: ", packed.numel(), " weights and ", scales.numel(),
              " scales, expected ", a.packed_count, " and ", a.scale_count, ", and x larger than ",
              "the kernel");
  const Tensor map = x.contiguous(at::MemoryFormat::ChannelsLast);
  const Tensor y =
      at::empty({a.n, a.out, a.out_h, a.out_w}, x.options(), at::MemoryFormat::ChannelsLast);
  TORCH_CHECK(!add || (add->sizes() == y.sizes() && add->scalar_type() == type),
              "saccade::direct_conv2d: add ", add ? add->sizes() : y.sizes(), ", expected ",
              y.sizes(), " of ", type);
  const Tensor sum = add ? add->contiguous(at::MemoryFormat::ChannelsLast) : Tensor();
  const Tensor biases = bias.contiguous();
  a.x = data(map);
  a.packed = data(packed);
  a.scales = scales.data_ptr<float>();
  a.bias = biases.const_data_ptr<float>();
  a.add = data(sum);
  a.y = data(y);
  if (y.numel() > 0) check(saccade_direct_conv2d_forward(&a), "direct_conv2d");
  return y;
}

// Multiplies rows [.., in] by packed weights [out, in, 1, 1], adds the bias and applies GELU if
// asked.
Tensor direct_linear(const Tensor& x, const Tensor& packed, const Tensor& scales,
                     const Tensor& bias, bool gelu) {
  const at::ScalarType type = x.scalar_type();
  TORCH_CHECK(x.dim() > 0 && (type == at::kFloat || type == at::kBFloat16) && bias.dim() == 1 &&
                  bias.scalar_type() == at::kFloat && scales.scalar_type() == at::kFloat,
              "saccade::direct_linear: x ", x.sizes(), " of ", type, ", bias ", bias.sizes(),
              " of ", bias.scalar_type(),
              ", expected [.., in] of Float or BFloat16, [out] of Float");
  saccade_direct_conv2d a = sizes(x.size(-1), bias.size(0), 1, packed.scalar_type());
  a.type = type_of(x);
  a.n = a.h = a.out_h = a.stride = a.dilation = 1;
  a.w = a.out_w = x.numel() / a.in;
  a.activation = gelu ? SACCADE_GELU : SACCADE_NO_ACTIVATION;
  TORCH_CHECK(packed.numel() == a.packed_count && scales.numel() == a.scale_count,
              "saccade::direct_linear: ", packed.numel(), " weights and ", scales.numel(),
              " scales, expected ", a.packed_count, " and ", a.scale_count);
  const Tensor rows = x.contiguous(), biases = bias.contiguous();
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = a.out;
  const Tensor y = at::empty(shape, x.options());
  a.x = data(rows);
  a.packed = data(packed);
  a.scales = scales.data_ptr<float>();
  a.bias = biases.const_data_ptr<float>();
  a.y = data(y);
  if (y.numel() > 0) check(saccade_direct_conv2d_forward(&a), "direct_linear");
  return y;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("has_direct_products(ScalarType products) -> int", has_direct_products);
  m.def("direct_weights(Tensor weight, ScalarType products) -> (Tensor packed, Tensor scales)");
  m.def(
      "direct_conv2d(Tensor x, Tensor packed, Tensor scales, Tensor bias, Tensor? add, int kernel, "
      "int stride, int padding, int dilation, bool relu) -> Tensor");
  m.def("direct_linear(Tensor x, Tensor packed, Tensor scales, Tensor bias, bool gelu) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) {
  m.impl("direct_weights", direct_weights);
  m.impl("direct_conv2d", direct_conv2d);
  m.impl("direct_linear", direct_linear);
}

}  // namespace saccade
