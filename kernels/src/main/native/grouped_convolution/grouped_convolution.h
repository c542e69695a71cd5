#pragma once

#include "common/saccade.h"

/* y[n,y,x,c] = bias[c] + sum_(o,i) weight[c,i,o] x[n,(y,x) + o,g(c) width + i]: a convolution of
 * narrow groups that keeps the size of the map; zero outside of it. */
typedef struct {
  saccade_type type;
  int64_t n, h, w, groups,
      width;          /* width: channels of a group, 1, 2, 4, or 8 where sums are float */
  int64_t kernel;     /* odd */
  const void* x;      /* [n, h, w, groups * width] */
  const void* weight; /* [kernel^2, width, groups * width], of the type of sums: by offset,
                         input of a group, output; for the gradient of x: by offset flipped, output
                         of a group, input */
  const void* bias;   /* [groups * width], of the type of sums; null: zeros */
  void* out;          /* forward */
  const void* d_out;  /* gradient of the weight: that of the output */
  void* d_weight;     /* gradient of the weight, shaped as it */
} saccade_grouped_convolution;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_grouped_convolution_is_sound(const saccade_grouped_convolution* a) {
  return a->n >= 0 && a->h >= 0 && a->w >= 0 && a->groups > 0 && a->width > 0 && a->kernel > 0 &&
         a->kernel % 2 == 1;
}

SACCADE_C int saccade_grouped_convolution_forward(const saccade_grouped_convolution*);
SACCADE_C int saccade_grouped_convolution_weight(const saccade_grouped_convolution*);
SACCADE_C int saccade_grouped_convolution_forward_cuda(const saccade_grouped_convolution*,
                                                       const saccade_cuda*);
SACCADE_C int saccade_grouped_convolution_weight_cuda(const saccade_grouped_convolution*,
                                                      const saccade_cuda*);
