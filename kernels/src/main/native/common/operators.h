// What the operators share in handing tensors of torch to the launchers.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

#include <vector>

#include "common/saccade.h"

namespace saccade {

inline saccade_type type_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return SACCADE_FLOAT;
    case at::kDouble:
      return SACCADE_DOUBLE;
    case at::kHalf:
      return SACCADE_HALF;
    case at::kBFloat16:
      return SACCADE_BFLOAT16;
    default:
      TORCH_CHECK(false, "saccade: numbers of type ", type, " are not supported");
  }
}

inline at::ScalarType scalar_type(saccade_type type) {
  switch (type) {
    case SACCADE_DOUBLE:
      return at::kDouble;
    case SACCADE_HALF:
      return at::kHalf;
    case SACCADE_BFLOAT16:
      return at::kBFloat16;
    default:
      return at::kFloat;
  }
}

inline saccade_type type_of(const at::Tensor& t) { return type_of(t.scalar_type()); }

// The type that sums are in.
inline at::ScalarType sums(const at::Tensor& t) {
  return t.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

inline void* data(const at::Tensor& t) { return t.defined() ? t.data_ptr() : nullptr; }

inline void check(int status, const char* name) {
  TORCH_CHECK(status == 0, "saccade::", name, ": the launcher refused, status ", status);
}

// Multiplies matrices that lie on a device.
inline void multiply(const saccade_multiplication& m, at::Device device) {
  const auto options = at::device(device).dtype(scalar_type(m.type));
  auto tensor = [&](const saccade_matrices& x, int64_t rows, int64_t columns) {
    return at::for_blob(x.data, {m.batch, rows, columns})
        .strides({x.batch, x.row, x.column})
        .options(options)
        .target_device(device)
        .make_tensor();
  };
  const at::Tensor left = tensor(m.left, m.rows, m.inner),
                   right = tensor(m.right, m.inner, m.columns);
  at::Tensor to = tensor(m.to, m.rows, m.columns);
  if (m.start.data == nullptr) {
    at::bmm_out(to, left, right);
  } else {
    at::baddbmm_out(to, tensor(m.start, m.rows, m.columns), left, right);
  }
}

// The stream that torch works in on a GPU, and why a launcher for GPUs refused.
void* cuda_stream(int device);
const char* cuda_error();

// Runs an operator on the device that a tensor is on: a launcher, and the same for GPUs.
template <class A>
void launch(const char* name, const at::Tensor& on, int (*launcher)(const A*),
            int (*for_gpus)(const A*, const saccade_cuda*), const A& arguments) {
  if (!on.is_cuda()) return check(launcher(&arguments), name);
  struct Scratch {
    at::TensorOptions options;
    std::vector<at::Tensor> kept;
  } scratch = {on.options().dtype(at::kByte), {}};
  saccade_cuda cuda = {};
  cuda.device = on.get_device();
  cuda.stream = cuda_stream(cuda.device);
  cuda.context = &scratch;
  cuda.allocate = [](void* context, int64_t bytes) {
    Scratch& s = *static_cast<Scratch*>(context);
    s.kept.push_back(at::empty({bytes}, s.options));
    return s.kept.back().data_ptr();
  };
  cuda.multiply = [](void* context, const saccade_multiplication* m) {
    multiply(*m, static_cast<Scratch*>(context)->options.device());
  };
  const int status = for_gpus(&arguments, &cuda);
  TORCH_CHECK(status == 0, "saccade::", name, ": the launcher refused, status ", status, ": ",
              cuda_error());
}

}  // namespace saccade
