#pragma once

#include "common/saccade.h"

/* Greedy suppression of boxes whose IoU with a better one of their group, which stays, exceeds a
 * threshold. Boxes of group g are moved by g * (largest coordinate + 1) first; where coordinates
 * are far below 0, groups touch. */
typedef struct {
  int64_t n;
  const float* boxes;    /* [n, 4]: x1, y1, x2, y2 */
  const float* scores;   /* [n] */
  const int64_t* groups; /* [n], from 0 to before 2^31 */
  float iou_threshold;
  int64_t* keep; /* [n]: those that stay, best first, of equal ones the first */
  int64_t* kept; /* how many stay; -1 where a group is out of range */
} saccade_nms;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_nms_is_sound(const saccade_nms* a) {
  return a->n >= 0 && a->n <= 0x7FFFFFFF;
}

SACCADE_C int saccade_nms_forward(const saccade_nms*);
SACCADE_C int saccade_nms_forward_cuda(const saccade_nms*, const saccade_cuda*);
