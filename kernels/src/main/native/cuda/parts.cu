// Adds up what parts of some work have found, in their order.

#include "cuda/storage.cuh"

extern "C" __global__ void add_parts(const Sum* found, Sum* to, int64_t parts, int64_t count) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Sum total = 0;
  for (int64_t part = 0; part < parts; part++) total += found[part * count + i];
  to[i] = total;
}
