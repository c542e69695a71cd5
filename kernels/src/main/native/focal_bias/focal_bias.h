/* The bias of focal attention, looked up in its tables: for a token of a window, those of the
 * window and its ring, then the cells of every level. */
#pragma once

#include "common/saccade.h"

typedef struct {
  int64_t heads, window, expand;
  int64_t side;         /* of the table of the window, counted in distances */
  int64_t levels;
  const int64_t* cells; /* along a side, of each level */
  const float* own;     /* [side * side, heads] */
  const float* neighbors; /* [heads, window^2, neighbors], or null where there is no ring */
  const float* const* windows; /* of each level, [heads, (window + cells - 1)^2] */
  float* bias; /* [heads, window^2, keys]; going backward it is read */
  const float* d_bias; /* going backward: of the bias, and of the tables */
  float *d_own, *d_neighbors;
  float* const* d_windows;
} saccade_focal_bias;
