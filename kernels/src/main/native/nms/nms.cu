// Greedy non-maximum suppression on a GPU. A block walks through the boxes of an image, the best
// first, 64 at a time: each is held against those that stay so far, then against the better ones of
// the 64. It ends when enough stay, or scores are too low, so that most boxes are never looked at.

#include "cuda/device.cuh"
#include "nms/nms.h"

namespace {

constexpr int THREADS = 512, CHUNK = 64, SHARES = THREADS / CHUNK;

// The least and the largest coordinate, or what is no number where there is one.
struct Extent {
  float least, most;
};

__device__ Extent both(Extent a, Extent b) {
  return {b.least < a.least || b.least != b.least ? b.least : a.least,
          b.most > a.most || b.most != b.most ? b.most : a.most};
}

// The extent of those of all threads of the block, in every thread.
__device__ Extent of_block(Extent mine) {
  __shared__ Extent all[THREADS];
  all[threadIdx.x] = mine;
  __syncthreads();
  for (int step = THREADS / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) all[threadIdx.x] = both(all[threadIdx.x], all[threadIdx.x + step]);
    __syncthreads();
  }
  return all[0];
}

__device__ float larger(float a, float b) { return a > b ? a : b; }
__device__ float smaller(float a, float b) { return a < b ? a : b; }
__device__ float area(float4 box) { return __fmul_rn(box.z - box.x, box.w - box.y); }

// Whether the IoU of a box with a better one exceeds a threshold; nothing is fused, because the
// last bit decides close cases.
__device__ bool overlap(float4 better, float4 box, float threshold) {
  const float w = smaller(better.z, box.z) - larger(better.x, box.x);
  const float h = smaller(better.w, box.w) - larger(better.y, box.y);
  const float shared = __fmul_rn(larger(w, 0), larger(h, 0));
  const float allowed = __fmul_rn(threshold, area(better) + area(box) - shared);
  return shared > larger(0, allowed);
}

// The boxes of an image.
struct Image {
  const float *boxes, *scores;
  const int64_t *groups, *order;
  int64_t classes, pairs;
  int per_class;
  float threshold;

  __device__ Image(const saccade_nms& a, int64_t n)
      : groups(a.groups),
        classes(a.classes),
        pairs(a.rows * a.classes),
        per_class(a.per_class),
        threshold(a.score_threshold) {
    boxes = a.boxes + n * (a.per_class ? pairs : a.rows) * 4;
    scores = a.scores + n * pairs;
    order = a.order + n * pairs;
  }

  // Whether there is an i-th best box; then so there is with all before it.
  __device__ bool has(int64_t i) const { return i < pairs && scores[order[i]] > threshold; }

  __device__ float4 box(int64_t i) const {
    const float* b = boxes + 4 * (per_class ? order[i] : order[i] / classes);
    return {b[0], b[1], b[2], b[3]};
  }

  __device__ int64_t group(int64_t i) const {
    return groups[order[i] / classes] * classes + order[i] % classes;
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    nms(saccade_nms a, float4* kept_boxes, int64_t* kept_groups) {
  __shared__ float4 boxes[CHUNK];
  __shared__ int64_t groups[CHUNK];
  __shared__ uint32_t gone[2], worse[2 * CHUNK], stay[2];
  const int64_t n = blockIdx.x;
  const Image image(a, n);
  kept_boxes += n * a.max;
  kept_groups += n * a.max;
  Extent mine = {0, 0};
  for (int64_t i = threadIdx.x; image.has(i); i += THREADS) {
    const float4 b = image.box(i);
    mine = both(mine, both(both({b.x, b.x}, {b.y, b.y}), both({b.z, b.z}, {b.w, b.w})));
  }
  const Extent extent = of_block(mine);
  // Where no coordinate is far below 0, groups that are moved apart cannot touch.
  const bool apart = extent.least > -1;
  const int lane = threadIdx.x % CHUNK, share = threadIdx.x / CHUNK;
  int64_t kept = 0;
  bool more = true;
  for (int64_t first = 0; more && kept < a.max; first += CHUNK) {
    const bool there = image.has(first + lane);
    if (share == 0) {
      if (there) {
        const float4 b = image.box(first + lane);
        groups[lane] = image.group(first + lane);
        const float away = __fmul_rn(static_cast<float>(groups[lane]), extent.most + 1);
        boxes[lane] = {b.x + away, b.y + away, b.z + away, b.w + away};
      }
      worse[lane] = worse[CHUNK + lane] = 0;
      if (lane < 2) gone[lane] = 0;
    }
    __syncthreads();
    if (there) {
      const float4 box = boxes[lane];
      const int64_t group = groups[lane];
      bool out = false;
      for (int64_t k = share; k < kept && !out; k += SHARES) {
        out = (!apart || kept_groups[k] == group) && overlap(kept_boxes[k], box, a.iou_threshold);
      }
      if (out) atomicOr(&gone[lane / 32], 1u << lane % 32);
      for (int j = share; j < lane; j += SHARES) {
        if ((!apart || groups[j] == group) && overlap(boxes[j], box, a.iou_threshold)) {
          atomicOr(&worse[2 * j + lane / 32], 1u << lane % 32);
        }
      }
    } else if (share == 0) {
      atomicOr(&gone[lane / 32], 1u << lane % 32);
    }
    more = __syncthreads_and(there);
    if (threadIdx.x == 0) {
      uint32_t out[2] = {gone[0], gone[1]};
      int64_t left = a.max - kept;
      stay[0] = stay[1] = 0;
      for (int i = 0; i < CHUNK && left > 0; i++) {
        if (out[i / 32] >> i % 32 & 1) continue;
        stay[i / 32] |= 1u << i % 32;
        out[0] |= worse[2 * i];
        out[1] |= worse[2 * i + 1];
        left--;
      }
    }
    __syncthreads();
    if (share == 0 && stay[lane / 32] >> lane % 32 & 1) {
      const int before = (lane < 32 ? 0 : __popc(stay[0])) +
                         __popc(stay[lane / 32] & ((1u << lane % 32) - 1));
      kept_boxes[kept + before] = boxes[lane];
      kept_groups[kept + before] = groups[lane];
      a.keep[n * a.max + kept + before] = image.order[first + lane];
    }
    kept += __popc(stay[0]) + __popc(stay[1]);
    __syncthreads();
  }
  if (threadIdx.x == 0) a.counts[n] = kept;
}
