// What operators ask of the ranks that compute together.
#pragma once

#include <string>

#include "common/operators.h"

namespace saccade {

// Sums over the ranks of a group, in place.
void all_reduce_(at::TensorList tensors, const std::string& name);

// Gives the tensors of all ranks of a group, [world, ...].
at::Tensor all_gather(const at::Tensor& x, const std::string& name);

}  // namespace saccade
