// The share of a block in a launch of many tensors.
#pragma once

#include "cuda/device.cuh"
#include "cuda/tensors.h"

// Numbers of a tensor.
struct Chunk {
  int tensor;
  int64_t start;
  int count;
};

// Those of a block.
template <class T>
__device__ Chunk chunk_of_block(const T& tensors) {
  int low = 0, high = tensors.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (tensors.first[middle] <= static_cast<int>(blockIdx.x)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const int64_t start = static_cast<int64_t>(blockIdx.x - tensors.first[low]) * T::CHUNK;
  const int64_t left = tensors.size[low] - start;
  return {low, start, left < T::CHUNK ? static_cast<int>(left) : T::CHUNK};
}
