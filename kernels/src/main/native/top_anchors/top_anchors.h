#pragma once

#include "common/saccade.h"

/* Selects the anchors of a level whose best logit is largest. Rows [h, w, anchors] are in order of
 * their best logit, NaN first, then of their position. */
typedef struct {
  saccade_type type; /* float or bfloat16 */
  int64_t n, h, w, anchors, classes, stride;
  int64_t most;         /* rows to select, at most h * w * anchors */
  int64_t rows, first;  /* rows of the results per image, and the first one of this level */
  const void* logits;   /* [n, h, w, anchors, classes] */
  const void* deltas;   /* [n, h, w, anchors, 4] */
  const float* corners; /* [anchors, 4], of the first cell */
  float* top_scores;    /* [n, rows, classes], sigmoids of the logits */
  float* top_deltas;    /* [n, rows, 4] */
  float* top_anchors;   /* [n, rows, 4], corners */
} saccade_top_anchors;

/* Positions are 32-bit. */
static inline int saccade_top_anchors_is_sound(const saccade_top_anchors* a) {
  return a->classes > 0 && a->most >= 0 && a->h * a->w * a->anchors <= INT32_MAX &&
         a->most <= a->h * a->w * a->anchors && a->first + a->most <= a->rows &&
         (a->type == SACCADE_FLOAT || a->type == SACCADE_BFLOAT16);
}

SACCADE_C int saccade_top_anchors_forward(const saccade_top_anchors*);
