// Norms of many tensors on a GPU. Squares are added up block by block, in an order that is always
// the same.

#include "cuda/tensors.cuh"
#include "norms/norms_tensors.h"

namespace {

constexpr int THREADS = 256;

// The sum over a block, in every thread.
__device__ double sum_block(double x) {
  __shared__ double sums[THREADS];
  sums[threadIdx.x] = x;
  __syncthreads();
  for (int step = THREADS / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  return sums[0];
}

}  // namespace

// found: the squares of each block's numbers.
extern "C" __global__ void __launch_bounds__(THREADS)
    norms_blocks(NormTensors tensors, double* found) {
  const Chunk chunk = chunk_of_block(tensors);
  const float* values = tensors.of[chunk.tensor].values + chunk.start;
  float sum = 0;
  if (chunk.count == NormTensors::CHUNK && reinterpret_cast<uintptr_t>(values) % 16 == 0) {
#pragma unroll 8
    for (int i = threadIdx.x; i < NormTensors::CHUNK / 4; i += THREADS) {
      const float4 v = reinterpret_cast<const float4*>(values)[i];
      sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
  } else {
    for (int i = threadIdx.x; i < chunk.count; i += THREADS) sum += values[i] * values[i];
  }
  const double total = sum_block(sum);
  if (threadIdx.x == 0) found[blockIdx.x] = total;
}

// A block for each tensor; squares: of its numbers, norms: their roots.
extern "C" __global__ void __launch_bounds__(THREADS)
    norms_tensors(NormTensors tensors, const double* found, double* squares, float* norms) {
  const int t = blockIdx.x;
  double sum = 0;
  for (int b = tensors.first[t] + threadIdx.x; b < tensors.first[t + 1]; b += THREADS)
    sum += found[b];
  sum = sum_block(sum);
  if (threadIdx.x == 0) {
    squares[t] = sum;
    norms[t] = static_cast<float>(sqrt(sum));
  }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    norms_all(const double* squares, int tensors, float* norm) {
  double sum = 0;
  for (int t = threadIdx.x; t < tensors; t += THREADS) sum += squares[t];
  sum = sum_block(sum);
  if (threadIdx.x == 0) *norm = static_cast<float>(sqrt(sum));
}
