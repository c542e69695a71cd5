#pragma once

#include "common/saccade.h"

/* One step of AdamW, in place, for g = scale gradient:
 * mean = beta1 mean + (1 - beta1) g; square = beta2 square + (1 - beta2) g^2;
 * weight = (1 - rate decay) weight - rate / (1 - beta1^step) mean /
 *          (sqrt(square) / sqrt(1 - beta2^step) + epsilon);
 * average = average_decay average + (1 - average_decay) weight. */
typedef struct {
  int64_t tensors;
  const int64_t* size;          /* [tensors]: numbers of each */
  float* const* weight;         /* [tensors][size] */
  const float* const* gradient; /* the same */
  float* const* mean;           /* the same */
  float* const* square;         /* the same */
  float* const* average;        /* the same; null: none is kept */
  float* const* step;           /* [tensors][1]: steps taken, to which this one is added first */
  const double* rate;           /* [tensors] */
  const double* decay;          /* [tensors] */
  double beta1, beta2, epsilon;
  double scale; /* below 1 where gradients are clipped */
  double average_decay;
} saccade_adamw;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_adamw_is_sound(const saccade_adamw* a) { return a->tensors >= 0; }

SACCADE_C int saccade_adamw_step(const saccade_adamw*);
SACCADE_C int saccade_adamw_step_cuda(const saccade_adamw*, const saccade_cuda*);
