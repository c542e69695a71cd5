#pragma once

#include "common/saccade.h"

enum { SACCADE_LEVELS = 8 };

/* One level of a pyramid of maps. */
typedef struct {
  int64_t h, w;
  double scale;    /* cells a pixel */
  const void* map; /* forward: [n, h, w, channels] */
  void* d_map;     /* backward: the same; null: not wanted */
} saccade_level;

/* Means over the bins of regions, of values interpolated between the cells of a level (RoIAlign).
 */
typedef struct {
  saccade_type type;
  int64_t n, channels, levels, regions;
  int64_t height, width;               /* bins of a region */
  int64_t sampling_ratio;              /* points along each axis of a bin; 0: one a cell */
  int aligned;                         /* whether cells are centred at half-integers */
  saccade_level level[SACCADE_LEVELS]; /* the first levels of them */
  const void* rois;        /* [regions, 5]: image, x1, y1, x2, y2, of the type of sums */
  const int64_t* level_of; /* [regions] */
  void* out;               /* forward: [regions, height, width, channels]; on a GPU NaN for a region
                              of no image or level */
  const void* d_out;       /* backward: the same */
} saccade_roi_align;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_roi_align_is_sound(const saccade_roi_align* a) {
  if (a->n < 0 || a->channels < 0 || a->levels <= 0 || a->levels > SACCADE_LEVELS ||
      a->regions < 0 || a->height <= 0 || a->width <= 0 || a->sampling_ratio < 0) {
    return 0;
  }
  for (int64_t l = 0; l < a->levels; l++) {
    if (a->level[l].h < 0 || a->level[l].w < 0) return 0;
  }
  return 1;
}

SACCADE_C int saccade_roi_align_forward(const saccade_roi_align*);
SACCADE_C int saccade_roi_align_backward(const saccade_roi_align*);
SACCADE_C int saccade_roi_align_forward_cuda(const saccade_roi_align*, const saccade_cuda*);
SACCADE_C int saccade_roi_align_backward_cuda(const saccade_roi_align*, const saccade_cuda*);
