// saccade::adamw_ for torch.

#include "adamw/adamw.h"
#include "common/dispatch.h"
#include "common/operators.h"

SACCADE_DISPATCH(adamw_step, const saccade_adamw)

namespace saccade {
namespace {

using at::Tensor;
using at::TensorList;

// The numbers of tensors that lie in memory as the weights do.
std::vector<float*> pointers(TensorList tensors, TensorList weights, const char* name) {
  std::vector<float*> result;
  TORCH_CHECK(tensors.size() == weights.size(), "saccade::adamw_: ", tensors.size(), " ", name,
              " for ", weights.size(), " weights");
  for (size_t i = 0; i < tensors.size(); i++) {
    const Tensor &x = tensors[i], &weight = weights[i];
    TORCH_CHECK(x.scalar_type() == at::kFloat && x.is_non_overlapping_and_dense() &&
                    x.sizes() == weight.sizes() && x.strides() == weight.strides(),
                "saccade::adamw_: ", name, " ", i, " of ", x.scalar_type(), ", sizes ", x.sizes(),
                ", strides ", x.strides(), ", expected Float, ", weight.sizes(), ", ",
                weight.strides(), ", without gaps");
    result.push_back(x.data_ptr<float>());
  }
  return result;
}

std::vector<Tensor> laid_out_as(TensorList weights, TensorList gradients) {
  std::vector<Tensor> result = gradients.vec();
  for (size_t i = 0; i < std::min(weights.size(), result.size()); i++) {
    if (result[i].strides() != weights[i].strides()) {
      result[i] = at::empty_like(weights[i]).copy_(result[i]);
    }
  }
  return result;
}

void adamw_(TensorList weights, TensorList gradients, TensorList means, TensorList squares,
            TensorList steps, TensorList averages, const Tensor& rates, const Tensor& decays,
            double beta1, double beta2, double epsilon, double scale, double average_decay) {
  const int64_t tensors = weights.size();
  for (const Tensor& numbers : {rates, decays}) {
    TORCH_CHECK(numbers.is_cpu() && numbers.scalar_type() == at::kDouble &&
                    numbers.is_contiguous() && numbers.numel() == tensors,
                "saccade::adamw_: rates and decays of [", tensors,
                "] in Double expected, on the processor");
  }
  TORCH_CHECK(static_cast<int64_t>(steps.size()) == tensors,
              "saccade::adamw_: a count of steps for each weight expected");
  std::vector<int64_t> sizes;
  std::vector<float*> counts;
  for (int64_t i = 0; i < tensors; i++) {
    TORCH_CHECK(steps[i].scalar_type() == at::kFloat && steps[i].numel() == 1,
                "saccade::adamw_: a count of steps of one Float expected");
    sizes.push_back(weights[i].numel());
    counts.push_back(steps[i].data_ptr<float>());
    weights[i].unsafeGetTensorImpl()->bump_version();
  }
  const std::vector<Tensor> laid_out = laid_out_as(weights, gradients);
  const std::vector<float*> weight = pointers(weights, weights, "weights");
  const std::vector<float*> gradient = pointers(laid_out, weights, "gradients");
  const std::vector<float*> mean = pointers(means, weights, "means");
  const std::vector<float*> square = pointers(squares, weights, "squares");
  std::vector<float*> average;
  if (!averages.empty()) average = pointers(averages, weights, "averages");
  saccade_adamw a = {};
  a.tensors = tensors;
  a.size = sizes.data();
  a.weight = weight.data();
  a.gradient = gradient.data();
  a.mean = mean.data();
  a.square = square.data();
  a.step = counts.data();
  a.average = averages.empty() ? nullptr : average.data();
  a.rate = rates.data_ptr<double>();
  a.decay = decays.data_ptr<double>();
  a.beta1 = beta1;
  a.beta2 = beta2;
  a.epsilon = epsilon;
  a.scale = scale;
  a.average_decay = average_decay;
  if (tensors > 0) launch("adamw_", weights[0], saccade_adamw_step, saccade_adamw_step_cuda, a);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "adamw_(Tensor(a!)[] weights, Tensor[] gradients, Tensor(b!)[] means, Tensor(c!)[] squares, "
      "Tensor(d!)[] steps, Tensor(e!)[] averages, Tensor rates, Tensor decays, float beta1, float "
      "beta2, "
      "float epsilon, float scale, float average_decay) -> ()");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("adamw_", adamw_); }
TORCH_LIBRARY_IMPL(saccade, CUDA, m) { m.impl("adamw_", adamw_); }

}  // namespace saccade
