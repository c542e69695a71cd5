/* Many tensors in one launch: what is known of each is an argument of the kernel. */
#ifndef SACCADE_TENSORS_H
#define SACCADE_TENSORS_H

#include <stdint.h>

/* Blocks of so many numbers of up to MOST tensors; the blocks of tensor t begin at first[t]. */
template <class T, int MOST_, int CHUNK_>
struct Tensors {
  static constexpr int MOST = MOST_, CHUNK = CHUNK_;
  T of[MOST];
  int64_t size[MOST];
  int first[MOST + 1];
  int count;
};

struct AdamwTensor {
  float *weight, *mean, *square, *average, *step;
  const float* gradient;
  double rate, decay;
};
typedef Tensors<AdamwTensor, 48, 1024> AdamwTensors;

struct NormTensor {
  const float* values;
};
typedef Tensors<NormTensor, 128, 16384> NormTensors;

#ifdef SACCADE_DEVICE_CUH
/* Numbers of a tensor. */
struct Chunk {
  int tensor;
  int64_t start;
  int count;
};

/* Those of a block. */
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
#endif

#endif
