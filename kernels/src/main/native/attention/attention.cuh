// Attention of QUERIES tokens to KEYS others, of DEPTH channels; BACKWARD: its gradients. TILED: on
// tensor cores.
#pragma once

#include "attention/attention_sizes.h"
#include "cuda/storage.cuh"

constexpr AttentionSizes SIZES = {QUERIES, KEYS, DEPTH, sizeof(Storage), sizeof(Sum), BACKWARD};
constexpr int THREADS = SIZES.threads(TILED);
constexpr int MEMORY = SIZES.memory(TILED);

// A part of some windows.
struct Range {
  int start, end;

  __device__ __forceinline__ Range(int part, int parts, int count)
      : start(part * (count / parts) + min(part, count % parts)),
        end(start + count / parts + (part < count % parts)) {}
};

#if !TILED
#include "attention/attention_lanes.cuh"
#elif BACKWARD
#include "attention/attention_tiles_backward.cuh"
#else
#include "attention/attention_tiles.cuh"
#endif
