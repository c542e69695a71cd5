// Starts the kernels of elsa_attention_forward.cu and elsa_attention_backward.cu, or of
// elsa_attention_any.cu where these do not apply.

#include <algorithm>

#include "cuda/cuda.h"
#include "elsa_attention/elsa_attention.h"

using namespace saccade::cuda;

namespace {

constexpr int64_t CHANNELS = 32, ROWS = 8, COLUMNS = 16, THREADS = 256, WARPS = 4, PARTS = 528,
                  ACROSS = 24;

bool is_tiled(const saccade_elsa_attention& a) {
  return a.type != SACCADE_DOUBLE && a.dilation == 1 &&
         (a.kernel == 3 || a.kernel == 5 || a.kernel == 7);
}

int64_t tiles(const saccade_elsa_attention& a) {
  return a.n * ceil_div(a.h, ROWS) * ceil_div(a.w, COLUMNS);
}

int64_t chunks(const saccade_elsa_attention& a) { return a.groups * ceil_div(a.depth, CHANNELS); }

std::string options(const saccade_elsa_attention& a, bool aligned) {
  return storage(a.type) + define("KERNEL", a.kernel) + define("ALIGNED", aligned) +
         define("MUL", a.mul != nullptr) + define("ADD", a.add != nullptr);
}

// Whether sums are products of matrices.
bool multiplies(const saccade_elsa_attention& a) {
  return a.mul == nullptr && size_of(a.type) == 2;
}

// Bytes of a tile with so much around it, and of weights and ghost heads.
int64_t field(const saccade_elsa_attention& a, int64_t around, int64_t padding = 0) {
  const int64_t across = around > 0 && multiplies(a) ? ACROSS : COLUMNS + 2 * around;
  return (ROWS + 2 * around) * (across + 1) * (CHANNELS + padding) * size_of(a.type);
}

int64_t weights(const saccade_elsa_attention& a, int64_t around) {
  const int64_t each = a.kernel == 3 ? 12 : a.kernel * 8 + 4;
  return (ROWS + 2 * around) * (COLUMNS + 2 * around) * each * 4;
}

int64_t ghost(const saccade_elsa_attention& a) {
  return ((a.mul != nullptr) + (a.add != nullptr)) * a.kernel * a.kernel * CHANNELS * 4;
}

// Bytes of a tile that is summed with so much around it weighted: weights of 16 bits in bands where
// the sums are products of matrices.
int64_t shared_of_sum(const saccade_elsa_attention& a, int64_t weighted) {
  const int64_t reach = a.kernel / 2;
  if (!multiplies(a)) return field(a, reach) + weights(a, weighted) + ghost(a);
  const int64_t band = ceil_div(a.kernel * ACROSS, 16) * 16 + 8;
  return field(a, reach, 8) + ROWS * COLUMNS * band * 2 + ghost(a);
}

// A warp for each pixel of each group.
Grid pixels(const saccade_elsa_attention& a, bool with_weights) {
  return {ceil_div(a.n * a.h * a.w * a.groups, WARPS), 32 * WARPS,
          with_weights * WARPS * a.kernel * a.kernel * size_of_sum(a.type)};
}

int backward_any(const saccade_elsa_attention& a, const saccade_cuda& cuda) {
  const int64_t taps = a.kernel * a.kernel, pixels_count = a.n * a.h * a.w,
                count = taps * a.groups * a.depth;
  const int64_t parts = std::min<int64_t>(64, ceil_div(pixels_count, 64)),
                sum = size_of_sum(a.type);
  void* weights = cuda.allocate(cuda.context, pixels_count * a.groups * taps * sum);
  void* d_mul = a.d_mul ? cuda.allocate(cuda.context, parts * count * sum) : nullptr;
  void* d_add = a.d_add ? cuda.allocate(cuda.context, parts * count * sum) : nullptr;
  const char* source = "elsa_attention/elsa_attention_any.cu";
  const std::string options = storage(a.type);
  int status =
      launch(cuda, {source, "elsa_attention_logits", options}, pixels(a, true), a, weights);
  if (!status)
    status = launch(cuda, {source, "elsa_attention_values", options}, pixels(a, false), a, weights);
  if (!status && (d_mul || d_add)) {
    status = launch(cuda, {source, "elsa_attention_ghost", options}, {parts * taps, 128}, a,
                    weights, d_mul, d_add, parts);
  }
  if (!status && d_mul) status = add_parts(cuda, a.type, d_mul, a.d_mul, parts, count);
  if (!status && d_add) status = add_parts(cuda, a.type, d_add, a.d_add, parts, count);
  return status;
}

// Into how many parts the tiles are cut whose sums are added up: enough for a large GPU, and no
// more than there are tiles.
int64_t parts_of(const saccade_elsa_attention& a) {
  return std::min(tiles(a), ceil_div(PARTS, chunks(a)));
}

int backward_tiled(const saccade_elsa_attention& a, const saccade_cuda& cuda,
                   int64_t shared_of_values) {
  const int64_t reach = a.kernel / 2, padding = 16 / size_of(a.type), row = a.depth;
  const bool aligned = is_aligned(a.values, row, a.type) && is_aligned(a.d_out, row, a.type) &&
                       is_aligned(a.d_values, row, a.type);
  const char* source = "elsa_attention/elsa_attention_backward.cu";
  const std::string with = options(a, aligned);
  const int64_t both = field(a, reach, padding) + field(a, 0, padding);
  const int64_t mul = a.mul ? a.kernel * a.kernel * CHANNELS * 4 : 0;
  int status = launch(cuda, {source, "elsa_attention_logits", with},
                      {tiles(a) * a.groups, THREADS, both + weights(a, 0) + mul}, a);
  if (!status) {
    status = launch(cuda, {source, "elsa_attention_values", with},
                    {tiles(a) * chunks(a), THREADS, shared_of_values}, a);
  }
  if (status || !(a.d_mul || a.d_add)) return status;
  const int64_t parts = parts_of(a), count = a.kernel * a.kernel * a.groups * a.depth;
  void* d_mul = a.d_mul ? cuda.allocate(cuda.context, parts * count * 4) : nullptr;
  void* d_add = a.d_add ? cuda.allocate(cuda.context, parts * count * 4) : nullptr;
  status = launch(cuda, {source, "elsa_attention_ghost", with},
                  {parts * chunks(a), THREADS, both + (a.mul ? weights(a, 0) : 0)}, a, d_mul, d_add,
                  parts);
  if (!status && d_mul) status = add_parts(cuda, a.type, d_mul, a.d_mul, parts, count);
  if (!status && d_add) status = add_parts(cuda, a.type, d_add, a.d_add, parts, count);
  return status;
}

}  // namespace

extern "C" int saccade_elsa_attention_forward_cuda(const saccade_elsa_attention* arguments,
                                                   const saccade_cuda* cuda) {
  const saccade_elsa_attention& a = *arguments;
  if (!saccade_elsa_attention_is_sound(&a)) return -1;
  if (!is_tiled(a)) {
    const Kernel any = {"elsa_attention/elsa_attention_any.cu", "elsa_attention_forward",
                        storage(a.type)};
    return launch(*cuda, any, pixels(a, true), a);
  }
  const bool aligned = is_aligned(a.values, a.depth, a.type) && is_aligned(a.out, a.depth, a.type);
  const Kernel kernel = {"elsa_attention/elsa_attention_forward.cu", "elsa_attention_forward",
                         options(a, aligned)};
  return launch(*cuda, kernel, {tiles(a) * chunks(a), THREADS, shared_of_sum(a, 0)}, a);
}

extern "C" int saccade_elsa_attention_backward_cuda(const saccade_elsa_attention* arguments,
                                                    const saccade_cuda* cuda) {
  if (!saccade_elsa_attention_is_sound(arguments) ||
      arguments->n * arguments->h * arguments->w == 0)
    return -1;
  const saccade_elsa_attention& a = *arguments;
  const int64_t shared = shared_of_sum(a, a.kernel / 2);
  return is_tiled(a) && shared <= properties(cuda->device).shared ? backward_tiled(a, *cuda, shared)
                                                                  : backward_any(a, *cuda);
}
