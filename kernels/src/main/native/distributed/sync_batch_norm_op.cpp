// saccade::sync_batch_norm for torch, with its gradients: batch normalization by what the batches
// of all ranks have in common.
//
// A rank may have other images than the rest, of other sizes, or none. Autograd goes backward in
// the opposite order of the forward pass, so that all ranks sum for the same layer at a time.

#include <torch/csrc/autograd/custom_function.h>

#include "common/autocast.h"
#include "distributed/process_group.h"

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using OptionalTensor = std::optional<Tensor>;

Tensor of_channels(const Tensor& numbers) { return numbers.view({1, -1, 1, 1}); }

Tensor of_samples(const Tensor& numbers) { return numbers.view({-1, 1, 1, 1}); }

Tensor compact(const Tensor& x) { return x.contiguous(x.suggest_memory_format()); }

// Of each channel: mean and biased variance in the type of sums, and the number of values.
struct Statistics {
  Tensor count, mean, var;
};

Tensor sum(const Tensor& x, const OptionalTensor& share) {
  return (share ? x * *share : x).sum({0, 2, 3}, false, sums(x)).to(at::kDouble);
}

// Of the samples of this rank that weigh 1, in double.
Statistics own_statistics(const Tensor& x, const OptionalTensor& weights) {
  const Tensor samples = weights ? weights->sum(at::kDouble)
                                 : at::full({}, x.size(0), x.options().dtype(at::kDouble));
  const OptionalTensor share = weights ? OptionalTensor(of_samples(*weights)) : std::nullopt;
  const Tensor count = samples * (x.size(2) * x.size(3)), n = count.clamp_min(1);
  const Tensor mean = sum(x, share) / n;
  const Tensor centred = x - of_channels(mean.to(sums(x)));
  return {count, mean, sum(centred.square_(), share) / n};
}

// Of the samples of all ranks; the same on all of them to the last bit.
Statistics statistics(const Tensor& x, const OptionalTensor& weights, const std::string& group) {
  const Statistics own = own_statistics(x, weights);
  const Tensor all = all_gather(at::cat({own.count.view({1}), own.mean, own.var}), group);
  const int64_t channels = x.size(1);
  const Tensor counts = all.narrow(1, 0, 1), count = counts.sum(), n = count.clamp_min(1);
  const Tensor means = all.narrow(1, 1, channels), vars = all.narrow(1, 1 + channels, channels);
  const Tensor mean = (counts * means).sum(0) / n;
  const Tensor var = (counts * (vars + (means - mean).square())).sum(0) / n;
  return {count, mean.to(sums(x)), var.to(sums(x))};
}

// Moves what is kept for inference, an unbiased variance; of no sample nothing is kept.
void keep(const Statistics& found, const Tensor& running_mean, const Tensor& running_var,
          double momentum) {
  const Tensor share = (found.count > 0).to(running_mean.scalar_type()) * momentum;
  const Tensor unbiased = found.var * (found.count / (found.count - 1).clamp_min(1));
  running_mean.lerp_(found.mean.to(running_mean.scalar_type()), share);
  running_var.lerp_(unbiased.to(running_var.scalar_type()), share);
}

// (x - mean) / sqrt(var + eps) * weight + bias
Tensor normalize(const Tensor& x, const Tensor& mean, const Tensor& var, double eps,
                 const Tensor& weight, const Tensor& bias) {
  if (x.numel() == 0) return at::empty_like(x);
  return std::get<0>(at::native_batch_norm(compact(x), weight.to(mean.scalar_type()),
                                           bias.to(mean.scalar_type()), mean, var, false, 0, eps));
}

class SyncBatchNorm : public torch::autograd::Function<SyncBatchNorm> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const OptionalTensor& weights,
                        const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                        const Tensor& running_var, double momentum, double eps,
                        const std::string& group) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const Statistics found = statistics(x, weights, group);
    keep(found, running_mean, running_var, momentum);
    context->save_for_backward(
        {x, weights.value_or(Tensor()), weight, found.mean, found.var, found.count});
    context->saved_data["eps"] = eps;
    context->saved_data["group"] = group;
    return normalize(x, found.mean, found.var, eps, weight, bias);
  }

  // The gradients of weight and bias are those of this rank's output alone.
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weights = saved[1], &weight = saved[2], &mean = saved[3],
                 &var = saved[4], &count = saved[5];
    const double eps = context->saved_data["eps"].toDouble();
    const Tensor d_out = gradients[0].contiguous(x.suggest_memory_format());
    Tensor d_weight = at::zeros_like(mean), d_bias = at::zeros_like(mean);
    if (x.numel() > 0) {
      std::tie(std::ignore, d_weight, d_bias) = at::native_batch_norm_backward(
          d_out, compact(x), weight.to(mean.scalar_type()), mean, var, {}, {}, false, eps,
          {false, true, true});
    }
    const Tensor all = at::stack({d_weight, d_bias}).to(at::kDouble);
    all_reduce_({all}, group(context));
    const Tensor scale = weight * (var + eps).rsqrt();
    const Tensor by_statistics = (all / count.clamp_min(1)).to(mean.scalar_type()) * -scale;
    Tensor d_x = normalize(x, mean, var, eps, by_statistics[0], by_statistics[1]);
    if (weights.defined()) d_x.mul_(of_samples(weights));
    d_x.addcmul_(d_out, of_channels(scale));
    const at::ScalarType type = weight.scalar_type();
    return {d_x,      Tensor(), d_weight.to(type), d_bias.to(type), Tensor(),
            Tensor(), Tensor(), Tensor(),          Tensor()};
  }

 private:
  static std::string group(AutogradContext* context) {
    return context->saved_data["group"].toStringRef();
  }
};

Tensor sync_batch_norm(const Tensor& x, const OptionalTensor& weights, const Tensor& weight,
                       const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                       double momentum, double eps, const std::string& group) {
  TORCH_CHECK(x.dim() == 4 && weight.sizes() == x.sizes().slice(1, 1),
              "saccade::sync_batch_norm: x ", x.sizes(), ", weight ", weight.sizes(),
              ", expected [N, C, H, W] and [C]");
  return SyncBatchNorm::apply(x, weights, weight, bias, running_mean, running_var, momentum, eps,
                              group);
}

// As torch's batch_norm: in the type of x, with statistics in float.
Tensor sync_batch_norm_cast(const Tensor& x, const OptionalTensor& weights, const Tensor& weight,
                            const Tensor& bias, const Tensor& running_mean,
                            const Tensor& running_var, double momentum, double eps,
                            const std::string& group) {
  const Autocast within(x);
  return sync_batch_norm(x, weights, weight, bias, running_mean, running_var, momentum, eps, group);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "sync_batch_norm(Tensor x, Tensor? weights, Tensor weight, Tensor bias, "
      "Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps, str group) "
      "-> Tensor",
      sync_batch_norm);
}
TORCH_LIBRARY_IMPL(saccade, AutocastCPU, m) { m.impl("sync_batch_norm", sync_batch_norm_cast); }
TORCH_LIBRARY_IMPL(saccade, AutocastCUDA, m) { m.impl("sync_batch_norm", sync_batch_norm_cast); }

}  // namespace saccade
