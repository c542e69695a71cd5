#pragma once

#include "common/saccade.h"

/* softmax(scale q k^T + table) v for every head of every window. The map is padded at the bottom
 * and right to whole windows and rolled to the top left; what the roll brought beside a query from
 * the other side of the map gets -100 on its logit. */
typedef struct {
  saccade_type type;
  int64_t n, h, w, heads, depth; /* depth: channels of a head */
  int64_t rows, columns;         /* tokens of a window */
  int64_t down, right;           /* how far windows are shifted, less than that */
  int pads_first;                /* whether the map is padded before it is rolled */
  int64_t side;                  /* of the square of the table, odd */
  int64_t queries, keys, values; /* which third of the packed channels they are */
  double scale;
  const void* packed;  /* [n, h, w, 3, heads * depth] */
  const void* padding; /* [3, heads * depth]: what a padded token is */
  const void* table;   /* [side^2, heads], of the type of sums, row (dy + side / 2) side + dx +
                        * side / 2 for a query dy below and dx right of its key; null: zeros */
  void* out;           /* forward: [n, h, w, heads * depth] */
  const void* d_out;   /* backward: the same */
  void* d_packed;      /* backward */
  void* d_padding;     /* backward: [3, heads * depth], of the type of sums */
  void* d_table;       /* backward: [side^2, heads], of the type of sums; null: not wanted */
} saccade_window_attention;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_window_attention_is_sound(const saccade_window_attention* a) {
  const int64_t longest = a->rows > a->columns ? a->rows : a->columns;
  return a->n >= 0 && a->h >= 0 && a->w >= 0 && a->heads > 0 && a->depth > 0 && a->rows > 0 &&
         a->columns > 0 && a->down >= 0 && a->down < a->rows && a->right >= 0 &&
         a->right < a->columns &&
         (a->table == 0 || (a->side % 2 == 1 && a->side / 2 + 1 >= longest));
}

SACCADE_C int saccade_window_attention_forward(const saccade_window_attention*);
SACCADE_C int saccade_window_attention_backward(const saccade_window_attention*);
SACCADE_C int saccade_window_attention_forward_cuda(const saccade_window_attention*,
                                                    const saccade_cuda*);
SACCADE_C int saccade_window_attention_backward_cuda(const saccade_window_attention*,
                                                     const saccade_cuda*);
