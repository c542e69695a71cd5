// saccade::linear for torch, with its gradients: on CPUs, in floats.
//
// A layer is a convolution of 1x1 over rows of channels: the same product through oneDNN, faster
// than through MKL, where libtorch sends matrix products. oneDNN loses half of that where it sums
// over many rows, as in the gradient of the weight, which is made here.

#include "linear/linear.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "common/dispatch.h"
#include "common/operators.h"

SACCADE_DISPATCH(linear_backward, const saccade_linear)

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// A map as oneDNN sees it, [N, C, H, W] with the channels innermost. Rows lie along W: as images of
// one cell each they would take five times as long.
Tensor as_map(const Tensor& x) {
  const Tensor map = x.dim() == 4 ? x : x.reshape({1, 1, -1, x.size(-1)});
  return map.permute({0, 3, 1, 2});
}

// oneDNN takes no empty maps.
bool is_empty(const Tensor& x, const Tensor& weight) {
  return x.numel() == 0 || weight.numel() == 0;
}

Tensor multiply(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
  const Tensor y = at::mkldnn_convolution(as_map(x), weight.unsqueeze(-1).unsqueeze(-1), bias,
                                          {0, 0}, {1, 1}, {1, 1}, 1);
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = weight.size(0);
  return y.permute({0, 2, 3, 1}).reshape(sizes);
}

Tensor linear(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
  TORCH_CHECK(x.scalar_type() == at::kFloat && weight.scalar_type() == at::kFloat &&
                  x.dim() > 0 && weight.dim() == 2 && x.size(-1) == weight.size(1) &&
                  (!bias || (bias->sizes() == weight.sizes().slice(0, 1) &&
                             bias->scalar_type() == at::kFloat)),
              "saccade::linear: x ", x.sizes(), " of ", x.scalar_type(), ", weight ",
              weight.sizes(), " of ", weight.scalar_type(),
              ", expected [..., in] and [out, in] of Float, and a bias [out] of Float or none");
  if (is_empty(x, weight)) return at::linear(x, weight, bias);
  return multiply(x.contiguous(), weight, bias ? std::optional(bias->contiguous()) : bias);
}

// The gradient of x. With one thread libtorch leaves the backward pass of small batches to MKL; the
// convolution by the transposed weight is the same product, but oneDNN is slow to rearrange that.
Tensor by_input(const Tensor& x, const Tensor& weight, const Tensor& d_out) {
  if (at::get_num_threads() == 1) return multiply(d_out, weight.t(), {});
  const Tensor d_map = std::get<0>(at::convolution_backward(
      as_map(d_out), as_map(x.contiguous()), weight.unsqueeze(-1).unsqueeze(-1), {}, {1, 1},
      {0, 0}, {1, 1}, false, {0, 0}, 1, {true, false, false}));
  return d_map.permute({0, 2, 3, 1}).reshape(x.sizes());
}

class Linear : public torch::autograd::Function<Linear> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias) {
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({x, weight});
    context->saved_data["bias"] = bias.has_value() && bias->defined();
    return saccade::linear(x, weight, bias);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &weight = saved[1], d_out = gradients[0].contiguous();
    variable_list by(3);
    const bool by_bias = context->saved_data["bias"].toBool() && context->needs_input_grad(2);
    if (is_empty(saved[0], weight)) {
      by[0] = at::zeros_like(saved[0]);
      by[1] = at::zeros_like(weight);
      const int64_t rows = c10::multiply_integers(saved[0].sizes().slice(0, saved[0].dim() - 1));
      if (by_bias) by[2] = d_out.reshape({rows, weight.size(0)}).sum(0);
      return by;
    }
    if (context->needs_input_grad(0)) by[0] = by_input(saved[0], weight, d_out);
    if (!context->needs_input_grad(1) && !by_bias) return by;
    const Tensor x = saved[0].contiguous();
    by[1] = at::empty(weight.sizes(), weight.options());
    if (by_bias) by[2] = at::empty({weight.size(0)}, weight.options());
    saccade_linear a = {};
    a.in = weight.size(1);
    a.out = weight.size(0);
    a.rows = x.numel() / a.in;
    a.x = x.const_data_ptr<float>();
    a.d_out = d_out.const_data_ptr<float>();
    a.d_weight = by[1].data_ptr<float>();
    a.d_bias = by[2].defined() ? by[2].data_ptr<float>() : nullptr;
    check(saccade_linear_backward(&a), "linear");
    return by;
  }
};

Tensor linear_with_gradients(const Tensor& x, const Tensor& weight,
                             const std::optional<Tensor>& bias) {
  return Linear::apply(x, weight, bias);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("linear(Tensor x, Tensor weight, Tensor? bias) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("linear", linear); }
TORCH_LIBRARY_IMPL(saccade, AutogradCPU, m) { m.impl("linear", linear_with_gradients); }

}  // namespace saccade
