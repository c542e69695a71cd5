/* x Phi(x), the exact form of GELU with the error function. */
#pragma once

#include "common/saccade.h"

typedef struct {
  int64_t count;
  const float* x;
  const float* d_out; /* going backward */
  float* out;         /* forward: the result; backward: the gradient of x */
} saccade_gelu;
