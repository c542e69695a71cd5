// What torch's autocast does around an operator.
#pragma once

#include <ATen/autocast_mode.h>

#include <optional>

#include "common/operators.h"

namespace saccade {

// While it lives, this thread is within an operator, where nothing is cast but by hand.
class Autocast {
 public:
  explicit Autocast(const at::Tensor& x)
      : device_(x.device().type()),
        type_(x.scalar_type() == at::kDouble ? at::kDouble
                                             : at::autocast::get_autocast_dtype(device_)),
        guard_(at::autocast::get_autocast_dispatch_key_from_device_type(device_)) {}

  // The type that this thread computes in; double stays what it is.
  at::ScalarType type() const { return type_; }

  // Numbers in this type.
  at::Tensor operator()(const at::Tensor& x) const {
    return at::autocast::cached_cast(type_, x, device_);
  }
  std::optional<at::Tensor> operator()(const std::optional<at::Tensor>& x) const {
    return x.has_value() && x->defined() ? std::optional((*this)(*x)) : x;
  }

 private:
  c10::DeviceType device_;
  at::ScalarType type_;
  c10::impl::ExcludeDispatchKeyGuard guard_;
};

}  // namespace saccade
