#pragma once

#include "common/saccade.h"

/* Greedy suppression of boxes whose IoU with a better one of their group, which stays, exceeds a
 * threshold, in every image of a batch. The boxes of a row are of groups side by side, class by
 * class. Boxes of group g are moved by g * (largest coordinate + 1) first, that of the boxes whose
 * scores are looked at; where coordinates are far below 0, groups touch. */
typedef struct {
  int64_t images, rows, classes;
  int per_class;         /* whether each class of a row has a box of its own */
  const float* boxes;    /* [images, rows, (classes,) 4]: x1, y1, x2, y2 */
  const float* scores;   /* [images, rows, classes] */
  const int64_t* groups; /* [rows], from 0: group * classes + class is before 2^31 */
  const int64_t* order;  /* [images, rows * classes]: positions in descending order of score, equal
                            ones in turn; for GPUs, where others sort better */
  float iou_threshold;
  float score_threshold; /* scores that are not greater are not looked at */
  int64_t max;           /* so many stay of an image at most */
  int64_t* keep;         /* [images, max]: positions of those that stay, best first, of equal ones
                            the first; the rest is left alone */
  int64_t* counts;       /* [images]: how many stay; -1 where a group is out of range */
} saccade_nms;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_nms_is_sound(const saccade_nms* a) {
  return a->images >= 0 && a->rows >= 0 && a->classes > 0 && a->max >= 0 && a->rows <= 0x7FFFFFFF &&
         a->classes <= 0x7FFFFFFF && a->rows * a->classes <= 0x7FFFFFFF;
}

SACCADE_C int saccade_nms_forward(const saccade_nms*);
SACCADE_C int saccade_nms_forward_cuda(const saccade_nms*, const saccade_cuda*);
