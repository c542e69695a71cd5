#pragma once

#include "common/saccade.h"

/* Euclidean norms: that of all tensors as one vector, then that of each. Where the tensors are on a
 * GPU, the lists of them are not; nor are sizes, rates and decays below. */
typedef struct {
  int64_t tensors;
  const int64_t* size;        /* [tensors]: numbers of each */
  const float* const* values; /* [tensors][size] */
  float* out;                 /* [1 + tensors] */
} saccade_norms;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_norms_is_sound(const saccade_norms* a) { return a->tensors >= 0; }

SACCADE_C int saccade_norms_forward(const saccade_norms*);
SACCADE_C int saccade_norms_forward_cuda(const saccade_norms*, const saccade_cuda*);
