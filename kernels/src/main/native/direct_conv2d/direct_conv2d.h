/* Convolution for inference: out = act(conv(x) + bias + add).
 *
 * With 8-bit products, weights have a scale per output channel, and inputs are quantized per output
 * pixel: the values that its kernel covers are mapped to 0 to 255, so no calibration is needed. */
#pragma once

#include "common/saccade.h"

typedef enum {
  SACCADE_FLOAT_PRODUCTS,
  SACCADE_BFLOAT16_PRODUCTS,
  SACCADE_INT8_PRODUCTS
} saccade_products;

typedef enum { SACCADE_NO_ACTIVATION, SACCADE_RELU, SACCADE_GELU } saccade_activation;

typedef struct {
  saccade_type type; /* of x, add and y: float or bfloat16 */
  saccade_products products;
  int64_t n, h, w, in, out, kernel, stride, padding, dilation;
  int64_t out_h, out_w;
  saccade_activation activation;
  const void* x;       /* [n, h, w, in] */
  const float* weight; /* [out, in, kernel, kernel] to pack, null otherwise */
  void* packed;        /* weights of the type of the products, packed_count values */
  float* scales;       /* [2, padded out]: scale of 8-bit weights, and scale times their sum */
  const float* bias;   /* [out] */
  const void* add;     /* like y, or null */
  void* y;             /* [n, out_h, out_w, out] */
  int64_t packed_count, scale_count; /* results of saccade_direct_conv2d_size */
} saccade_direct_conv2d;

static inline int saccade_direct_conv2d_is_sound(const saccade_direct_conv2d* a) {
  return a->in > 0 && a->out > 0 && a->kernel > 0 &&
         (a->type == SACCADE_FLOAT || a->type == SACCADE_BFLOAT16) &&
         /* Sums of 8-bit products must fit into 32 bits. */
         (a->products != SACCADE_INT8_PRODUCTS || a->kernel * a->kernel * a->in <= 1 << 16);
}
