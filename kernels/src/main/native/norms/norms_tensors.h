// What the kernels know of the tensors of a launch.
#pragma once

#include "cuda/tensors.h"

struct NormTensor {
  const float* values;
};
typedef Tensors<NormTensor, 128, 16384> NormTensors;
