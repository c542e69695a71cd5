#pragma once

#include "common/saccade.h"

/* y[n,y,x,c] = sum_o (mul[o,c] softmax(logits)[n,y,x,g(c),o] + add[o,c]) v[n,(y,x) + dilation o,c];
 * zero outside of the map. */
typedef struct {
  saccade_type type;
  int64_t n, h, w, groups, depth; /* depth: channels of a group */
  int64_t kernel, dilation;
  const void* values; /* [n, h, w, groups * depth] */
  const void* logits; /* [n, h, w, groups, kernel^2] */
  const void* mul;    /* [kernel^2, groups * depth], of the type of sums; null: ones */
  const void* add;    /* the same; null: zeros */
  void* out;          /* forward: [n, h, w, groups * depth] */
  const void* d_out;  /* backward: the same */
  void* d_values;     /* backward */
  void* d_logits;     /* backward */
  void* d_mul; /* backward: [kernel^2, groups * depth], of the type of sums; null: not wanted */
  void* d_add; /* the same */
} saccade_elsa_attention;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_elsa_attention_is_sound(const saccade_elsa_attention* a) {
  return a->n >= 0 && a->h >= 0 && a->w >= 0 && a->groups > 0 && a->depth > 0 && a->kernel > 0 &&
         a->kernel % 2 == 1 && a->dilation > 0;
}

SACCADE_C int saccade_elsa_attention_forward(const saccade_elsa_attention*);
SACCADE_C int saccade_elsa_attention_backward(const saccade_elsa_attention*);
SACCADE_C int saccade_elsa_attention_forward_cuda(const saccade_elsa_attention*,
                                                  const saccade_cuda*);
SACCADE_C int saccade_elsa_attention_backward_cuda(const saccade_elsa_attention*,
                                                   const saccade_cuda*);
