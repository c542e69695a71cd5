// Greedy non-maximum suppression on a GPU: what is launched in turn, without waiting for it.

#include <algorithm>

#include "cuda/cuda.h"
#include "nms/nms.h"

namespace {

using namespace saccade::cuda;

constexpr int THREADS = 256, MARKERS = 128, WALKERS = 512;  // of a block, as in nms.cu
constexpr int64_t WORDS = 1 << 23;                          // of marks at a time, at most: 64 MB

}  // namespace

extern "C" int saccade_nms_forward_cuda(const saccade_nms* arguments, const saccade_cuda* cuda) {
  const saccade_nms& a = *arguments;
  if (!saccade_nms_is_sound(&a) || a.n > 1 << 24) return -1;
  if (a.n == 0) return zero(*cuda, a.kept, sizeof *a.kept);
  const int n = static_cast<int>(a.n), blocks = static_cast<int>(ceil_div(n, THREADS));
  const int shares = std::min(blocks, 64), words = static_cast<int>(ceil_div(n, 64));
  const int together =
      static_cast<int>(std::clamp<int64_t>(WORDS / words, 64, n));  // rows of marks at a time
  auto allocate = [&](int64_t bytes) { return cuda->allocate(cuda->context, bytes); };
  void* boxes = allocate(16 * a.n);
  int* places = static_cast<int*>(allocate(5 * a.n * static_cast<int64_t>(sizeof(int))));
  uint64_t* gone =
      static_cast<uint64_t*>(allocate(8 * (a.n + static_cast<int64_t>(together) * words)));
  void* extents = allocate(shares * 12);
  if (boxes == nullptr || places == nullptr || gone == nullptr || extents == nullptr) return -1;
  int *ranks = places + n, *parts = ranks + n, *from = parts + n, *stays = from + n;
  uint64_t* marks = gone + n;

  auto run = [&](const char* name, int64_t count, int threads, int64_t shared, auto... values) {
    return launch(*cuda, {"nms/nms.cu", name, ""}, {count, threads, shared}, values...);
  };
  int status = run("nms_extent", shares, THREADS, 0, a, extents, places, ranks);
  if (status == 0) {
    status = run("nms_count", static_cast<int64_t>(blocks) * blocks, THREADS, 0, a, extents, shares,
                 blocks, places, ranks);
  }
  if (status == 0)
    status = run("nms_arrange", blocks, THREADS, 0, a, extents, shares, places, boxes, parts, from);
  for (int begin = 0; begin < n && status == 0; begin += together) {
    const int end = std::min(n, begin + together), across = std::min(words, 32);
    status = run("nms_mark", ceil_div(end - begin, MARKERS) * across, MARKERS, 0, boxes, parts, n,
                 a.iou_threshold, begin, end, words, across, marks);
    if (status != 0) break;
    status = run("nms_walk", ceil_div(end - begin, 64), WALKERS, 8 * words, parts, n, marks, begin,
                 end, words, from, ranks, gone, stays);
  }
  return status == 0 ? run("nms_gather", 1, 1024, 0, a, stays) : status;
}
