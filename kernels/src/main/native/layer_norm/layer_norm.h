#pragma once

#include "common/saccade.h"

/* out = (s - mean) scale weight + bias over the channels of every row of s = x + residual, where
 * scale is 1 / sqrt(variance + eps). */
typedef struct {
  saccade_type type;   /* of out and residual, and of their gradients */
  saccade_type stream; /* of x, sum and their gradients: the same, or float beside 16 bits */
  int64_t rows, channels;
  double eps;
  const void* x;        /* [rows, channels]; backward: s */
  const void* residual; /* forward: the same; null: zeros */
  const void* weight;   /* [channels], of the type of sums */
  const void* bias;     /* forward: the same */
  void* sum;            /* forward: s, where there is a residual */
  void* out;            /* forward: [rows, channels] */
  void* mean;        /* [rows], of the type of sums: forward gives it, backward takes it; null: not
                      * wanted */
  void* scale;       /* the same */
  const void* d_out; /* backward: [rows, channels] */
  const void* d_sum; /* backward: what is added to the gradient of s; null: zeros */
  void* d_x;         /* backward: gradient of s */
  void* d_residual;  /* backward: the same once more; null: not wanted */
  void* d_weight;    /* backward: [channels], of the type of sums; added to */
  void* d_bias;      /* the same */
} saccade_layer_norm;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_layer_norm_is_sound(const saccade_layer_norm* a) {
  return a->rows >= 0 && a->channels > 0 &&
         (a->stream == a->type ||
          (a->stream == SACCADE_FLOAT && (a->type == SACCADE_HALF || a->type == SACCADE_BFLOAT16)));
}

SACCADE_C int saccade_layer_norm_forward(const saccade_layer_norm*);
SACCADE_C int saccade_layer_norm_backward(const saccade_layer_norm*);
SACCADE_C int saccade_layer_norm_forward_cuda(const saccade_layer_norm*, const saccade_cuda*);
SACCADE_C int saccade_layer_norm_backward_cuda(const saccade_layer_norm*, const saccade_cuda*);
