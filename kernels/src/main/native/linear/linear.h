/* The gradients of a linear layer by its weight and bias. */
#pragma once

#include "common/saccade.h"

typedef struct {
  int64_t rows, in, out;
  const float* x;     /* [rows, in] */
  const float* d_out; /* [rows, out] */
  float* d_weight;    /* [out, in] */
  float* d_bias;      /* [out], or null */
} saccade_linear;

static inline int saccade_linear_is_sound(const saccade_linear* a) {
  return a->rows >= 0 && a->in > 0 && a->out > 0;
}
