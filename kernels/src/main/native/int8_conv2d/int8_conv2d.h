/* Convolution with 8-bit products, for inference: out = act(conv(x) + bias + add).
 *
 * Weights have a scale per output channel. Inputs are quantized per output pixel: the values that
 * its kernel covers are mapped to 0 to 255, so no calibration is needed. */
#pragma once

#include "common/saccade.h"

typedef struct {
  saccade_type type; /* of x, add and y: float or bfloat16 */
  int64_t n, h, w, in, out, kernel, stride, padding, dilation;
  int64_t out_h, out_w;
  int relu;
  const void* x;       /* [n, h, w, in] */
  const float* weight; /* [out, in, kernel, kernel] to quantize, null otherwise */
  int8_t* packed;      /* quantized weights, saccade_int8_conv2d_size() values */
  float* scales;       /* [2, padded out]: scale, and scale times the sum of the weights */
  const float* bias;   /* [out] */
  const void* add;     /* like y, or null */
  void* y;             /* [n, out_h, out_w, out] */
  int64_t packed_count, scale_count; /* results of saccade_int8_conv2d_size */
} saccade_int8_conv2d;

static inline int saccade_int8_conv2d_is_sound(const saccade_int8_conv2d* a) {
  /* Sums of products must fit into 32 bits. */
  return a->in > 0 && a->out > 0 && a->kernel > 0 && a->kernel * a->kernel * a->in <= 1 << 16 &&
         (a->type == SACCADE_FLOAT || a->type == SACCADE_BFLOAT16);
}
