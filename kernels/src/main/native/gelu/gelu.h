/* x Phi(x), the exact form of GELU with the error function. */
#pragma once

#include "common/saccade.h"

typedef struct {
  saccade_type type; /* float or bfloat16 */
  int64_t count;
  const void* x;
  const void* d_out; /* going backward */
  void* out;         /* forward: the result; backward: the gradient of x */
} saccade_gelu;
