// saccade::batch_norm for torch on CPUs, with its gradients.

#include <torch/csrc/autograd/custom_function.h>

#include "batch_norm/batch_norm.h"
#include "common/dispatch.h"
#include "common/operators.h"

SACCADE_DISPATCH(batch_norm_statistics, const saccade_batch_norm)
SACCADE_DISPATCH(batch_norm_forward, const saccade_batch_norm)
SACCADE_DISPATCH(batch_norm_backward, const saccade_batch_norm)

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using OptionalTensor = std::optional<Tensor>;

Tensor by_rows(const Tensor& x) { return x.contiguous(at::MemoryFormat::ChannelsLast); }

saccade_batch_norm arguments(const Tensor& x, const Tensor& weight, const Tensor& mean,
                             const Tensor& variance, double eps, bool relu) {
  saccade_batch_norm a = {};
  a.type = type_of(x);
  a.channels = x.size(1);
  a.rows = x.numel() / a.channels;
  a.eps = eps;
  a.relu = relu;
  a.x = data(x);
  a.weight = data(weight);
  a.mean = data(mean);
  a.variance = data(variance);
  return a;
}

// Computes the statistics of a batch and updates the running statistics.
void compute_statistics(const saccade_batch_norm& a, const Tensor& mean, const Tensor& variance,
                        const Tensor& running_mean, const Tensor& running_var, double momentum) {
  check(saccade_batch_norm_statistics(&a), "batch_norm");
  const double unbiased = static_cast<double>(a.rows) / std::max<int64_t>(a.rows - 1, 1);
  running_mean.lerp_(mean.to(running_mean.scalar_type()), momentum);
  running_var.lerp_((variance * unbiased).to(running_var.scalar_type()), momentum);
}

struct Normalized {
  Tensor x, out, mean, variance;
};

Normalized normalize(const Tensor& given, const OptionalTensor& residual, const Tensor& weight,
                     const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                     bool training, double momentum, double eps, bool relu) {
  TORCH_CHECK(given.dim() == 4 && given.numel() > 0 &&
                  weight.sizes() == given.sizes().slice(1, 1) && bias.sizes() == weight.sizes() &&
                  (!residual || residual->sizes() == given.sizes()),
              "saccade::batch_norm: x ", given.sizes(), ", weight ", weight.sizes(),
              ", expected [N, C, H, W] with values, [C], and a residual of the same size as x");
  const at::ScalarType type = sums(given);
  const Tensor w = weight.to(type).contiguous(), b = bias.to(type).contiguous();
  Normalized result;
  result.x = by_rows(given);
  result.mean = training ? at::empty_like(w) : running_mean.to(type).contiguous();
  result.variance = training ? at::empty_like(w) : running_var.to(type).contiguous();
  result.out = at::empty_like(result.x);
  const Tensor r = residual ? by_rows(residual->to(given.scalar_type())) : Tensor();
  saccade_batch_norm a = arguments(result.x, w, result.mean, result.variance, eps, relu);
  if (training) {
    compute_statistics(a, result.mean, result.variance, running_mean, running_var, momentum);
  }
  a.bias = data(b);
  a.residual = data(r);
  a.out = data(result.out);
  check(saccade_batch_norm_forward(&a), "batch_norm");
  return result;
}

class BatchNorm : public torch::autograd::Function<BatchNorm> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const OptionalTensor& residual,
                        const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                        const Tensor& running_var, bool training, double momentum, double eps,
                        bool relu) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const Normalized result = normalize(x, residual, weight, bias, running_mean, running_var,
                                        training, momentum, eps, relu);
    context->save_for_backward(
        {result.x, relu ? result.out : Tensor(), weight, result.mean, result.variance});
    context->saved_data["eps"] = eps;
    context->saved_data["relu"] = relu;
    context->saved_data["training"] = training;
    context->saved_data["residual"] = residual.has_value();
    return result.out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &out = saved[1], &weight = saved[2], &mean = saved[3],
                 &variance = saved[4];
    const bool relu = context->saved_data["relu"].toBool();
    const bool residual = context->saved_data["residual"].toBool();
    const Tensor w = weight.to(sums(x)).contiguous();
    const Tensor d_out = by_rows(gradients[0].to(x.scalar_type()));
    Tensor d_x = at::empty_like(x), d_residual, d_weight = at::empty_like(w),
           d_bias = at::empty_like(w);
    if (residual) d_residual = relu ? at::empty_like(x) : d_out;
    saccade_batch_norm a =
        arguments(x, w, mean, variance, context->saved_data["eps"].toDouble(), relu);
    a.is_constant = !context->saved_data["training"].toBool();
    a.out = data(out);
    a.d_out = data(d_out);
    a.d_x = data(d_x);
    a.d_residual = residual && relu ? data(d_residual) : nullptr;
    a.d_weight = data(d_weight);
    a.d_bias = data(d_bias);
    check(saccade_batch_norm_backward(&a), "batch_norm");
    const at::ScalarType type = weight.scalar_type();
    return {d_x,      d_residual, d_weight.to(type), d_bias.to(type), Tensor(),
            Tensor(), Tensor(),   Tensor(),          Tensor(),        Tensor()};
  }
};

Tensor batch_norm(const Tensor& x, const OptionalTensor& residual, const Tensor& weight,
                  const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                  bool training, double momentum, double eps, bool relu) {
  return normalize(x, residual, weight, bias, running_mean, running_var, training, momentum, eps,
                   relu)
      .out;
}

Tensor batch_norm_with_gradients(const Tensor& x, const OptionalTensor& residual,
                                 const Tensor& weight, const Tensor& bias,
                                 const Tensor& running_mean, const Tensor& running_var,
                                 bool training, double momentum, double eps, bool relu) {
  return BatchNorm::apply(x, residual, weight, bias, running_mean, running_var, training, momentum,
                          eps, relu);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "batch_norm(Tensor x, Tensor? residual, Tensor weight, Tensor bias, Tensor(a!) running_mean, "
      "Tensor(b!) running_var, bool training, float momentum, float eps, bool relu) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("batch_norm", batch_norm); }
TORCH_LIBRARY_IMPL(saccade, AutogradCPU, m) { m.impl("batch_norm", batch_norm_with_gradients); }

}  // namespace saccade
