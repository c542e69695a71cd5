#pragma once

#include "common/saccade.h"

/* Which object each of many boxes should learn, by IoU. Of objects that overlap a box alike the
 * first counts; what is no number overlaps nothing. */
typedef struct {
  int64_t n, k;
  const float* boxes;   /* [n, 4]: x1, y1, x2, y2 */
  const float* objects; /* [k, 4] */
  const uint8_t* skip;  /* [n]: 1 for boxes that are not looked at; may be null */
  float pos_iou, neg_iou, min_pos_iou;
  int match_low_quality; /* whether every object takes its best boxes, the later objects last */
  int gt_max_assign_all; /* whether all of them that tie, or the first alone */
  int64_t* gt_inds;      /* [n]: -1 not trained, 0 background, i + 1 object i */
  float* max_overlaps;   /* [n]: -1 for boxes that are not looked at */
} saccade_max_iou_assign;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_max_iou_assign_is_sound(const saccade_max_iou_assign* a) {
  return a->n >= 0 && a->n < 0x7FFFFFFF && a->k >= 0 && a->k < 0x7FFFFFFF;
}

SACCADE_C int saccade_max_iou_assign_forward(const saccade_max_iou_assign*);
SACCADE_C int saccade_max_iou_assign_forward_cuda(const saccade_max_iou_assign*,
                                                  const saccade_cuda*);
