#pragma once

#include <stdint.h>

/* How far apart weights are as they are given, how many taps and channels an output has, and how
 * many they are in all. */
typedef struct {
  int64_t by_output, by_tap, by_channel;
  int64_t taps, channels, count;
} saccade_deform_conv2d_weights;
