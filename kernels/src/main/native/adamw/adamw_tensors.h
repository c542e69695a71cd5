// What the kernels know of the tensors of a launch.
#pragma once

#include "cuda/tensors.h"

struct AdamwTensor {
  float *weight, *mean, *square, *average, *step;
  const float* gradient;
  double rate, decay;
};
typedef Tensors<AdamwTensor, 48, 1024> AdamwTensors;
