#pragma once

#include "common/saccade.h"

/* Bilinear resizing of maps, and the best class of each pixel of the result. */
typedef struct {
  saccade_type type;         /* of the maps and the result: float or bfloat16 */
  int64_t n, h, w, channels; /* of the maps */
  int64_t height, width;     /* of the result */
  const void* map;           /* [n, h, w, channels] */
  const float* rows;         /* [height]: positions in the map, from 0 to h - 1 */
  const float* columns;      /* [width]: from 0 to w - 1 */
  void* out;                 /* [n, height, width, channels]; null to write only labels */
  uint8_t* labels;   /* [height, width, 2] of one map: the first channel with the largest value, low
                        byte   first; ignores NaN, 0 if all are NaN */
  int64_t label_row; /* bytes between rows of labels */
} saccade_bilinear_resize;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_bilinear_resize_is_sound(const saccade_bilinear_resize* a) {
  return a->n >= 0 && a->h > 0 && a->w > 0 && a->channels > 0 && a->height >= 0 && a->width >= 0 &&
         (a->type == SACCADE_FLOAT || a->type == SACCADE_BFLOAT16) &&
         (a->out != nullptr || (a->n == 1 && a->channels <= 1 << 16));
}

SACCADE_C int saccade_bilinear_resize_forward(const saccade_bilinear_resize*);
