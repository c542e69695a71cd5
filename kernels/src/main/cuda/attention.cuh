// Attention of QUERIES tokens to KEYS others, of DEPTH channels; BACKWARD: its gradients. TILED: on tensor
// cores.
#pragma once

#include "attention_sizes.cuh"
#include "storage.cuh"

constexpr AttentionSizes SIZES = {QUERIES, KEYS, DEPTH, sizeof(Storage), sizeof(Sum), BACKWARD};
constexpr int THREADS = SIZES.threads(TILED);
constexpr int MEMORY = SIZES.memory(TILED);

// A part of some windows.
struct Range {
  int start, end;

  __device__ __forceinline__ Range(int part, int parts, int count)
      : start(part * (count / parts) + min(part, count % parts)), end(start + count / parts + (part < count % parts)) {}
};

#if !TILED
#include "attention_lanes.cuh"
#elif BACKWARD
#include "attention_tiles_backward.cuh"
#else
#include "attention_tiles.cuh"
#endif
