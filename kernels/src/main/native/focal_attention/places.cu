// Where an index lists what: the places of 1, 2, ... in it, one after another, in order.

#include "cuda/storage.cuh"

__device__ __forceinline__ int64_t thread_of_all() {
  return blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
}

// Counts how often each of so many rows is listed.
extern "C" __global__ void places_count(const int32_t* index, int64_t count, int64_t rows,
                                        int32_t* counts) {
  const int64_t i = thread_of_all();
  if (i < count && index[i] > 0 && index[i] <= rows) atomicAdd(counts + index[i] - 1, 1);
}

// Finds where the places of each row start, and their end: one block.
extern "C" __global__ void places_start(const int32_t* counts, int64_t rows, int32_t* starts) {
  int32_t* sums = reinterpret_cast<int32_t*>(shared_memory());
  const int64_t from = threadIdx.x * rows / blockDim.x, to = (threadIdx.x + 1) * rows / blockDim.x;
  int32_t sum = 0;
  for (int64_t row = from; row < to; row++) sum += counts[row];
  sums[threadIdx.x] = sum;
  __syncthreads();
  int32_t start = 0;
  for (unsigned thread = 0; thread < threadIdx.x; thread++) start += sums[thread];
  for (int64_t row = from; row < to; row++) {
    starts[row] = start;
    start += counts[row];
  }
  if (to == rows) starts[rows] = start;
}

// Lists the places of each row, in any order; takes the counts down to 0.
extern "C" __global__ void places_list(const int32_t* index, int64_t count, int64_t rows,
                                       const int32_t* starts, int32_t* counts, int32_t* places) {
  const int64_t i = thread_of_all();
  if (i >= count || index[i] <= 0 || index[i] > rows) return;
  places[starts[index[i] - 1] + atomicAdd(counts + index[i] - 1, -1) - 1] = static_cast<int32_t>(i);
}

// Sorts them, a thread for a row.
extern "C" __global__ void places_sort(int64_t rows, const int32_t* starts, int32_t* places) {
  const int64_t row = thread_of_all();
  if (row >= rows) return;
  for (int32_t i = starts[row] + 1; i < starts[row + 1]; i++) {
    const int32_t place = places[i];
    int32_t to = i;
    for (; to > starts[row] && places[to - 1] > place; to--) places[to] = places[to - 1];
    places[to] = place;
  }
}
