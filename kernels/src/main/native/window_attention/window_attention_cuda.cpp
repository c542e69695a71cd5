// Starts the kernels of window_attention.cu.

#include <algorithm>

#include "attention/attention_sizes.h"
#include "cuda/cuda.h"
#include "window_attention/window_attention.h"

using namespace saccade::cuda;

namespace {

// How many blocks make gradients, about: a number that does not depend on the GPU, so that sums do
// not.
constexpr int64_t BLOCKS = 1056;

int64_t area(const saccade_window_attention& a) { return a.rows * a.columns; }

int64_t windows(const saccade_window_attention& a) {
  return a.n * ceil_div(a.h, a.rows) * ceil_div(a.w, a.columns);
}

int64_t side(const saccade_window_attention& a) { return a.table == nullptr ? 0 : a.side; }

bool all_aligned(const saccade_window_attention& a) {
  for (const void* p : {a.packed, a.padding, static_cast<const void*>(a.out), a.d_out,
                        static_cast<const void*>(a.d_packed)}) {
    if (!is_aligned(p, a.depth, a.type)) return false;
  }
  return true;
}

// How kernels are compiled for some arguments and a GPU, and started.
struct Form {
  std::string options;
  int threads;
  int64_t memory;

  Form(const saccade_window_attention& a, bool backward, int device) {
    const int tokens = static_cast<int>(area(a));
    const AttentionSizes sizes = {tokens,
                                  tokens,
                                  static_cast<int>(a.depth),
                                  static_cast<int>(size_of(a.type)),
                                  static_cast<int>(size_of_sum(a.type)),
                                  backward};
    const int64_t others =
        AttentionSizes::up(12 * tokens, 16) + side(a) * side(a) * size_of_sum(a.type);
    const bool aligned = all_aligned(a);
    const bool tiled =
        aligned && sizes.is_tiled() && sizes.memory(true) + others <= properties(device).shared;
    options = storage(a.type) + define("WINDOW_ROWS", a.rows) +
              define("WINDOW_COLUMNS", a.columns) + define("SIDE", side(a)) +
              define("DEPTH", a.depth) + define("ALIGNED", aligned) + define("TILED", tiled) +
              define("BACKWARD", backward);
    threads = sizes.threads(tiled);
    memory = sizes.memory(tiled) + others;
  }

  Kernel kernel(const char* name) const {
    return {"window_attention/window_attention.cu", name, options};
  }
};

}  // namespace

extern "C" int saccade_window_attention_forward_cuda(const saccade_window_attention* arguments,
                                                     const saccade_cuda* cuda) {
  const saccade_window_attention& a = *arguments;
  if (!saccade_window_attention_is_sound(&a)) return -1;
  const Form form(a, false, cuda->device);
  return launch(*cuda, form.kernel("window_attention_forward"),
                {a.heads * windows(a), form.threads, form.memory}, a);
}

extern "C" int saccade_window_attention_backward_cuda(const saccade_window_attention* arguments,
                                                      const saccade_cuda* cuda) {
  const saccade_window_attention& a = *arguments;
  if (!saccade_window_attention_is_sound(&a) || a.n * a.h * a.w == 0) return -1;
  const Form form(a, true, cuda->device);
  const int64_t parts = std::min(windows(a), ceil_div(BLOCKS, a.heads)),
                channels = 3 * a.heads * a.depth;
  const int64_t width = a.heads * area(a) * area(a) + channels, sum = size_of_sum(a.type);
  void* sums = cuda->allocate(cuda->context, parts * width * sum);
  void* total = cuda->allocate(cuda->context, width * sum);
  void* padded = cuda->allocate(cuda->context, parts * area(a) * channels * size_of(a.type));
  int status = launch(*cuda, form.kernel("window_attention_backward"),
                      {parts * a.heads, form.threads, form.memory}, a, static_cast<int>(parts),
                      sums, padded);
  if (!status) status = add_parts(*cuda, a.type, sums, total, parts, width);
  const int64_t numbers = std::max(channels, side(a) * side(a) * a.heads);
  if (!status)
    status = launch(*cuda, form.kernel("window_attention_parameters"),
                    {ceil_div(numbers, 256), 256}, a, total);
  return status;
}
