// saccade::norms for torch.

#include "common/dispatch.h"
#include "common/operators.h"
#include "norms/norms.h"

SACCADE_DISPATCH(norms_forward, const saccade_norms)

namespace saccade {
namespace {

using at::Tensor;

Tensor norms(at::TensorList given) {
  TORCH_CHECK(!given.empty(), "saccade::norms: no tensors");
  std::vector<Tensor> kept;
  std::vector<int64_t> sizes;
  std::vector<const float*> values;
  for (const Tensor& x : given) {
    TORCH_CHECK(x.scalar_type() == at::kFloat, "saccade::norms: numbers of type ", x.scalar_type());
    kept.push_back(x.is_non_overlapping_and_dense() ? x : x.contiguous());
    sizes.push_back(x.numel());
    values.push_back(kept.back().const_data_ptr<float>());
  }
  const int64_t tensors = given.size();
  Tensor out = at::empty({1 + tensors}, given[0].options());
  saccade_norms a = {};
  a.tensors = tensors;
  a.size = sizes.data();
  a.values = values.data();
  a.out = out.data_ptr<float>();
  launch("norms", out, saccade_norms_forward, saccade_norms_forward_cuda, a);
  return out;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) { m.def("norms(Tensor[] x) -> Tensor"); }
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("norms", norms); }
TORCH_LIBRARY_IMPL(saccade, CUDA, m) { m.impl("norms", norms); }

}  // namespace saccade
