// saccade::focal_attention for torch, with its gradients.

#include <torch/csrc/autograd/custom_function.h>

#include "common/autocast.h"
#include "common/dispatch.h"
#include "common/operators.h"
#include "focal_attention/focal_attention.h"

SACCADE_DISPATCH(focal_attention_forward, const saccade_focal_attention)
SACCADE_DISPATCH(focal_attention_backward, const saccade_focal_attention)

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What the launchers read: side by side, and of the types that they want.
struct FocalInputs {
  Tensor qkv, cells, bias, index, mask;

  FocalInputs(const Tensor& qkv, const Tensor& cells, const Tensor& bias, const Tensor& index,
              const Tensor& mask)
      : qkv(qkv.contiguous()),
        cells(cells.contiguous()),
        bias(bias.to(sums(qkv)).contiguous()),
        index(index.to(at::kInt).contiguous()),
        mask(mask.to(sums(qkv)).contiguous()) {}

  saccade_focal_attention arguments(int64_t window) const {
    saccade_focal_attention a = {};
    a.type = type_of(qkv);
    a.n = qkv.size(0);
    a.h = qkv.size(1);
    a.w = qkv.size(2);
    a.heads = bias.size(0);
    a.depth = qkv.size(3) / 3 / a.heads;
    a.window = window;
    a.cells = cells.size(1);
    a.keys = index.size(1);
    a.masks = mask.size(1);
    a.qkv = data(qkv);
    a.pooled = data(cells);
    a.bias = data(bias);
    a.index = index.data_ptr<int32_t>();
    a.mask = data(mask);
    return a;
  }
};

void check_inputs(const Tensor& qkv, const Tensor& cells, const Tensor& bias, const Tensor& index,
                  const Tensor& mask, int64_t window) {
  TORCH_CHECK(window > 0 && qkv.dim() == 4 && qkv.size(1) % window == 0 &&
                  qkv.size(2) % window == 0 && qkv.size(3) > 0 && qkv.size(3) % 3 == 0,
              "saccade::focal_attention: qkv: got ", qkv.sizes(),
              ", expected [N, H', W', 3 C] of windows of ", window);
  TORCH_CHECK(cells.dim() == 3 && cells.size(0) == qkv.size(0) && cells.size(2) == qkv.size(3) &&
                  cells.scalar_type() == qkv.scalar_type(),
              "saccade::focal_attention: cells: got ", cells.sizes(), " of ", cells.scalar_type(),
              ", expected [N, cells, 3 C] as of qkv ", qkv.sizes(), " of ", qkv.scalar_type());
  const int64_t area = window * window, windows = qkv.size(1) * qkv.size(2) / area;
  TORCH_CHECK(index.dim() == 2 && index.size(0) == windows && index.size(1) > 0 &&
                  at::isIntegralType(index.scalar_type(), false),
              "saccade::focal_attention: index: got ", index.sizes(), " of ", index.scalar_type(),
              ", expected numbers of [", windows, ", keys]");
  TORCH_CHECK(bias.dim() == 3 && bias.size(0) > 0 && qkv.size(3) / 3 % bias.size(0) == 0 &&
                  bias.size(1) == area && bias.size(2) == index.size(1),
              "saccade::focal_attention: bias: got ", bias.sizes(), ", expected [heads, ", area,
              ", ", index.size(1), "] and whole heads of ", qkv.size(3) / 3, " channels");
  TORCH_CHECK(mask.dim() == 3 && mask.size(0) == windows &&
                  (mask.size(1) == 1 || mask.size(1) == area) && mask.size(2) == index.size(1),
              "saccade::focal_attention: mask: got ", mask.sizes(), ", expected [", windows,
              ", 1 or ", area, ", ", index.size(1), "]");
}

Tensor forward(const Tensor& qkv, const Tensor& cells, const Tensor& bias, const Tensor& index,
               const Tensor& mask, int64_t window) {
  check_inputs(qkv, cells, bias, index, mask, window);
  const FocalInputs inputs(qkv, cells, bias, index, mask);
  Tensor out = at::empty({qkv.size(0), qkv.size(1), qkv.size(2), qkv.size(3) / 3}, qkv.options());
  saccade_focal_attention a = inputs.arguments(window);
  a.out = data(out);
  launch("focal_attention", qkv, saccade_focal_attention_forward,
         saccade_focal_attention_forward_cuda, a);
  return out;
}

class FocalAttention : public torch::autograd::Function<FocalAttention> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& qkv, const Tensor& cells,
                        const Tensor& bias, const Tensor& index, const Tensor& mask,
                        int64_t window) {
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({qkv, cells, bias, index, mask});
    context->saved_data["window"] = window;
    return saccade::forward(qkv, cells, bias, index, mask, window);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const FocalInputs inputs(saved[0], saved[1], saved[2], saved[3], saved[4]);
    const Tensor d_out = gradients[0].contiguous();
    Tensor d_qkv = at::empty_like(inputs.qkv);
    Tensor d_cells = at::empty_like(inputs.cells);
    Tensor d_bias = at::zeros_like(inputs.bias);
    if (inputs.qkv.numel() > 0) {
      saccade_focal_attention a = inputs.arguments(context->saved_data["window"].toInt());
      a.d_out = data(d_out);
      a.d_qkv = data(d_qkv);
      a.d_pooled = data(d_cells);
      a.d_bias = data(d_bias);
      launch("focal_attention", d_out, saccade_focal_attention_backward,
             saccade_focal_attention_backward_cuda, a);
    }
    return {d_qkv, d_cells, d_bias.to(saved[2].scalar_type()), Tensor(), Tensor(), Tensor()};
  }
};

Tensor with_gradients(const Tensor& qkv, const Tensor& cells, const Tensor& bias,
                      const Tensor& index, const Tensor& mask, int64_t window) {
  return FocalAttention::apply(qkv, cells, bias, index, mask, window);
}

Tensor cast(const Tensor& qkv, const Tensor& cells, const Tensor& bias, const Tensor& index,
            const Tensor& mask, int64_t window) {
  const Autocast cast(qkv);
  return with_gradients(cast(qkv), cast(cells), bias, index, mask, window);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "focal_attention(Tensor qkv, Tensor cells, Tensor bias, Tensor index, Tensor mask, int "
      "window) "
      "-> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("focal_attention", forward); }
TORCH_LIBRARY_IMPL(saccade, CUDA, m) { m.impl("focal_attention", forward); }
TORCH_LIBRARY_IMPL(saccade, AutogradCPU, m) { m.impl("focal_attention", with_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutogradCUDA, m) { m.impl("focal_attention", with_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutocastCPU, m) { m.impl("focal_attention", cast); }
TORCH_LIBRARY_IMPL(saccade, AutocastCUDA, m) { m.impl("focal_attention", cast); }

}  // namespace saccade
