/* Every square of tokens becomes one, their sum weighted by position: the same for all channels. */
#pragma once

#include "common/saccade.h"

typedef struct {
  int64_t n, h, w, channels;
  int64_t part;        /* tokens along a side of a square; h and w are whole squares */
  const float* x;      /* [n, h, w, channels] */
  const float* weight; /* [part^2] */
  const float* bias;   /* [1] */
  float* y;            /* forward: [n, h / part, w / part, channels] */
  const float* d_y;    /* backward: the same */
  float* d_x;          /* backward: [n, h, w, channels] */
  float* d_weight;     /* backward: [part^2] */
  float* d_bias;       /* backward: [1] */
} saccade_window_pooling;
