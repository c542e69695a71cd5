// Starts the kernels of grouped_convolution.cu, or of grouped_convolution_any.cu where these do not
// apply.

#include <algorithm>

#include "cuda/cuda.h"
#include "grouped_convolution/grouped_convolution.h"

using namespace saccade::cuda;

namespace {

constexpr int64_t CHANNELS = 32, ROWS = 8, COLUMNS = 16, THREADS = 256, PARTS = 528;

bool is_tiled(const saccade_grouped_convolution& a) {
  const bool narrow = a.width == 1 || a.width == 2 || a.width == 4 || a.width == 8;
  return a.type != SACCADE_DOUBLE && narrow && (a.kernel == 3 || a.kernel == 5 || a.kernel == 7);
}

int64_t channels(const saccade_grouped_convolution& a) { return a.groups * a.width; }

int64_t weights(const saccade_grouped_convolution& a) {
  return a.kernel * a.kernel * a.width * channels(a);
}

int64_t tiles(const saccade_grouped_convolution& a) {
  return a.n * ceil_div(a.h, ROWS) * ceil_div(a.w, COLUMNS);
}

int64_t chunks(const saccade_grouped_convolution& a) { return ceil_div(channels(a), CHANNELS); }

int64_t field(const saccade_grouped_convolution& a, int64_t around, int64_t padding) {
  return (ROWS + 2 * around) * (COLUMNS + 2 * around + 1) * (CHANNELS + padding) * size_of(a.type);
}

Kernel tiled(const saccade_grouped_convolution& a, const char* name, const void* other) {
  const bool aligned =
      is_aligned(a.x, channels(a), a.type) && is_aligned(other, channels(a), a.type);
  return {"grouped_convolution/grouped_convolution.cu", name,
          storage(a.type) + define("KERNEL", a.kernel) + define("GROUP", a.width) +
              define("ALIGNED", aligned)};
}

Kernel any(const saccade_grouped_convolution& a, const char* name) {
  return {"grouped_convolution/grouped_convolution_any.cu", name, storage(a.type)};
}

}  // namespace

extern "C" int saccade_grouped_convolution_forward_cuda(
    const saccade_grouped_convolution* arguments, const saccade_cuda* cuda) {
  const saccade_grouped_convolution& a = *arguments;
  const char* name = "grouped_convolution_forward";
  if (!saccade_grouped_convolution_is_sound(&a)) return -1;
  if (!is_tiled(a)) {
    return launch(*cuda, any(a, name), {ceil_div(a.n * a.h * a.w * channels(a), THREADS), THREADS},
                  a);
  }
  const int64_t shared = field(a, a.kernel / 2, 0) + a.kernel * a.kernel * a.width * CHANNELS * 4;
  return launch(*cuda, tiled(a, name, a.out), {tiles(a) * chunks(a), THREADS, shared}, a);
}

extern "C" int saccade_grouped_convolution_weight_cuda(const saccade_grouped_convolution* arguments,
                                                       const saccade_cuda* cuda) {
  const saccade_grouped_convolution& a = *arguments;
  const char* name = "grouped_convolution_weight";
  const int64_t pixels = a.n * a.h * a.w;
  if (!saccade_grouped_convolution_is_sound(&a) || pixels == 0) return -1;
  const int64_t passes = a.width < 2 ? 1 : a.width / 2;
  const int64_t parts = is_tiled(a) ? std::min(tiles(a), ceil_div(PARTS, chunks(a) * passes))
                                    : std::min<int64_t>(64, ceil_div(pixels, 64));
  void* found = cuda->allocate(cuda->context, parts * weights(a) * size_of_sum(a.type));
  int status;
  if (is_tiled(a)) {
    const int64_t padding = 16 / size_of(a.type),
                  shared = field(a, a.kernel / 2, padding) + field(a, 0, padding);
    status = launch(*cuda, tiled(a, name, a.d_out), {parts * passes * chunks(a), THREADS, shared},
                    a, found, parts);
  } else {
    status = launch(*cuda, any(a, name), {ceil_div(parts * weights(a), THREADS), THREADS}, a, found,
                    parts);
  }
  return status ? status : add_parts(*cuda, a.type, found, a.d_weight, parts, weights(a));
}
