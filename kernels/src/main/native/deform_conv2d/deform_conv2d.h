#pragma once

#include "common/saccade.h"

/* A convolution whose taps read the map where offsets move them to, between four cells, times a
 * mask (deformable convolution, Dai et al. 2017, Zhu et al. 2019). Cells beyond the map are 0. */
typedef struct {
  saccade_type type;
  int64_t n, h, w, channels, out_channels;
  int64_t groups;        /* of channels and outputs that do not see each other */
  int64_t offset_groups; /* of channels that are moved together */
  int64_t kernel_h, kernel_w, rows, columns; /* taps of the kernel, positions of the output */
  int64_t stride_y, stride_x, padding_y, padding_x, dilation_y, dilation_x;
  const void* x;      /* [n, h, w, channels] */
  const void* offset; /* [n, offset_groups, taps, 2, rows, columns], down and to the right, of the
                         type of sums, as all that follows but out and d_out */
  const void* mask;   /* [n, offset_groups, taps, rows, columns]; null: ones */
  const void* weight; /* [out_channels, channels / groups, taps] */
  const void* bias;   /* forward: [out_channels]; null: zeros */
  void* out;          /* forward: [n, rows, columns, out_channels] */
  const void* d_out;  /* backward: the same */
  void* d_x;          /* backward: [n, h, w, channels]; null, as those that follow: not wanted */
  void* d_offset;     /* backward: as offset */
  void* d_mask;       /* backward: as mask */
  void* d_weight;     /* backward: as weight */
} saccade_deform_conv2d;

/* Whether a launcher can work with the numbers among the arguments. */
static inline int saccade_deform_conv2d_is_sound(const saccade_deform_conv2d* a) {
  return a->n >= 0 && a->h > 0 && a->w > 0 && a->h < 1ll << 31 && a->w < 1ll << 31 &&
         a->channels > 0 && a->out_channels > 0 && a->groups > 0 && a->offset_groups > 0 &&
         a->channels % a->groups == 0 && a->out_channels % a->groups == 0 &&
         a->channels % a->offset_groups == 0 && a->kernel_h > 0 && a->kernel_w > 0 && a->rows > 0 &&
         a->columns > 0 && a->stride_y > 0 && a->stride_x > 0 && a->padding_y >= 0 &&
         a->padding_x >= 0 && a->dilation_y > 0 && a->dilation_x > 0;
}

SACCADE_C int saccade_deform_conv2d_forward(const saccade_deform_conv2d*);
SACCADE_C int saccade_deform_conv2d_backward(const saccade_deform_conv2d*);
SACCADE_C int saccade_deform_conv2d_forward_cuda(const saccade_deform_conv2d*, const saccade_cuda*);
SACCADE_C int saccade_deform_conv2d_backward_cuda(const saccade_deform_conv2d*,
                                                  const saccade_cuda*);
