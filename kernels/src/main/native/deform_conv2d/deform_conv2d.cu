// The samples of a deformable convolution on a GPU: what they are, and the gradients of where they
// are taken from. So many lanes, LANES, read the channels of a sample.

#include "deform_conv2d/deform_conv2d.cuh"

namespace {

constexpr int TOGETHER = 64;  // samples of a block

// Calls f(sample, lane) for the samples of a block.
template <class F>
__device__ __forceinline__ void each_sample(const saccade_deform_conv2d& a, int first, int count,
                                            F f) {
  __shared__ Reading readings[TOGETHER];
  const int begin = blockIdx.x * TOGETHER, most = min(TOGETHER, samples(a, count) - begin);
  for (int i = threadIdx.x; i < most; i += THREADS) {
    readings[i] = reading(a, first, begin + i);
  }
  __syncthreads();
  for (int i = threadIdx.x / LANES; i < most; i += THREADS / LANES) {
    f(readings[i], static_cast<int>(threadIdx.x % LANES));
  }
}

// The channels of the cells of a sample.
struct Square {
  Vector at[4];

  __device__ Square(const saccade_deform_conv2d& a, const Reading& s, int channel) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int64_t cell = s.cells[k];
      at[k] = vector_if(cell >= 0, static_cast<const Storage*>(a.x) + cell * a.channels + channel);
    }
  }

  __device__ Vector sample(const Reading& s) const {
    Vector sum = {};
#pragma unroll
    for (int k = 0; k < 4; k++) add(sum, s.share(k) * s.mask, at[k]);
    return sum;
  }
};

// The sum over the lanes of a sample.
__device__ __forceinline__ Sum lane_sum(Sum x) {
  const unsigned lanes = ALL >> (WARP - LANES) << (threadIdx.x % WARP / LANES * LANES);
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) x += __shfl_xor_sync(lanes, x, step);
  return x;
}

}  // namespace

// Samples the map, times the masks.
extern "C" __global__ void __launch_bounds__(THREADS)
    deform_conv2d_sample(saccade_deform_conv2d a, int first, int count, Storage* columns) {
  each_sample(a, first, count, [&](const Reading& s, int lane) {
    for (int v = lane; v < vectors(a); v += LANES) {
      const int channel = s.channel + v * VECTOR;
      store_vector(columns + column(a, count, s.at, channel), Square(a, s, channel).sample(s));
    }
  });
}

// Sums up the gradients of offsets and masks from those of the samples, and puts the samples in the
// place of the latter where these are wanted.
extern "C" __global__ void __launch_bounds__(THREADS)
    deform_conv2d_move(saccade_deform_conv2d a, int first, int count, Storage* columns,
                       int wanted) {
  const int size = static_cast<int>(a.rows * a.columns);
  each_sample(a, first, count, [&](const Reading& s, int lane) {
    Sum by_cell[4] = {};
    for (int v = lane; v < vectors(a); v += LANES) {
      const int channel = s.channel + v * VECTOR;
      Storage* at = columns + column(a, count, s.at, channel);
      const Vector gradient = load_vector(at);
      const Square square(a, s, channel);
#pragma unroll
      for (int k = 0; k < 4; k++) {
#pragma unroll
        for (int c = 0; c < VECTOR; c++) by_cell[k] += gradient.at[c] * square.at[k].at[c];
      }
      if (wanted) store_vector(at, square.sample(s));
    }
#pragma unroll
    for (int k = 0; k < 4; k++) by_cell[k] = lane_sum(by_cell[k]);
    if (lane != 0) return;
    if (a.d_offset != nullptr) {
      Sum* to = static_cast<Sum*>(a.d_offset) + 2 * s.plane + s.place;
      const Sum left = by_cell[2] - by_cell[0], right = by_cell[3] - by_cell[1];
      const Sum top = by_cell[1] - by_cell[0], low = by_cell[3] - by_cell[2];
      to[0] = s.mask * ((1 - s.right) * left + s.right * right);
      to[size] = s.mask * ((1 - s.below) * top + s.below * low);
    }
    if (a.d_mask != nullptr) {
      Sum sum = 0;
#pragma unroll
      for (int k = 0; k < 4; k++) sum += s.share(k) * by_cell[k];
      static_cast<Sum*>(a.d_mask)[s.plane + s.place] = sum;
    }
  });
}
