#pragma once

#include "common/saccade.h"

/* Maxima of square windows. */
typedef struct {
  saccade_type type; /* float or bfloat16 */
  int64_t n, h, w, channels, kernel, stride, padding, out_h, out_w;
  const void* x; /* [n, h, w, channels] */
  void* y;       /* [n, out_h, out_w, channels]; NaN where a window contains NaN */
} saccade_max_pool2d;

/* Padding below the size of a window leaves no window without values. */
static inline int saccade_max_pool2d_is_sound(const saccade_max_pool2d* a) {
  return a->kernel > 0 && a->stride > 0 && a->padding >= 0 && a->padding < a->kernel &&
         (a->type == SACCADE_FLOAT || a->type == SACCADE_BFLOAT16);
}

SACCADE_C int saccade_max_pool2d_forward(const saccade_max_pool2d*);
