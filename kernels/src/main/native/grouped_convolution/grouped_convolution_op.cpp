// saccade::grouped_convolution for torch, with its gradients.

#include <torch/csrc/autograd/custom_function.h>

#include "common/autocast.h"
#include "common/dispatch.h"
#include "common/operators.h"
#include "grouped_convolution/grouped_convolution.h"

SACCADE_DISPATCH(grouped_convolution_forward, const saccade_grouped_convolution)
SACCADE_DISPATCH(grouped_convolution_weight, const saccade_grouped_convolution)

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

saccade_grouped_convolution arguments(const Tensor& x, const Tensor& weight) {
  saccade_grouped_convolution a = {};
  a.type = type_of(x);
  a.n = x.size(0);
  a.h = x.size(1);
  a.w = x.size(2);
  a.width = weight.size(1);
  a.groups = weight.size(0) / a.width;
  a.kernel = weight.size(2);
  a.x = data(x);
  return a;
}

void check_inputs(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
  TORCH_CHECK(x.dim() == 4 && weight.dim() == 4 && x.size(3) == weight.size(0) &&
                  weight.size(2) == weight.size(3) && weight.size(2) % 2 == 1 &&
                  weight.size(1) > 0 && weight.size(0) % weight.size(1) == 0,
              "saccade::grouped_convolution: x ", x.sizes(), ", weight ", weight.sizes(),
              "; expected [N, H, W, C] and [C, C / groups, K, K] of an odd K");
  TORCH_CHECK(!bias.has_value() || !bias->defined() || bias->sizes() == weight.sizes().slice(0, 1),
              "saccade::grouped_convolution: a bias of [C] expected");
}

// [C, width, K, K] to [K^2, width, C].
Tensor by_offset(const Tensor& weight, const Tensor& x) {
  return weight.to(sums(x)).flatten(2).permute({2, 1, 0}).contiguous();
}

// The same for the gradient of x: offsets flipped, inputs and outputs of a group exchanged.
Tensor by_offset_back(const Tensor& weight, const Tensor& x) {
  const int64_t width = weight.size(1);
  const Tensor groups = weight.reshape({-1, width, width, weight.size(2), weight.size(3)});
  return by_offset(groups.transpose(1, 2).flip({3, 4}).reshape(weight.sizes()), x);
}

Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& by_offset,
                const std::optional<Tensor>& bias) {
  Tensor out = at::empty_like(x);
  const Tensor shift =
      bias.has_value() && bias->defined() ? bias->to(sums(x)).contiguous() : Tensor();
  saccade_grouped_convolution a = arguments(x, weight);
  a.weight = data(by_offset);
  a.bias = data(shift);
  a.out = data(out);
  launch("grouped_convolution", x, saccade_grouped_convolution_forward,
         saccade_grouped_convolution_forward_cuda, a);
  return out;
}

Tensor forward(const Tensor& given, const Tensor& weight, const std::optional<Tensor>& bias) {
  check_inputs(given, weight, bias);
  const Tensor x = given.contiguous();
  return convolve(x, weight, by_offset(weight, x), bias);
}

Tensor weight_gradient(const Tensor& x, const Tensor& weight, const Tensor& d_out) {
  const int64_t kernel = weight.size(2);
  Tensor by_offset =
      at::zeros({kernel * kernel, weight.size(1), weight.size(0)}, x.options().dtype(sums(x)));
  if (x.numel() > 0) {
    saccade_grouped_convolution a = arguments(x, weight);
    a.d_out = data(d_out);
    a.d_weight = data(by_offset);
    launch("grouped_convolution", x, saccade_grouped_convolution_weight,
           saccade_grouped_convolution_weight_cuda, a);
  }
  return by_offset.permute({2, 1, 0}).reshape(weight.sizes()).to(weight.scalar_type());
}

class GroupedConvolution : public torch::autograd::Function<GroupedConvolution> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias) {
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({x, weight});
    context->saved_data["bias"] = bias.has_value() && bias->defined();
    return saccade::forward(x, weight, bias);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor x = saved[0].contiguous(), weight = saved[1];
    const Tensor d_out = gradients[0].contiguous();
    Tensor d_x, d_weight, d_bias;
    if (context->needs_input_grad(0)) {
      d_x = convolve(d_out, weight, by_offset_back(weight, x), std::nullopt);
    }
    if (context->needs_input_grad(1)) d_weight = weight_gradient(x, weight, d_out);
    if (context->saved_data["bias"].toBool()) d_bias = d_out.sum({0, 1, 2}, false, sums(d_out));
    return {d_x, d_weight, d_bias};
  }
};

Tensor with_gradients(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
  return GroupedConvolution::apply(x, weight, bias);
}

Tensor cast(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
  const Autocast cast(x);
  return with_gradients(cast(x), weight, bias);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("grouped_convolution(Tensor x, Tensor weight, Tensor? bias) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("grouped_convolution", forward); }
TORCH_LIBRARY_IMPL(saccade, CUDA, m) { m.impl("grouped_convolution", forward); }
TORCH_LIBRARY_IMPL(saccade, AutogradCPU, m) { m.impl("grouped_convolution", with_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutogradCUDA, m) { m.impl("grouped_convolution", with_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutocastCPU, m) { m.impl("grouped_convolution", cast); }
TORCH_LIBRARY_IMPL(saccade, AutocastCUDA, m) { m.impl("grouped_convolution", cast); }

}  // namespace saccade
