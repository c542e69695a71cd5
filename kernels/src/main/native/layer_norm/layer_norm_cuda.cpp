// Layer normalization on a GPU: the shapes of the launches.

#include <algorithm>
#include <initializer_list>

#include "cuda/cuda.h"
#include "layer_norm/layer_norm.h"

namespace {

using namespace saccade::cuda;

// How a row is shared out: vectors of channels for each of its threads.
struct Shape {
  int64_t vector, row, per;

  int threads() const { return static_cast<int>(row > 32 ? row : 256); }
  int64_t together() const { return threads() / row; }
};

// The shape that leaves least idle, of at most so many numbers of 4 bytes a thread; of equal ones
// that of fewest threads.
Shape shape(const saccade_layer_norm& a, std::initializer_list<const void*> rows, int64_t most) {
  Shape best = {1, 0, 0};
  if (std::all_of(rows.begin(), rows.end(),
                  [&](const void* p) { return is_aligned(p, a.channels, a.type); })) {
    best.vector = 16 / size_of(a.stream);
  }
  const int64_t vectors = ceil_div(a.channels, best.vector);
  for (int64_t row = 4; row <= 512; row *= 2) {
    const int64_t per = ceil_div(vectors, row);
    const bool fits = per * best.vector <= (a.stream == SACCADE_DOUBLE ? most / 2 : most);
    if (fits && (best.row == 0 || row * per < best.row * best.per)) best = {best.vector, row, per};
  }
  return best;
}

Kernel kernel(const saccade_layer_norm& a, const char* name, const Shape& s) {
  return {
      "layer_norm/layer_norm.cu", name,
      storage(a.type) + define("WIDE", a.stream != a.type) + define("VECTOR", s.vector) +
          define("ROW", s.row) + define("PER", s.per)};
}

// Whether numbers of 32 bits count the rows, and a row has a shape.
bool fits(const saccade_layer_norm& a, const Shape& s) {
  return saccade_layer_norm_is_sound(&a) && a.rows < 1ll << 31 && s.row > 0;
}

}  // namespace

extern "C" int saccade_layer_norm_forward_cuda(const saccade_layer_norm* arguments,
                                               const saccade_cuda* cuda) {
  const saccade_layer_norm& a = *arguments;
  const Shape s = shape(a, {a.x, a.residual, a.sum, a.out, a.weight, a.bias},
                        a.stream == SACCADE_FLOAT ? 16 : 24);
  if (!fits(a, s)) return -1;
  return launch(*cuda, kernel(a, "layer_norm_forward", s),
                {ceil_div(a.rows, s.together()), s.threads()}, a);
}

extern "C" int saccade_layer_norm_backward_cuda(const saccade_layer_norm* arguments,
                                                const saccade_cuda* cuda) {
  const saccade_layer_norm& a = *arguments;
  const Shape s = shape(a, {a.x, a.d_out, a.d_sum, a.d_x, a.d_residual, a.weight}, 16);
  if (!fits(a, s)) return -1;
  if (a.rows == 0) return 0;
  const int64_t sum = a.type == SACCADE_DOUBLE ? 8 : 4;
  const int64_t resident =
      properties(cuda->device).multiprocessors * std::max<int64_t>(1, 512 / s.threads());
  const int blocks = static_cast<int>(std::min(ceil_div(a.rows, s.together()), resident));
  void* partial = cuda->allocate(cuda->context, blocks * 2 * a.channels * sum);
  if (partial == nullptr) return -1;
  const int64_t warps = s.row > 32 ? 1 : s.threads() / 32;
  const int status = launch(*cuda, kernel(a, "layer_norm_backward", s),
                            {blocks, s.threads(), warps * 2 * a.channels * sum}, a, partial);
  if (status != 0) return status;
  return launch(*cuda, kernel(a, "layer_norm_weight", s), {ceil_div(2 * a.channels, 32), 1024}, a,
                partial, blocks);
}
