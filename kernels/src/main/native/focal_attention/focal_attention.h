#pragma once

#include "common/saccade.h"

/* out = softmax(q k^T / sqrt(depth) + bias + mask) v of the tokens of every window, over the keys
 * that the index lists for the window. */
typedef struct {
  saccade_type type;
  int64_t n, h, w, heads, depth;
  int64_t window; /* tokens along a side; h and w are whole windows */
  int64_t cells, keys;
  int64_t masks;        /* rows of the mask of a window: 1 or window^2 */
  const void* qkv;      /* [n, h, w, 3, heads, depth] */
  const void* pooled;   /* [n, cells, 3, heads, depth]; the queries are not used */
  const void* bias;     /* [heads, window^2, keys], of the type of sums */
  const int32_t* index; /* [windows, keys]: 0 for zeros, 1 for the first token, then the cells */
  const void* mask;     /* [windows, masks, keys], of the type of sums */
  void* out;            /* forward: [n, h, w, heads, depth] */
  const void* d_out;    /* backward: the same */
  void* d_qkv;          /* backward: [n, h, w, 3, heads, depth] */
  void* d_pooled;       /* backward: [n, cells, 3, heads, depth] */
  void* d_bias;         /* backward: [heads, window^2, keys], of the type of sums */
} saccade_focal_attention;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_focal_attention_is_sound(const saccade_focal_attention* a) {
  return a->n >= 0 && a->h >= 0 && a->w >= 0 && a->heads > 0 && a->depth > 0 && a->window > 0 &&
         a->h % a->window == 0 && a->w % a->window == 0 && a->cells >= 0 && a->keys > 0 &&
         (a->masks == 1 || a->masks == a->window * a->window);
}

SACCADE_C int saccade_focal_attention_forward(const saccade_focal_attention*);
SACCADE_C int saccade_focal_attention_backward(const saccade_focal_attention*);
SACCADE_C int saccade_focal_attention_forward_cuda(const saccade_focal_attention*,
                                                   const saccade_cuda*);
SACCADE_C int saccade_focal_attention_backward_cuda(const saccade_focal_attention*,
                                                    const saccade_cuda*);
