// saccade::layer_norm and saccade::add_layer_norm for torch, with their gradients.

#include <torch/csrc/autograd/custom_function.h>

#include "common/autocast.h"
#include "common/dispatch.h"
#include "common/operators.h"
#include "layer_norm/layer_norm.h"

SACCADE_DISPATCH(layer_norm_forward, const saccade_layer_norm)
SACCADE_DISPATCH(layer_norm_backward, const saccade_layer_norm)

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void check_inputs(const Tensor& x, const Tensor& residual, const Tensor& weight,
                  const Tensor& bias) {
  TORCH_CHECK(x.dim() > 0 && x.size(-1) > 0 && weight.sizes() == x.sizes().slice(x.dim() - 1) &&
                  bias.sizes() == weight.sizes(),
              "saccade::layer_norm: x ", x.sizes(), ", weight ", weight.sizes(), ", bias ",
              bias.sizes(), ", expected [..., C], [C] and [C]");
  TORCH_CHECK(!residual.defined() || (residual.sizes() == x.sizes() &&
                                      (residual.scalar_type() == x.scalar_type() ||
                                       x.scalar_type() == at::kFloat)),
              "saccade::layer_norm: residual ", residual.sizes(), " of ", residual.scalar_type(),
              ", expected ", x.sizes(), " of ", x.scalar_type(), ", or of 16 bits beside float");
}

// x is what is summed, or its sum with a residual; type is that of what is given to products.
saccade_layer_norm arguments(const Tensor& x, const Tensor& weight, at::ScalarType type) {
  saccade_layer_norm a = {};
  a.type = type_of(type);
  a.stream = type_of(x);
  a.channels = x.size(-1);
  a.rows = x.numel() / a.channels;
  a.x = data(x);
  a.weight = data(weight);
  return a;
}

// What a pass leaves behind; mean and scale of every row only where a gradient is wanted.
struct Normalized {
  Tensor out, sum, mean, scale;
};

// out is of a type; what is summed stays of that of x.
Normalized normalize(const Tensor& given, const Tensor& residual, const Tensor& weight,
                     const Tensor& bias, double eps, at::ScalarType type, bool for_backward) {
  check_inputs(given, residual, weight, bias);
  const Tensor x = given.contiguous(), r = residual.defined() ? residual.contiguous() : Tensor();
  const Tensor w = weight.to(sums(x)).contiguous(), b = bias.to(sums(x)).contiguous();
  saccade_layer_norm a = arguments(x, w, type);
  Normalized result;
  result.out = at::empty_like(x, x.options().dtype(type));
  result.sum = r.defined() ? at::empty_like(x) : x;
  if (for_backward) {
    result.mean = at::empty({a.rows}, w.options());
    result.scale = at::empty_like(result.mean);
  }
  a.eps = eps;
  a.bias = data(b);
  a.residual = data(r);
  a.sum = r.defined() ? data(result.sum) : nullptr;
  a.out = data(result.out);
  a.mean = data(result.mean);
  a.scale = data(result.scale);
  launch("layer_norm", x, saccade_layer_norm_forward, saccade_layer_norm_forward_cuda, a);
  return result;
}

// Gradients of x and of the residual, the same of a type of its own; of weight and bias.
variable_list layer_norm_backward(const variable_list& saved, const Tensor& gradient,
                                  const Tensor& gradient_of_sum, at::ScalarType type,
                                  bool has_residual) {
  const Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &scale = saved[3];
  const Tensor w = weight.to(sums(x)).contiguous();
  const Tensor d_out =
      gradient.defined() ? gradient.contiguous() : at::zeros_like(x, x.options().dtype(type));
  const Tensor d_sum = gradient_of_sum.defined() ? gradient_of_sum.contiguous() : Tensor();
  Tensor d_x = at::empty_like(x), d_weight = at::zeros_like(w), d_bias = at::zeros_like(w);
  const bool twice = has_residual && x.scalar_type() != type;
  Tensor d_residual = twice ? at::empty_like(d_out) : d_x;
  saccade_layer_norm a = arguments(x, w, type);
  a.mean = data(mean);
  a.scale = data(scale);
  a.d_out = data(d_out);
  a.d_sum = data(d_sum);
  a.d_x = data(d_x);
  a.d_residual = twice ? data(d_residual) : nullptr;
  a.d_weight = data(d_weight);
  a.d_bias = data(d_bias);
  launch("layer_norm", x, saccade_layer_norm_backward, saccade_layer_norm_backward_cuda, a);
  return {d_x, d_residual, d_weight.to(weight.scalar_type()), d_bias.to(weight.scalar_type())};
}

class LayerNorm : public torch::autograd::Function<LayerNorm> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, double eps, at::ScalarType type) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const Normalized result = normalize(x, {}, weight, bias, eps, type, true);
    context->save_for_backward({result.sum, weight, result.mean, result.scale});
    context->saved_data["type"] = type;
    return result.out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list by =
        layer_norm_backward(context->get_saved_variables(), gradients[0], {},
                            context->saved_data["type"].toScalarType(), false);
    return {by[0], by[2], by[3], Tensor(), Tensor()};
  }
};

class AddLayerNorm : public torch::autograd::Function<AddLayerNorm> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& residual,
                               const Tensor& weight, const Tensor& bias, double eps) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const Normalized result =
        normalize(x, residual, weight, bias, eps, residual.scalar_type(), true);
    context->set_materialize_grads(false);
    context->save_for_backward({result.sum, weight, result.mean, result.scale});
    context->saved_data["type"] = residual.scalar_type();
    return {result.out, result.sum};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list by =
        layer_norm_backward(context->get_saved_variables(), gradients[0], gradients[1],
                            context->saved_data["type"].toScalarType(), true);
    return {by[0], by[1], by[2], by[3], Tensor()};
  }
};

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
                  std::optional<at::ScalarType> type) {
  return normalize(x, {}, weight, bias, eps, type.value_or(x.scalar_type()), false).out;
}

Tensor layer_norm_with_gradients(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                 double eps, std::optional<at::ScalarType> type) {
  return LayerNorm::apply(x, weight, bias, eps, type.value_or(x.scalar_type()));
}

std::tuple<Tensor, Tensor> add_layer_norm(const Tensor& x, const Tensor& residual,
                                          const Tensor& weight, const Tensor& bias, double eps) {
  const Normalized result =
      normalize(x, residual, weight, bias, eps, residual.scalar_type(), false);
  return {result.out, result.sum};
}

std::tuple<Tensor, Tensor> add_layer_norm_with_gradients(const Tensor& x, const Tensor& residual,
                                                         const Tensor& weight, const Tensor& bias,
                                                         double eps) {
  const variable_list result = AddLayerNorm::apply(x, residual, weight, bias, eps);
  return {result[0], result[1]};
}

// Normalized in the type that is computed in, as products want it.
Tensor layer_norm_cast(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
                       std::optional<at::ScalarType> type) {
  const Autocast cast(x);
  return layer_norm_with_gradients(x.scalar_type() == at::kFloat ? x : cast(x), weight, bias, eps,
                                   type.value_or(cast.type()));
}

// What is summed, block after block, is so in float.
std::tuple<Tensor, Tensor> add_layer_norm_cast(const Tensor& x, const Tensor& residual,
                                               const Tensor& weight, const Tensor& bias,
                                               double eps) {
  const Autocast cast(x);
  return add_layer_norm_with_gradients(x.to(sums(x)), cast(residual), weight, bias, eps);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "layer_norm(Tensor x, Tensor weight, Tensor bias, float eps, ScalarType? type=None) "
      "-> Tensor");
  m.def(
      "add_layer_norm(Tensor x, Tensor residual, Tensor weight, Tensor bias, float eps) "
      "-> (Tensor out, Tensor sum)");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) {
  m.impl("layer_norm", layer_norm);
  m.impl("add_layer_norm", add_layer_norm);
}
TORCH_LIBRARY_IMPL(saccade, CUDA, m) {
  m.impl("layer_norm", layer_norm);
  m.impl("add_layer_norm", add_layer_norm);
}
TORCH_LIBRARY_IMPL(saccade, AutogradCPU, m) {
  m.impl("layer_norm", layer_norm_with_gradients);
  m.impl("add_layer_norm", add_layer_norm_with_gradients);
}
TORCH_LIBRARY_IMPL(saccade, AutogradCUDA, m) {
  m.impl("layer_norm", layer_norm_with_gradients);
  m.impl("add_layer_norm", add_layer_norm_with_gradients);
}

TORCH_LIBRARY_IMPL(saccade, AutocastCPU, m) {
  m.impl("layer_norm", layer_norm_cast);
  m.impl("add_layer_norm", add_layer_norm_cast);
}
TORCH_LIBRARY_IMPL(saccade, AutocastCUDA, m) {
  m.impl("layer_norm", layer_norm_cast);
  m.impl("add_layer_norm", add_layer_norm_cast);
}

}  // namespace saccade
