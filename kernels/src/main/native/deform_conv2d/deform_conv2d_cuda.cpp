// Deformable convolution on a GPU: the samples of some of the positions at a time are a factor of a
// product with the weights.

#include <algorithm>

#include "cuda/cuda.h"
#include "deform_conv2d/deform_conv2d.h"
#include "deform_conv2d/deform_conv2d_weights.h"

namespace {

using namespace saccade::cuda;

constexpr int THREADS = 256, TOGETHER = 64;  // as in deform_conv2d.cuh and deform_conv2d.cu
constexpr int64_t ROOM = 128 << 20;          // bytes for samples and lists of them, about
constexpr int64_t LISTED = 28;               // bytes to list a sample
constexpr int64_t SAMPLES = 1 << 18;         // listed at a time, of channels moved together
constexpr int64_t ROWS = 128;                // of a tile of a product

// Some of the positions of the output, of those of all images.
struct Chunk {
  int first, count;
};

// The steps of a pass, none after one that fails.
class Pass {
 public:
  Pass(const saccade_deform_conv2d& a, const saccade_cuda& cuda)
      : a(a),
        cuda(cuda),
        taps(a.kernel_h * a.kernel_w),
        depth(a.channels / a.groups),
        inner(taps * depth),
        each(a.out_channels / a.groups),
        positions(a.n * a.rows * a.columns),
        bytes(size_of(a.type)) {
    const int64_t moved = a.channels / a.offset_groups;
    vector = is_aligned(a.x, a.channels, a.type) ? 16 / bytes : 1;
    while (moved % vector != 0 || depth % vector != 0) vector /= 2;
    while (lanes < 32 && lanes * vector < moved) lanes *= 2;
    const int64_t of_position = taps * (a.channels * bytes + a.offset_groups * LISTED);
    const int64_t some = std::min(ROOM / of_position, SAMPLES / taps);
    most = std::min(positions, some < ROWS ? std::max<int64_t>(some, 1) : some / ROWS * ROWS);
    const int64_t size = a.rows * a.columns;
    squares = std::min(a.n, ceil_div(most - 1, size) + 1) * (a.h + 1) * (a.w + 1) * a.offset_groups;
  }

  // Whether numbers of 32 bits count what there is.
  bool fits() const {
    return a.n * a.h * a.w <= INT32_MAX && positions <= INT32_MAX && squares <= INT32_MAX &&
           taps * a.channels <= INT32_MAX && a.h + 2 * a.padding_y <= INT32_MAX &&
           a.w + 2 * a.padding_x <= INT32_MAX;
  }

  int forward() {
    if (positions == 0) return 0;
    const void* weight = narrowed(a.weight, given());
    const void* bias = a.bias ? narrowed(a.bias, {1, 0, 0, 1, 1, a.out_channels}) : nullptr;
    void* columns = allocate(most * inner * a.groups * bytes);
    each_chunk([&](const Chunk& chunk) {
      const saccade_matrices samples = of_samples(chunk, columns);
      sample(chunk, columns);
      multiply(chunk.count, inner, each, samples, transposed(of_weights(weight)),
               of_outputs(a.out, chunk.first), {at(bias, 0), each, 0, 1});
    });
    return status;
  }

  int backward() {
    const saccade_deform_conv2d_weights d_weights = given();
    const int64_t numbers = inner * a.out_channels;
    if (positions == 0) {
      return a.d_weight ? zero(cuda, a.d_weight, numbers * size_of_sum(a.type)) : 0;
    }
    const bool moves = a.d_offset != nullptr || a.d_mask != nullptr;
    const bool through = moves || a.d_x != nullptr;
    const void* weight = through ? narrowed(a.weight, given()) : nullptr;
    void* columns = allocate(most * inner * a.groups * bytes);
    void* product = a.d_weight ? allocate(numbers * bytes) : nullptr;
    if (a.d_x != nullptr) make_room_for_lists();
    each_chunk([&](const Chunk& chunk) {
      const saccade_matrices samples = of_samples(chunk, columns);
      const saccade_matrices d_out = of_outputs(a.d_out, chunk.first);
      if (through) multiply(chunk.count, each, inner, d_out, of_weights(weight), samples);
      if (a.d_x != nullptr) gather(chunk, columns);
      if (moves) {
        run(of_channels("deform_conv2d_move"), blocks(chunk), a, chunk.first, chunk.count, columns,
            static_cast<int>(a.d_weight != nullptr));
      } else if (a.d_weight != nullptr) {
        sample(chunk, columns);
      }
      if (a.d_weight != nullptr) {
        multiply(each, chunk.count, inner, transposed(d_out), samples, of_weights(product));
        run(of_numbers("deform_conv2d_add"), ceil_div(numbers, THREADS), product, a.d_weight,
            d_weights, static_cast<int>(chunk.first == 0));
      }
    });
    return status;
  }

 private:
  void* at(const void* p, int64_t i) const {
    return p ? const_cast<char*>(static_cast<const char*>(p)) + i * bytes : nullptr;
  }

  void* allocate(int64_t bytes) {
    void* memory = status == 0 ? cuda.allocate(cuda.context, bytes) : nullptr;
    if (memory == nullptr) status = -1;
    return memory;
  }

  // Where weights lie as they are given.
  saccade_deform_conv2d_weights given() const {
    return {inner, 1, taps, taps, depth, a.out_channels * inner};
  }

  // Matrices for each group: positions by what is sampled there, positions by outputs from a
  // position on, and outputs by weights.
  saccade_matrices of_samples(const Chunk& chunk, void* columns) const {
    return {columns, chunk.count * inner, inner, 1};
  }
  saccade_matrices of_outputs(const void* rows, int64_t first) const {
    return {at(rows, first * a.out_channels), each, a.out_channels, 1};
  }
  saccade_matrices of_weights(const void* weight) const {
    return {at(weight, 0), each * inner, inner, 1};
  }

  static saccade_matrices transposed(const saccade_matrices& x) {
    return {x.data, x.batch, x.column, x.row};
  }

  template <class F>
  void each_chunk(F f) {
    for (int64_t first = 0; first < positions && status == 0; first += most) {
      f(Chunk{static_cast<int>(first), static_cast<int>(std::min(most, positions - first))});
    }
  }

  Kernel of_channels(const char* name) const {
    return {"deform_conv2d/deform_conv2d.cu", name,
            storage(a.type) + define("VECTOR", vector) + define("LANES", lanes)};
  }
  Kernel of_cells(const char* name) const {
    return {"deform_conv2d/deform_conv2d_cells.cu", name,
            storage(a.type) + define("VECTOR", vector)};
  }
  Kernel of_numbers(const char* name) const {
    return {"deform_conv2d/deform_conv2d_weights.cu", name, storage(a.type)};
  }

  template <class... A>
  void run(const Kernel& kernel, int64_t blocks, A... values) {
    if (status == 0) status = launch(cuda, kernel, {blocks, THREADS}, values...);
  }

  void multiply(int64_t rows, int64_t between, int64_t columns, const saccade_matrices& left,
                const saccade_matrices& right, const saccade_matrices& to,
                const saccade_matrices& start = {}) {
    const saccade_multiplication m = {a.type, a.groups, rows, between, columns,
                                      left,   right,    to,   start};
    if (status == 0) cuda.multiply(cuda.context, &m);
  }

  int64_t blocks(const Chunk& chunk) const {
    return ceil_div(chunk.count * taps * a.offset_groups, TOGETHER);
  }

  // Weights as products read them, [outputs, taps, channels].
  const void* narrowed(const void* from, const saccade_deform_conv2d_weights& weights) {
    void* to = allocate(weights.count * bytes);
    run(of_numbers("deform_conv2d_narrow"), ceil_div(weights.count, THREADS), from, weights, to);
    return to;
  }

  void sample(const Chunk& chunk, void* columns) {
    run(of_channels("deform_conv2d_sample"), blocks(chunk), a, chunk.first, chunk.count, columns);
  }

  void make_room_for_lists() {
    const int64_t samples = most * taps * a.offset_groups;
    gifts = allocate(samples * 4 * size_of_sum(a.type));
    int* numbers = static_cast<int*>(allocate((3 * samples + 2 * squares + 1) * sizeof(int)));
    counts = numbers;
    total = counts + squares;
    starts = total + 1;
    square_of = starts + squares;
    places = square_of + samples;
    list = places + samples;
  }

  // Adds what the samples give to the cells that they are from.
  void gather(const Chunk& chunk, const void* columns) {
    const int64_t samples = ceil_div(chunk.count * taps * a.offset_groups, THREADS);
    const int first = chunk.first, count = chunk.count;
    const int64_t size = a.rows * a.columns;
    const int64_t images = (first + count - 1) / size - first / size + 1;
    if (status == 0) status = zero(cuda, counts, (squares + 1) * sizeof(int));
    run(of_cells("deform_conv2d_count"), samples, a, first, count, square_of, places, counts);
    run(of_cells("deform_conv2d_room"), ceil_div(squares, THREADS), counts,
        static_cast<int>(squares), total, starts);
    run(of_cells("deform_conv2d_list"), samples, a, count, square_of, places, starts, list);
    run(of_cells("deform_conv2d_order"), samples, a, first, count, square_of, counts, starts, list,
        gifts);
    run(of_cells("deform_conv2d_gather"),
        ceil_div(images * a.h * a.w * (a.channels / vector), THREADS), a, first, count, counts,
        starts, gifts, columns);
  }

  const saccade_deform_conv2d& a;
  const saccade_cuda& cuda;
  const int64_t taps, depth, inner, each, positions, bytes;
  int64_t vector = 1, lanes = 1, most = 0, squares = 0;
  void* gifts = nullptr;
  int *counts = nullptr, *total = nullptr, *starts = nullptr;
  int *square_of = nullptr, *places = nullptr, *list = nullptr;
  int status = 0;
};

}  // namespace

extern "C" int saccade_deform_conv2d_forward_cuda(const saccade_deform_conv2d* a,
                                                  const saccade_cuda* cuda) {
  if (!saccade_deform_conv2d_is_sound(a)) return -1;
  Pass pass(*a, *cuda);
  return pass.fits() ? pass.forward() : -1;
}

extern "C" int saccade_deform_conv2d_backward_cuda(const saccade_deform_conv2d* a,
                                                   const saccade_cuda* cuda) {
  if (!saccade_deform_conv2d_is_sound(a)) return -1;
  Pass pass(*a, *cuda);
  return pass.fits() ? pass.backward() : -1;
}
