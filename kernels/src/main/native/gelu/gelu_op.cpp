// saccade::gelu for torch, with its gradient: on CPUs, in float and bfloat16.

#include "gelu/gelu.h"

#include <torch/csrc/autograd/custom_function.h>

#include "common/dispatch.h"
#include "common/operators.h"

SACCADE_DISPATCH(gelu_forward, const saccade_gelu)
SACCADE_DISPATCH(gelu_backward, const saccade_gelu)

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensor run(const Tensor& given, const Tensor& gradient) {
  const at::ScalarType type = given.scalar_type();
  TORCH_CHECK(type == at::kFloat || type == at::kBFloat16, "saccade::gelu: numbers of type ", type,
              ", expected Float or BFloat16");
  const Tensor x = given.contiguous();
  const Tensor d_out = gradient.defined() ? gradient.to(type).contiguous() : Tensor();
  const Tensor out = at::empty_like(x);
  const saccade_gelu a = {type_of(x), x.numel(), data(x), data(d_out), data(out)};
  check(d_out.defined() ? saccade_gelu_backward(&a) : saccade_gelu_forward(&a), "gelu");
  return out;
}

Tensor gelu(const Tensor& x) { return run(x, {}); }

class Gelu : public torch::autograd::Function<Gelu> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({x});
    return saccade::gelu(x);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {run(context->get_saved_variables()[0], gradients[0])};
  }
};

Tensor gelu_with_gradient(const Tensor& x) { return Gelu::apply(x); }

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) { m.def("gelu(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("gelu", gelu); }
TORCH_LIBRARY_IMPL(saccade, AutogradCPU, m) { m.impl("gelu", gelu_with_gradient); }

}  // namespace saccade
