#pragma once

#include "common/saccade.h"

/* Maps of probabilities, interpolated over their boxes on a canvas with zeros around them, against
 * a threshold. */
typedef struct {
  int64_t n, h, w;       /* of the maps */
  int64_t height, width; /* of the canvas */
  float threshold;
  const float* masks; /* [n, h, w] */
  const float* boxes; /* [n, 4]: x1, y1, x2, y2, in pixels of the canvas */
  uint8_t* out;       /* [n, height, width]: 1 for at least the threshold, up to a pixel beyond
                         the box; else 0 */
} saccade_paste_masks;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_paste_masks_is_sound(const saccade_paste_masks* a) {
  return a->n >= 0 && a->h > 0 && a->w > 0 && a->height >= 0 && a->width >= 0;
}

SACCADE_C int saccade_paste_masks_forward(const saccade_paste_masks*);
SACCADE_C int saccade_paste_masks_forward_cuda(const saccade_paste_masks*, const saccade_cuda*);
