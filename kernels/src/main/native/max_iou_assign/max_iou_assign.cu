// Which object each box should learn, by IoU, on a GPU: a thread for a box. Nothing depends on the
// order of the threads: of the largest numbers it does not matter who came first.

#include "cuda/device.cuh"
#include "max_iou_assign/max_iou_assign.h"

namespace {

constexpr int THREADS = 256;

// The smaller and the larger, or what is no number.
__device__ float lesser(float a, float b) { return a < b || a != a ? a : b; }
__device__ float greater(float a, float b) { return a > b || a != a ? a : b; }

__device__ float4 box(const float* boxes, int64_t i) {
  const float* b = boxes + 4 * i;
  return {b[0], b[1], b[2], b[3]};
}

__device__ float area(float4 b) { return __fmul_rn(b.z - b.x, b.w - b.y); }

// Nothing is fused, because the last bit decides ties.
__device__ float iou(float4 o, float4 b) {
  const float w = lesser(o.z, b.z) - greater(o.x, b.x);
  const float h = lesser(o.w, b.w) - greater(o.y, b.y);
  const float shared = __fmul_rn(w, h);
  if (w <= 0 || h <= 0 || shared == 0) return 0;
  const float whole = area(o) + area(b) - shared;
  return shared / (whole < 1e-6f ? 1e-6f : whole);
}

// The box of a thread.
struct Mine {
  int64_t i;
  bool looked;
  float4 corners;

  __device__ explicit Mine(const saccade_max_iou_assign& a)
      : i(static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x) {
    looked = i < a.n && !(a.skip && a.skip[i]);
    corners = box(a.boxes, i < a.n ? i : 0);
  }

  __device__ float iou_with(const saccade_max_iou_assign& a, int64_t g) const {
    return iou(box(a.objects, g), corners);
  }
};

}  // namespace

// The best object of each box, and of each object the bits of its best IoU.
extern "C" __global__ void __launch_bounds__(THREADS)
    max_iou_overlaps(saccade_max_iou_assign a, int* most, int*) {
  const Mine mine(a);
  if (mine.i >= a.n) return;
  float best = mine.looked ? 0.f : -1.f;
  int64_t of = 0;
  for (int64_t g = 0; mine.looked && g < a.k; g++) {
    const float found = mine.iou_with(a, g);
    if (!(found > 0)) continue;
    if (found > best) {
      best = found;
      of = g;
    }
    if (__float_as_int(found) > most[g]) atomicMax(&most[g], __float_as_int(found));
  }
  const bool background = best >= 0 && best < a.neg_iou;
  a.gt_inds[mine.i] = best >= a.pos_iou ? of + 1 : background ? 0 : -1;
  a.max_overlaps[mine.i] = best;
}

// Gives every object all of its best boxes, the later objects last.
extern "C" __global__ void __launch_bounds__(THREADS)
    max_iou_match(saccade_max_iou_assign a, const int* most, int*) {
  const Mine mine(a);
  for (int64_t g = a.k - 1; mine.looked && g >= 0; g--) {
    const float wanted = __uint_as_float(static_cast<uint32_t>(most[g]));
    if (wanted >= a.min_pos_iou && mine.iou_with(a, g) == wanted) {
      a.gt_inds[mine.i] = g + 1;
      return;
    }
  }
}

// How many boxes there are from the first of the best of each object on.
extern "C" __global__ void __launch_bounds__(THREADS)
    max_iou_find_first(saccade_max_iou_assign a, const int* most, int* before) {
  const Mine mine(a);
  const int left = static_cast<int>(a.n - mine.i);
  for (int64_t g = 0; mine.looked && g < a.k; g++) {
    const float wanted = __uint_as_float(static_cast<uint32_t>(most[g]));
    if (wanted >= a.min_pos_iou && left > before[g] &&
        (wanted == 0 || mine.iou_with(a, g) == wanted)) {
      atomicMax(&before[g], left);
    }
  }
}

// Gives every object the first of its best boxes, the later objects last.
extern "C" __global__ void __launch_bounds__(THREADS)
    max_iou_match_first(saccade_max_iou_assign a, const int*, const int* before) {
  const Mine mine(a);
  for (int64_t g = a.k - 1; mine.looked && g >= 0; g--) {
    if (before[g] == a.n - mine.i) {
      a.gt_inds[mine.i] = g + 1;
      return;
    }
  }
}
