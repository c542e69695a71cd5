/* Winograd convolution F(4x4, 3x3), stride 1, for inference: out = act(conv(x) + bias + add). */
#pragma once

#include "common/saccade.h"

/* Output pixels and input pixels along a side of a tile. */
#define SACCADE_WINOGRAD_OUT 4
#define SACCADE_WINOGRAD_IN 6

typedef struct {
  saccade_type type;     /* of x, add and y: float or bfloat16 */
  saccade_type products; /* of transformed inputs and weights: float or, with AVX-512, bfloat16 */
  int64_t n, h, w, in, out, padding;
  int relu;
  const void* x;        /* [n, h, w, in] */
  const float* weight;  /* [out, in, 3, 3] to transform, null otherwise */
  void* packed;         /* transformed weights, saccade_winograd_conv2d_size() values */
  const float* bias;    /* [out], or null */
  const void* add;      /* like y, or null */
  void* y;              /* [n, h + 2 padding - 2, w + 2 padding - 2, out] */
  int64_t packed_count; /* result of saccade_winograd_conv2d_size */
} saccade_winograd_conv2d;

static inline int saccade_winograd_conv2d_is_sound(const saccade_winograd_conv2d* a) {
  return a->in > 0 && a->out > 0 && (a->type == SACCADE_FLOAT || a->type == SACCADE_BFLOAT16) &&
         (a->products == SACCADE_FLOAT || a->products == SACCADE_BFLOAT16);
}
