#pragma once

#include "common/saccade.h"

/* out = start + left right, matrices of every image. The types have one type of sums. */
typedef struct {
  saccade_type left_type, right_type, out_type;
  int64_t n, rows, columns, inner;
  int left_transposed, right_transposed; /* whether they are stored column by column */
  const void* left;                      /* [n, rows, inner]; transposed: [n, inner, rows] */
  const void* right;                     /* [n, inner, columns]; transposed: [n, columns, inner] */
  const void* start; /* [n, columns], the same for all rows, of the type of sums; null: zeros */
  void* out;         /* [n, rows, columns] */
} saccade_product;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_product_is_sound(const saccade_product* a) {
  const int doubles = a->out_type == SACCADE_DOUBLE;
  return a->n >= 0 && a->rows >= 0 && a->columns >= 0 && a->inner >= 0 &&
         (a->left_type == SACCADE_DOUBLE) == doubles &&
         (a->right_type == SACCADE_DOUBLE) == doubles;
}

SACCADE_C int saccade_product_forward(const saccade_product*);
