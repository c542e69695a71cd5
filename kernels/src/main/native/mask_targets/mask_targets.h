#pragma once

#include "common/saccade.h"

/* Regions of bitmaps, brought to one size by RoIAlign, against one half. */
typedef struct {
  int64_t n, h, w; /* of the bitmaps */
  int64_t regions, side;
  const uint8_t* masks;   /* [n, h, w]: 0 or 1 */
  const int64_t* sizes;   /* [n, 2]: height and width that each bitmap fills from its top left */
  const float* boxes;     /* [regions, 4]: x1, y1, x2, y2, in pixels; what is outside is cut off */
  const int64_t* mask_of; /* [regions] */
  float* out;             /* [regions, side, side]: 0 or 1 */
} saccade_mask_targets;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_mask_targets_is_sound(const saccade_mask_targets* a) {
  return a->n >= 0 && a->h >= 0 && a->w >= 0 && a->regions >= 0 && a->side > 0;
}

SACCADE_C int saccade_mask_targets_forward(const saccade_mask_targets*);
SACCADE_C int saccade_mask_targets_forward_cuda(const saccade_mask_targets*, const saccade_cuda*);
