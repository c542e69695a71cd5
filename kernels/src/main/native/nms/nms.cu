// Greedy non-maximum suppression on a GPU. Boxes are laid out group by group, the best of a group
// first; every box marks, in a row of bits, which of its group after it overlap it too much; then a
// block walks through the boxes of a group, 64 at a time, and ors the rows of those that stay.

#include "cuda/device.cuh"
#include "nms/nms.h"

namespace {

constexpr int THREADS = 256;
constexpr int MARKERS = 128;
constexpr int WALKERS = 512;

// The least and the largest coordinate, or what is no number where there is one; and whether all
// groups can be counted.
struct Extent {
  float least, most;
  int sound;
};

__device__ Extent both(Extent a, Extent b) {
  return {b.least < a.least || b.least != b.least ? b.least : a.least,
          b.most > a.most || b.most != b.most ? b.most : a.most, a.sound & b.sound};
}

// The extent of those of all threads of a block, in every thread.
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

// Ascends where scores descend; what is no number comes first.
__device__ uint32_t key(float score) {
  const uint32_t bits = score != score ? 0x7FC00000 : __float_as_uint(score);
  return bits >> 31 ? bits : ~bits & 0x7FFFFFFF;
}

// The group that a box is held against: all are one unless those that are moved apart cannot touch.
__device__ uint32_t part(const saccade_nms& a, int i, Extent extent) {
  return extent.least > -1 ? static_cast<uint32_t>(a.groups[i]) : 0;
}

// The first place from which on the parts are not less than one.
__device__ int first_of(const uint32_t* parts, int n, uint64_t part) {
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (parts[middle] < part) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
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

}  // namespace

// The extents of shares of the boxes, one a block; and zeros for the counts that follow.
extern "C" __global__ void __launch_bounds__(THREADS)
    nms_extent(saccade_nms a, Extent* extents, int* places, int* ranks) {
  Extent mine = {0, 0, 1};
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < a.n; i += gridDim.x * THREADS) {
    for (int c = 0; c < 4; c++) mine = both(mine, {a.boxes[4 * i + c], a.boxes[4 * i + c], 1});
    mine.sound &= a.groups[i] >= 0 && a.groups[i] <= 0x7FFFFFFF;
    places[i] = ranks[i] = 0;
  }
  mine = of_block(mine);
  if (threadIdx.x == 0) extents[blockIdx.x] = mine;
}

// Counts which boxes come before each: of all by score, and group by group. A block holds some
// boxes against some others, of so many blocks of them.
extern "C" __global__ void __launch_bounds__(THREADS)
    nms_count(saccade_nms a, const Extent* extents, int shares, int blocks, int* places,
              int* ranks) {
  __shared__ uint32_t keys[THREADS], parts[THREADS];
  const Extent extent = of_block(threadIdx.x < shares ? extents[threadIdx.x] : Extent{0, 0, 1});
  const int i = blockIdx.x % blocks * THREADS + threadIdx.x;
  const int first = blockIdx.x / blocks * THREADS, other = first + threadIdx.x;
  if (other < a.n) {
    keys[threadIdx.x] = key(a.scores[other]);
    parts[threadIdx.x] = part(a, other, extent);
  }
  __syncthreads();
  if (i >= a.n) return;
  const uint32_t mine = key(a.scores[i]), group = part(a, i, extent);
  const int count = min(THREADS, static_cast<int>(a.n) - first);
  int place = 0, rank = 0;
#pragma unroll 8
  for (int j = 0; j < count; j++) {
    const bool before = keys[j] < mine || (keys[j] == mine && first + j < i);
    rank += before;
    place += parts[j] < group || (parts[j] == group && before);
  }
  atomicAdd(&places[i], place);
  atomicAdd(&ranks[i], rank);
}

// Lays the boxes out group by group, each moved as its group is. Where a group cannot be counted,
// -1 boxes stay.
extern "C" __global__ void __launch_bounds__(THREADS)
    nms_arrange(saccade_nms a, const Extent* extents, int shares, const int* places, float4* boxes,
                uint32_t* parts, int* from) {
  const Extent extent = of_block(threadIdx.x < shares ? extents[threadIdx.x] : Extent{0, 0, 1});
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i == 0) *a.kept = extent.sound ? 0 : -1;
  if (i >= a.n) return;
  const int to = places[i];
  const float away = __fmul_rn(static_cast<float>(a.groups[i]), extent.most + 1);
  const float* b = a.boxes + 4 * i;
  boxes[to] = {b[0] + away, b[1] + away, b[2] + away, b[3] + away};
  parts[to] = part(a, i, extent);
  from[to] = i;
}

// Marks which boxes of its group, 64 a word from the group's first on, each box from begin to
// before end overlaps too much. A row has so many words, which are shared out over so many blocks.
extern "C" __global__ void __launch_bounds__(MARKERS)
    nms_mark(const float4* boxes, const uint32_t* parts, int n, float threshold, int begin, int end,
             int words, int shares, uint64_t* marks) {
  const int i = begin + blockIdx.x / shares * MARKERS + threadIdx.x;
  if (i >= end) return;
  const uint64_t part = parts[i];
  const int first = first_of(parts, n, part), last = first_of(parts, n, part + 1);
  const float4 better = boxes[i];
  for (int w = (i - first) / 64 + blockIdx.x % shares; first + 64 * w < last; w += shares) {
    const int from = first + 64 * w, count = min(64, last - from);
    uint64_t bits = 0;
#pragma unroll 4
    for (int j = 0; j < count; j++) {
      bits |= static_cast<uint64_t>(from + j > i && overlap(better, boxes[from + j], threshold))
              << j;
    }
    marks[static_cast<int64_t>(i - begin) * words + w] = bits;
  }
}

namespace {

// What a block needs to walk through a group.
struct Walk {
  const uint64_t* marks;
  int begin, end, words;  // the boxes whose marks these are, and the words of a row
  const int *from, *ranks;
  uint64_t* gone;  // [n]: those of a group that are gone so far, from its first place on
  int* stays;      // [n]: by score, which box stays; -1 for those that do not
};

// Walks through the boxes of a group from first to before last, as far as they are marked.
__device__ void walk(const Walk& walk, int first, int last) {
  __shared__ uint64_t rows[64], kept;
  uint32_t* gone = reinterpret_cast<uint32_t*>(shared_memory());
  const int thread = threadIdx.x, lane = thread % 64, row = thread / 64 * 8;
  const int words = (last - first + 63) / 64, begin = max(first, walk.begin),
            end = min(last, walk.end);
  for (int w = thread; w < 2 * words; w += WALKERS) {
    gone[w] = begin == first ? 0 : static_cast<uint32_t>(walk.gone[first + w / 2] >> 32 * (w % 2));
  }
  for (int b = (begin - first) / 64; first + 64 * b < end; b++) {
    const int base = first + 64 * b, low = max(begin - base, 0), high = min(end - base, 64);
    const uint64_t* marks = walk.marks + static_cast<int64_t>(base - walk.begin) * walk.words;
    if (thread >= low && thread < high) rows[thread] = marks[thread * walk.words + b];
    __syncthreads();
    if (thread == 0) {
      const uint64_t all = high - low == 64 ? ~0ull : ((1ull << (high - low)) - 1) << low;
      uint64_t alive = all & ~(gone[2 * b] | static_cast<uint64_t>(gone[2 * b + 1]) << 32),
               stay = 0;
      while (alive != 0) {
        const uint64_t best = alive & -alive;
        stay |= best;
        alive &= ~(best | rows[__ffsll(best) - 1]);
      }
      kept = stay;
    }
    __syncthreads();
    const uint64_t stay = kept;
    if (thread >= low && thread < high) {
      const int i = walk.from[base + thread];
      walk.stays[walk.ranks[i]] = stay >> thread & 1 ? i : -1;
    }
    for (int w = b + lane; w < words; w += 64) {
      uint64_t bits = 0;
#pragma unroll
      for (int k = 0; k < 8; k++) {
        if (stay >> (row + k) & 1) bits |= marks[static_cast<int64_t>(row + k) * walk.words + w];
      }
      if (bits != 0) {
        atomicOr(&gone[2 * w], static_cast<uint32_t>(bits));
        atomicOr(&gone[2 * w + 1], static_cast<uint32_t>(bits >> 32));
      }
    }
  }
  __syncthreads();
  if (end < last) {
    for (int w = thread; w < words; w += WALKERS) {
      walk.gone[first + w] = gone[2 * w] | static_cast<uint64_t>(gone[2 * w + 1]) << 32;
    }
  }
  __syncthreads();
}

}  // namespace

// Walks through all groups of which a box between begin and end is the first: of 64 places a block.
extern "C" __global__ void __launch_bounds__(WALKERS, 2)
    nms_walk(const uint32_t* parts, int n, const uint64_t* marks, int begin, int end, int words,
             const int* from, const int* ranks, uint64_t* gone, int* stays) {
  const Walk some = {marks, begin, end, words, from, ranks, gone, stays};
  const int place = begin + blockIdx.x * 64;
  for (int i = place; i < min(place + 64, end);) {
    const uint64_t part = parts[i];
    const int last = first_of(parts, n, part + 1);
    if (i == begin || parts[i - 1] != part)
      walk(some, i == begin ? first_of(parts, n, part) : i, last);
    i = last;
  }
}

// Gathers the boxes that stay, the best first, in one block.
extern "C" __global__ void __launch_bounds__(1024) nms_gather(saccade_nms a, const int* stays) {
  __shared__ int votes[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (*a.kept < 0) return;
  int64_t kept = 0;
  for (int first = 0; first < a.n; first += 1024) {
    const int i = first + threadIdx.x < a.n ? stays[first + threadIdx.x] : -1;
    const unsigned ballot = __ballot_sync(0xFFFFFFFF, i >= 0);
    if (lane == 0) votes[warp] = __popc(ballot);
    __syncthreads();
    int64_t to = kept + __popc(ballot & ((1u << lane) - 1));
    for (int w = 0; w < 32; w++) {
      to += w < warp ? votes[w] : 0;
      kept += votes[w];
    }
    if (i >= 0) a.keep[to] = i;
    __syncthreads();
  }
  if (threadIdx.x == 0) *a.kept = kept;
}
