// saccade::elsa_attention for torch, with its gradients.

#include <torch/csrc/autograd/custom_function.h>

#include "common/autocast.h"
#include "common/dispatch.h"
#include "common/operators.h"
#include "elsa_attention/elsa_attention.h"

SACCADE_DISPATCH(elsa_attention_forward, const saccade_elsa_attention)
SACCADE_DISPATCH(elsa_attention_backward, const saccade_elsa_attention)

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The ghost head as the launchers read it, [kernel^2, C]; undefined where there is none.
Tensor ghost(const std::optional<Tensor>& given, const Tensor& values) {
  if (!given.has_value() || !given->defined()) return {};
  return given->to(sums(values)).t().contiguous();
}

saccade_elsa_attention arguments(const Tensor& values, const Tensor& logits, const Tensor& mul,
                                 const Tensor& add, int64_t kernel, int64_t dilation) {
  const int64_t groups = logits.size(3) / (kernel * kernel);
  saccade_elsa_attention a = {};
  a.type = type_of(values);
  a.n = values.size(0);
  a.h = values.size(1);
  a.w = values.size(2);
  a.groups = groups;
  a.depth = values.size(3) / groups;
  a.kernel = kernel;
  a.dilation = dilation;
  a.values = data(values);
  a.logits = data(logits);
  a.mul = data(mul);
  a.add = data(add);
  return a;
}

void check_inputs(const Tensor& values, const Tensor& logits, const std::optional<Tensor>& mul,
                  const std::optional<Tensor>& add, int64_t kernel, int64_t dilation) {
  TORCH_CHECK(kernel > 0 && kernel % 2 == 1 && dilation > 0, "saccade::elsa_attention: kernel ",
              kernel, ", dilation ", dilation);
  TORCH_CHECK(values.dim() == 4 && logits.dim() == 4 &&
                  values.sizes().slice(0, 3) == logits.sizes().slice(0, 3) && logits.size(3) > 0 &&
                  logits.size(3) % (kernel * kernel) == 0 && values.size(3) > 0 &&
                  values.size(3) % (logits.size(3) / (kernel * kernel)) == 0 &&
                  values.scalar_type() == logits.scalar_type(),
              "saccade::elsa_attention: values ", values.sizes(), ", logits ", logits.sizes(),
              " of kernel ", kernel);
  for (const auto& ghost : {mul, add}) {
    TORCH_CHECK(!ghost.has_value() || !ghost->defined() ||
                    (ghost->dim() == 2 && ghost->size(0) == values.size(3) &&
                     ghost->size(1) == kernel * kernel),
                "saccade::elsa_attention: a ghost head of [C, kernel^2] expected");
  }
}

Tensor forward(const Tensor& values, const Tensor& logits, const std::optional<Tensor>& mul,
               const std::optional<Tensor>& add, int64_t kernel, int64_t dilation) {
  check_inputs(values, logits, mul, add, kernel, dilation);
  const Tensor v = values.contiguous(), l = logits.contiguous();
  const Tensor m = ghost(mul, v), s = ghost(add, v);
  Tensor out = at::empty_like(v);
  saccade_elsa_attention a = arguments(v, l, m, s, kernel, dilation);
  a.out = data(out);
  launch("elsa_attention", v, saccade_elsa_attention_forward, saccade_elsa_attention_forward_cuda,
         a);
  return out;
}

class ElsaAttention : public torch::autograd::Function<ElsaAttention> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& values, const Tensor& logits,
                        const std::optional<Tensor>& mul, const std::optional<Tensor>& add,
                        int64_t kernel, int64_t dilation) {
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({values, logits, mul.value_or(Tensor()), add.value_or(Tensor())});
    context->saved_data["kernel"] = kernel;
    context->saved_data["dilation"] = dilation;
    return saccade::forward(values, logits, mul, add, kernel, dilation);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor values = saved[0].contiguous(), logits = saved[1].contiguous();
    const Tensor mul = ghost(saved[2], values), add = ghost(saved[3], values);
    const Tensor d_out = gradients[0].contiguous();
    Tensor d_values = at::empty_like(values), d_logits = at::empty_like(logits);
    Tensor d_mul = mul.defined() ? at::zeros_like(mul) : Tensor();
    Tensor d_add = add.defined() ? at::zeros_like(add) : Tensor();
    if (values.numel() > 0) {
      saccade_elsa_attention a =
          arguments(values, logits, mul, add, context->saved_data["kernel"].toInt(),
                    context->saved_data["dilation"].toInt());
      a.d_out = data(d_out);
      a.d_values = data(d_values);
      a.d_logits = data(d_logits);
      a.d_mul = data(d_mul);
      a.d_add = data(d_add);
      launch("elsa_attention", values, saccade_elsa_attention_backward,
             saccade_elsa_attention_backward_cuda, a);
    }
    auto as_given = [](const Tensor& d, const Tensor& given) {
      return d.defined() ? d.t().to(given.scalar_type()) : Tensor();
    };
    return {d_values, d_logits, as_given(d_mul, saved[2]), as_given(d_add, saved[3]),
            Tensor(), Tensor()};
  }
};

Tensor with_gradients(const Tensor& values, const Tensor& logits, const std::optional<Tensor>& mul,
                      const std::optional<Tensor>& add, int64_t kernel, int64_t dilation) {
  return ElsaAttention::apply(values, logits, mul, add, kernel, dilation);
}

Tensor cast(const Tensor& values, const Tensor& logits, const std::optional<Tensor>& mul,
            const std::optional<Tensor>& add, int64_t kernel, int64_t dilation) {
  const Autocast cast(values);
  return with_gradients(cast(values), cast(logits), mul, add, kernel, dilation);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "elsa_attention(Tensor values, Tensor logits, Tensor? mul, Tensor? add, int kernel, "
      "int dilation) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("elsa_attention", forward); }
TORCH_LIBRARY_IMPL(saccade, CUDA, m) { m.impl("elsa_attention", forward); }
TORCH_LIBRARY_IMPL(saccade, AutogradCPU, m) { m.impl("elsa_attention", with_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutogradCUDA, m) { m.impl("elsa_attention", with_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutocastCPU, m) { m.impl("elsa_attention", cast); }
TORCH_LIBRARY_IMPL(saccade, AutocastCUDA, m) { m.impl("elsa_attention", cast); }

}  // namespace saccade
