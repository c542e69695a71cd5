// The gradients of the cells of a map on a GPU. Samples are listed by their square, in their order,
// and every cell takes what those of the four squares around it give: nothing is added up at
// random.

#include "deform_conv2d/deform_conv2d.cuh"

namespace {

// What the cells of a square get of a sample: its gradients, the at-th in the order of positions
// and taps, times their shares.
struct alignas(4 * sizeof(Sum)) Gift {
  Sum below, right, mask;
  int at;
};

// The squares of the images of a launch, for each group of channels that are moved together. There
// is a square to the left and above of every cell, and one more in each row and column.
__device__ __forceinline__ int square(const saccade_deform_conv2d& a, int image, int row,
                                      int column, int group) {
  const int height = static_cast<int>(a.h) + 1, width = static_cast<int>(a.w) + 1;
  return ((image * height + row + 1) * width + column + 1) * static_cast<int>(a.offset_groups) +
         group;
}

__device__ __forceinline__ int image_of(const saccade_deform_conv2d& a, int position) {
  return position / static_cast<int>(a.rows * a.columns);
}

__device__ __forceinline__ int thread() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

}  // namespace

// The square of every sample, -1 for none on the map, and its place among those of the square in an
// order that is not told; how many a square has.
extern "C" __global__ void __launch_bounds__(THREADS)
    deform_conv2d_count(saccade_deform_conv2d a, int first, int count, int* squares, int* places,
                        int* counts) {
  const int i = thread();
  if (i >= samples(a, count)) return;
  const Sample s = find_sample(a, first, i);
  const int image = s.image - image_of(a, first), group = i % static_cast<int>(a.offset_groups);
  squares[i] = -1;
  if (s.row == Sample::NOWHERE) return;
  squares[i] = square(a, image, s.row, s.column, group);
  places[i] = atomicAdd(counts + squares[i], 1);
}

// Gives every square room in a list, in any order.
extern "C" __global__ void __launch_bounds__(THREADS)
    deform_conv2d_room(const int* counts, int squares, int* total, int* starts) {
  const int i = thread(), lane = threadIdx.x % WARP;
  const int mine = i < squares ? counts[i] : 0;
  int sum = mine;
#pragma unroll
  for (int step = 1; step < WARP; step *= 2) {
    const int before = __shfl_up_sync(ALL, sum, step);
    if (lane >= step) sum += before;
  }
  int start = 0;
  if (lane == WARP - 1 && sum > 0) start = atomicAdd(total, sum);
  start = __shfl_sync(ALL, start, WARP - 1);
  if (i < squares) starts[i] = start + sum - mine;
}

// Lists the samples of every square.
extern "C" __global__ void __launch_bounds__(THREADS)
    deform_conv2d_list(saccade_deform_conv2d a, int count, const int* squares, const int* places,
                       const int* starts, int* list) {
  const int i = thread();
  if (i < samples(a, count) && squares[i] >= 0) list[starts[squares[i]] + places[i]] = i;
}

// Puts them in their order.
extern "C" __global__ void __launch_bounds__(THREADS)
    deform_conv2d_order(saccade_deform_conv2d a, int first, int count, const int* squares,
                        const int* counts, const int* starts, const int* list, Gift* gifts) {
  const int i = thread();
  if (i >= samples(a, count) || squares[i] < 0) return;
  const int start = starts[squares[i]], end = start + counts[squares[i]];
  int to = start;
  for (int j = start; j < end; j++) to += list[j] < i;
  const Sample s = find_sample(a, first, i);
  gifts[to] = {s.below, s.right, s.mask, i / static_cast<int>(a.offset_groups)};
}

// Adds to the gradients of the cells, a vector of channels a thread.
extern "C" __global__ void __launch_bounds__(THREADS)
    deform_conv2d_gather(saccade_deform_conv2d a, int first, int count, const int* counts,
                         const int* starts, const Gift* gifts, const Storage* columns) {
  const int all = static_cast<int>(a.channels / VECTOR), h = static_cast<int>(a.h);
  const int w = static_cast<int>(a.w), image = image_of(a, first);
  const int images = image_of(a, first + count - 1) - image + 1;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  const int cell = static_cast<int>(i / all),
            vector = static_cast<int>(i - static_cast<int64_t>(cell) * all);
  if (cell >= images * h * w) return;
  const int row = cell / w % h, x = cell % w, n = cell / w / h, channel = vector * VECTOR;
  const int group = vector / vectors(a);

  Vector sums = {};
  bool none = true;
  for (int k = 0; k < 4; k++) {
    const int from = square(a, n, row - k / 2, x - k % 2, group);
    const int start = starts[from], end = start + counts[from];
    none = none && start == end;
#pragma unroll 4
    for (int j = start; j < end; j++) {
      const Gift gift = gifts[j];
      const Sum share =
          (k / 2 ? gift.below : 1 - gift.below) * (k % 2 ? gift.right : 1 - gift.right) * gift.mask;
      add(sums, share, vector_if(share != 0, columns + column(a, count, gift.at, channel)));
    }
  }
  if (none) return;
  Sum* to = static_cast<Sum*>(a.d_x) + (static_cast<int64_t>(image) * h * w + cell) * a.channels +
            channel;
  const Vector before = load_vector_of_sums(to);
#pragma unroll
  for (int c = 0; c < VECTOR; c++) sums.at[c] += before.at[c];
  store_vector_of_sums(to, sums);
}
