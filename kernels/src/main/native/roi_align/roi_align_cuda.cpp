// RoIAlign on a GPU: the shapes of the launches.

#include <algorithm>

#include "cuda/cuda.h"
#include "roi_align/roi_align.h"

namespace {

using namespace saccade::cuda;

constexpr int TILE = 8;           // cells along the side of a square, as in roi_align.cu
constexpr int64_t BINS = 64;      // of a block, at most
constexpr int64_t TOGETHER = 16;  // regions that are laid out at once, at most

// The channels that a thread reads at once: 16 bytes where all of them come in whole vectors.
int64_t vector(const saccade_roi_align& a, const void* rows, bool forward) {
  bool whole = is_aligned(rows, a.channels, a.type);
  for (int64_t l = 0; l < a.levels; l++) {
    whole = whole && is_aligned(forward ? a.level[l].map : a.level[l].d_map, a.channels, a.type);
  }
  return whole ? 16 / size_of(a.type) : 1;
}

Kernel kernel(const saccade_roi_align& a, const char* name, int64_t vector) {
  return {"roi_align/roi_align.cu", name, storage(a.type) + define("VECTOR", vector)};
}

int64_t bytes_of_sum(const saccade_roi_align& a) { return a.type == SACCADE_DOUBLE ? 8 : 4; }

// Whether numbers of 32 bits count what there is.
bool fits(const saccade_roi_align& a) {
  bool fits =
      a.regions * a.height * a.width < 1ll << 31 && a.height * a.width * a.channels < 1ll << 31;
  for (int64_t l = 0; fits && l < a.levels; l++) {
    const saccade_level& level = a.level[l];
    fits = level.h * level.w * std::max(a.channels, a.n) < 1ll << 31;
  }
  return fits;
}

}  // namespace

extern "C" int saccade_roi_align_forward_cuda(const saccade_roi_align* arguments,
                                              const saccade_cuda* cuda) {
  const saccade_roi_align& a = *arguments;
  if (!saccade_roi_align_is_sound(&a) || !fits(a)) return -1;
  if (a.regions == 0 || a.channels == 0) return 0;
  int64_t room = 4 * (a.height + a.width);
  int64_t cells = 0;
  for (int64_t l = 0; l < a.levels; l++) cells = std::max(cells, a.level[l].h + a.level[l].w);
  room += cells;
  const int64_t parts = ceil_div(a.height * a.width, BINS);
  const int64_t shared =
      room * 2 * bytes_of_sum(a) + (a.height + a.width) * 2 * static_cast<int64_t>(sizeof(int));
  return launch(*cuda, kernel(a, "roi_align_forward", vector(a, a.out, true)),
                {a.regions * parts, 256, shared}, a, static_cast<int>(parts),
                static_cast<int>(room));
}

extern "C" int saccade_roi_align_backward_cuda(const saccade_roi_align* arguments,
                                               const saccade_cuda* cuda) {
  const saccade_roi_align& a = *arguments;
  if (!saccade_roi_align_is_sound(&a) || !fits(a)) return -1;
  int64_t squares = 0;
  for (int64_t l = 0; l < a.levels; l++) {
    if (a.level[l].d_map != nullptr)
      squares += a.n * ceil_div(a.level[l].h, TILE) * ceil_div(a.level[l].w, TILE);
  }
  if (squares == 0 || a.channels == 0) return 0;
  const int64_t maps = a.levels * a.n, v = vector(a, a.d_out, false);
  int* memory =
      static_cast<int*>(cuda->allocate(cuda->context, (2 * maps + a.regions) * sizeof(int)));
  if (memory == nullptr) return -1;
  int *starts = memory, *counts = memory + maps, *list = memory + 2 * maps;
  if (const int status =
          launch(*cuda, kernel(a, "roi_align_list", v), {maps, 256}, a, list, starts, counts)) {
    return status;
  }
  const int64_t parts = ceil_div(a.channels / v, 32), bins = a.height + a.width;
  const int64_t together = std::clamp<int64_t>(256 / bins, 1, TOGETHER);
  return launch(*cuda, kernel(a, "roi_align_backward", v),
                {squares * parts, 256, together * bins * TILE * bytes_of_sum(a)}, a, list, starts,
                counts, static_cast<int>(parts), static_cast<int>(together));
}
