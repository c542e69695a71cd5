// saccade::window_pooling for torch, with its gradients: on CPUs, in floats.

#include "window_pooling/window_pooling.h"

#include <torch/csrc/autograd/custom_function.h>

#include "common/dispatch.h"
#include "common/operators.h"

SACCADE_DISPATCH(window_pooling_forward, const saccade_window_pooling)
SACCADE_DISPATCH(window_pooling_backward, const saccade_window_pooling)

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

saccade_window_pooling arguments(const Tensor& x, const Tensor& weight, int64_t part) {
  saccade_window_pooling a = {};
  a.n = x.size(0);
  a.h = x.size(1);
  a.w = x.size(2);
  a.channels = x.size(3);
  a.part = part;
  a.x = x.const_data_ptr<float>();
  a.weight = weight.const_data_ptr<float>();
  return a;
}

Tensor window_pooling(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t part) {
  TORCH_CHECK(part > 0 && x.dim() == 4 && x.size(1) % part == 0 && x.size(2) % part == 0 &&
                  weight.numel() == part * part && bias.numel() == 1 &&
                  x.scalar_type() == at::kFloat && weight.scalar_type() == at::kFloat &&
                  bias.scalar_type() == at::kFloat,
              "saccade::window_pooling: x ", x.sizes(), " of ", x.scalar_type(), ", weight ",
              weight.sizes(), " of ", weight.scalar_type(), ", bias ", bias.sizes(), " of ",
              bias.scalar_type(), ", expected [N, H, W, C] of whole squares of ", part,
              " tokens a side, their weights and one bias, of Float");
  const Tensor rows = x.contiguous(), weights = weight.contiguous();
  const Tensor y =
      at::empty({x.size(0), x.size(1) / part, x.size(2) / part, x.size(3)}, x.options());
  saccade_window_pooling a = arguments(rows, weights, part);
  a.bias = bias.const_data_ptr<float>();
  a.y = y.data_ptr<float>();
  check(saccade_window_pooling_forward(&a), "window_pooling");
  return y;
}

class WindowPooling : public torch::autograd::Function<WindowPooling> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, int64_t part) {
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({x, weight, bias});
    context->saved_data["part"] = part;
    return window_pooling(x, weight, bias, part);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor x = saved[0].contiguous(), weight = saved[1].contiguous();
    const Tensor d_y = gradients[0].contiguous(), d_x = at::empty_like(x);
    const Tensor d_weight = at::empty_like(weight), d_bias = at::empty_like(saved[2]);
    saccade_window_pooling a = arguments(x, weight, context->saved_data["part"].toInt());
    a.d_y = d_y.const_data_ptr<float>();
    a.d_x = d_x.data_ptr<float>();
    a.d_weight = d_weight.data_ptr<float>();
    a.d_bias = d_bias.data_ptr<float>();
    check(saccade_window_pooling_backward(&a), "window_pooling");
    return {d_x, d_weight, d_bias, Tensor()};
  }
};

Tensor with_gradients(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t part) {
  return WindowPooling::apply(x, weight, bias, part);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("window_pooling(Tensor x, Tensor weight, Tensor bias, int part) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("window_pooling", window_pooling); }
TORCH_LIBRARY_IMPL(saccade, AutogradCPU, m) { m.impl("window_pooling", with_gradients); }

}  // namespace saccade
