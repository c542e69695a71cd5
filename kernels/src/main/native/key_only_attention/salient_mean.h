#pragma once

#include "common/saccade.h"

/* mean[n,h] = sum_t softmax_t(saliency[h] x[n,t]) x[n,t]: the mean over the tokens of an image, by
 * what is salient to a head. */
typedef struct {
  saccade_type type;
  int64_t n, tokens, heads, channels;
  const void* x;        /* [n, tokens, channels] */
  const void* saliency; /* [heads, channels], of the type of sums */
  void* mean;           /* [n, heads, channels], of the type of sums */
  void* level;        /* [n, heads], of the type of sums: logarithms of the sums of exponentials */
  const void* d_mean; /* backward: as mean */
  void* d_x;          /* backward: added to */
  void* d_saliency;   /* backward: [n, heads, channels], of the type of sums, for every image */
} saccade_salient_mean;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_salient_mean_is_sound(const saccade_salient_mean* a) {
  return a->n >= 0 && a->tokens >= 0 && a->heads > 0 && a->channels > 0;
}

SACCADE_C int saccade_salient_mean_forward(const saccade_salient_mean*);
SACCADE_C int saccade_salient_mean_backward(const saccade_salient_mean*);
SACCADE_C int saccade_salient_mean_forward_cuda(const saccade_salient_mean*, const saccade_cuda*);
SACCADE_C int saccade_salient_mean_backward_cuda(const saccade_salient_mean*, const saccade_cuda*);
