// Starts the kernels of focal_attention.cu.

#include <algorithm>

#include "attention/attention_sizes.h"
#include "cuda/cuda.h"
#include "focal_attention/focal_attention.h"

using namespace saccade::cuda;

namespace {

// How many blocks make gradients, about: a number that does not depend on the GPU, so that sums do
// not.
constexpr int64_t BLOCKS = 264;

// What may be put aside at once, where that of one image is less: what caches of GPUs can keep.
constexpr int64_t ASIDE = 32 << 20;

int64_t area(const saccade_focal_attention& a) { return a.window * a.window; }

int64_t windows(const saccade_focal_attention& a) { return a.h * a.w / area(a); }

bool all_aligned(const saccade_focal_attention& a) {
  for (const void* p : {a.qkv, a.pooled, static_cast<const void*>(a.out), a.d_out,
                        static_cast<const void*>(a.d_qkv), static_cast<const void*>(a.d_pooled)}) {
    if (!is_aligned(p, a.depth, a.type)) return false;
  }
  return is_aligned(a.bias, 0, a.type) && is_aligned(a.mask, 0, a.type);
}

// How kernels are compiled for some arguments and a GPU, and started.
struct Form {
  std::string options;
  int threads;
  int64_t memory;

  Form(const saccade_focal_attention& a, bool backward, int device) {
    const AttentionSizes sizes = {static_cast<int>(area(a)),
                                  static_cast<int>(a.keys),
                                  static_cast<int>(a.depth),
                                  static_cast<int>(size_of(a.type)),
                                  static_cast<int>(size_of_sum(a.type)),
                                  backward};
    const bool aligned = all_aligned(a);
    const bool tiled =
        aligned && sizes.is_tiled() && sizes.memory(true) <= properties(device).shared;
    options = storage(a.type) + define("WINDOW", a.window) + define("KEYS", a.keys) +
              define("DEPTH", a.depth) + define("ALIGNED", aligned) + define("TILED", tiled) +
              define("BACKWARD", backward);
    threads = sizes.threads(tiled);
    memory = sizes.memory(tiled);
  }

  Kernel kernel(const char* name) const {
    return {"focal_attention/focal_attention.cu", name, options};
  }
};

// Finds the places of the index that list each token and cell, and where they start.
int find_places(const saccade_focal_attention& a, const saccade_cuda& cuda, void*& starts,
                void*& places) {
  const int64_t count = windows(a) * a.keys, rows = a.h * a.w + a.cells;
  void* counts = cuda.allocate(cuda.context, rows * 4);
  starts = cuda.allocate(cuda.context, (rows + 1) * 4);
  places = cuda.allocate(cuda.context, count * 4);
  auto kernel = [&](const char* name) {
    return Kernel{"focal_attention/places.cu", name, storage(SACCADE_FLOAT)};
  };
  const Grid over_index = {ceil_div(count, 256), 256}, over_rows = {ceil_div(rows, 256), 256};
  int status = zero(cuda, counts, rows * 4);
  if (!status)
    status = launch(cuda, kernel("places_count"), over_index, a.index, count, rows, counts);
  if (!status)
    status = launch(cuda, kernel("places_start"), {1, 512, 512 * 4}, counts, rows, starts);
  if (!status)
    status = launch(cuda, kernel("places_list"), over_index, a.index, count, rows, starts, counts,
                    places);
  if (!status) status = launch(cuda, kernel("places_sort"), over_rows, rows, starts, places);
  return status;
}

}  // namespace

extern "C" int saccade_focal_attention_forward_cuda(const saccade_focal_attention* arguments,
                                                    const saccade_cuda* cuda) {
  const saccade_focal_attention& a = *arguments;
  if (!saccade_focal_attention_is_sound(&a)) return -1;
  const Form form(a, false, cuda->device);
  return launch(*cuda, form.kernel("focal_attention_forward"),
                {a.n * windows(a) * a.heads, form.threads, form.memory}, a);
}

extern "C" int saccade_focal_attention_backward_cuda(const saccade_focal_attention* arguments,
                                                     const saccade_cuda* cuda) {
  const saccade_focal_attention& a = *arguments;
  if (!saccade_focal_attention_is_sound(&a) || a.n * a.h * a.w == 0) return -1;
  const Form form(a, true, cuda->device);
  void *starts, *places;
  int status = find_places(a, *cuda, starts, places);
  const int64_t of_image = windows(a) * a.keys * 2 * a.heads * a.depth * size_of(a.type);
  const int64_t together = std::clamp<int64_t>(ASIDE / of_image, 1, a.n),
                pairs = a.heads * a.keys * area(a);
  const int64_t parts = std::min(together * windows(a), ceil_div(BLOCKS, a.heads));
  void* aside = cuda->allocate(cuda->context, together * of_image);
  void* sums = cuda->allocate(cuda->context, parts * pairs * size_of_sum(a.type));
  void* total = cuda->allocate(cuda->context, pairs * size_of_sum(a.type));
  for (int64_t first = 0; first < a.n && !status; first += together) {
    const int64_t images = std::min(together, a.n - first);
    status = launch(*cuda, form.kernel("focal_attention_backward"),
                    {parts * a.heads, form.threads, form.memory}, a, static_cast<int>(parts),
                    static_cast<int>(first), static_cast<int>(images), aside, sums);
    const int64_t numbers = images * (a.h * a.w + a.cells) * 2 * a.heads * a.depth;
    const bool aligned = form.options.find("ALIGNED=1") != std::string::npos;
    if (!status) {
      status = launch(*cuda, form.kernel("focal_attention_gather"),
                      {ceil_div(numbers, 256 * (aligned ? 16 / size_of(a.type) : 1)), 256}, a,
                      first, images, aside, starts, places);
    }
  }
  if (!status) status = add_parts(*cuda, a.type, sums, total, parts, pairs);
  if (!status)
    status =
        launch(*cuda, form.kernel("focal_attention_bias"), {ceil_div(pairs, 256), 256}, a, total);
  return status;
}
