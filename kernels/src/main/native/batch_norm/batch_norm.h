#pragma once

#include "common/saccade.h"

/* out = (x - mean) scale weight + bias + residual per channel, then ReLU if asked for, where scale
 * is 1 / sqrt(variance + eps). */
typedef struct {
  saccade_type type; /* of x, residual and out, and of their gradients */
  int64_t rows, channels;
  double eps;
  int relu;             /* whether to apply ReLU last */
  int is_constant;      /* backward: whether mean and variance do not depend on x */
  const void* x;        /* [rows, channels] */
  const void* residual; /* forward: the same; null: zeros */
  const void* weight;   /* [channels], of the type of sums */
  const void* bias;     /* forward: the same */
  void* mean;           /* [channels], of the type of sums */
  void* variance;       /* the same, biased */
  void* out;            /* forward: [rows, channels]; backward: with relu, else null */
  const void* d_out;    /* backward: [rows, channels] */
  void* d_x;            /* backward: the same */
  void* d_residual;     /* backward: the same; null: not wanted */
  void* d_weight;       /* backward: [channels], of the type of sums */
  void* d_bias;         /* the same */
} saccade_batch_norm;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_batch_norm_is_sound(const saccade_batch_norm* a) {
  return a->rows > 0 && a->channels > 0;
}

/* Computes mean and variance. */
SACCADE_C int saccade_batch_norm_statistics(const saccade_batch_norm*);
SACCADE_C int saccade_batch_norm_forward(const saccade_batch_norm*);
SACCADE_C int saccade_batch_norm_backward(const saccade_batch_norm*);
