// Products of matrices of any size, a tile of the result at a time, which goes on in the cache from
// one stretch of the inner side to the next. The right factor of a stretch is copied close
// together.

#include "common/matrix.h"
#include "key_only_attention/product.h"

namespace {

constexpr int64_t COLUMNS = 64, STRETCH = 128;  // of a tile, and of the inner side
constexpr int64_t MOST_ROWS = 96, LEAST_ROWS = 24;
constexpr int64_t ENOUGH = 16;  // tiles to share among threads

template <class T>
constexpr saccade_type TYPE = sizeof(T) == sizeof(double) ? SACCADE_DOUBLE : SACCADE_FLOAT;

// Calls f with a number of a type of storage, if its sums are of type T.
template <class T, class F>
void with_number(saccade_type type, F f) {
  with_type(type, [&](auto number) {
    if constexpr (std::is_same_v<SumOf<decltype(number)>, T>) f(number);
    return 0;
  });
}

// A block of a matrix that is stored row by row.
struct Block {
  saccade_type type;
  const void* matrix;
  int64_t first, stride, rows, columns;

  // Where it is, if it is stored as sums are.
  template <class T>
  const T* in_place() const {
    return type == TYPE<T> ? static_cast<const T*>(matrix) + first : nullptr;
  }

  template <class T>
  void copy(T* to, int64_t to_stride) const {
    with_number<T>(type, [&](auto number) {
      const auto* from = static_cast<const decltype(number)*>(matrix) + first;
      for (int64_t i = 0; i < rows; i++) widen(from + i * stride, to + i * to_stride, columns);
    });
  }
};

template <class T>
class Tile {
 public:
  static constexpr int L = LANES<T>;

  explicit Tile(const saccade_product& a)
      : a(a),
        left(MOST_ROWS * STRETCH),
        transposed(COLUMNS * STRETCH),
        right(STRETCH * COLUMNS),
        sums(MOST_ROWS * COLUMNS) {}

  // Sums up the tile of an image at a row and a column.
  void fill(int64_t n, int64_t top, int64_t rows, int64_t first) {
    const int64_t columns = std::min(COLUMNS, a.columns - first), whole = ceil_div(columns, L) * L;
    const int64_t out = (n * a.rows + top) * a.columns + first;
    const bool in_place = a.out_type == TYPE<T> && columns == whole;
    T* to = in_place ? static_cast<T*>(a.out) + out : sums;
    const int64_t stride = in_place ? a.columns : COLUMNS;
    start(n, first, rows, columns, to, stride);
    for (int64_t k = 0; k < a.inner; k += STRETCH) {
      const int64_t steps = std::min(STRETCH, a.inner - k);
      take_right(n, k, first, steps, columns);
      auto add = [&](auto factors) {
        multiply<T>(rows, whole, steps, factors, right, COLUMNS, to, stride, GoOn<T>{to, stride});
      };
      if (a.left_transposed) {
        add(take_left<Columns<T>>(
            {a.left_type, a.left, (n * a.inner + k) * a.rows + top, a.rows, steps, rows},
            MOST_ROWS));
      } else {
        add(take_left<Rows<T>>(
            {a.left_type, a.left, (n * a.rows + top) * a.inner + k, a.inner, rows, steps},
            STRETCH));
      }
    }
    if (in_place) return;
    with_number<T>(a.out_type, [&](auto number) {
      auto* at = static_cast<decltype(number)*>(a.out) + out;
      for (int64_t i = 0; i < rows; i++) narrow(sums + i * COLUMNS, at + i * a.columns, columns);
    });
  }

 private:
  void start(int64_t n, int64_t first, int64_t rows, int64_t columns, T* to, int64_t stride) const {
    for (int64_t i = 0; i < rows; i++, to += stride) {
      if (a.start == nullptr) {
        std::fill(to, to + columns, T(0));
      } else {
        const T* from = static_cast<const T*>(a.start) + n * a.columns + first;
        std::copy(from, from + columns, to);
      }
    }
  }

  template <class View>
  View take_left(const Block& block, int64_t stride) const {
    if (const T* at = block.in_place<T>()) return {at, block.stride};
    block.copy<T>(left, stride);
    return {left, stride};
  }

  void take_right(int64_t n, int64_t k, int64_t first, int64_t steps, int64_t columns) const {
    if (!a.right_transposed) {
      const int64_t at = (n * a.inner + k) * a.columns + first;
      Block{a.right_type, a.right, at, a.columns, steps, columns}.copy<T>(right, COLUMNS);
      return;
    }
    const Block block = {a.right_type, a.right, (n * a.columns + first) * a.inner + k,
                         a.inner,      columns, steps};
    const T* at = block.in_place<T>();
    if (at != nullptr && columns % L == 0 && steps % L == 0) {
      transpose<T>(columns, steps, at, block.stride, right, COLUMNS);
    } else {
      block.copy<T>(transposed, STRETCH);
      transpose<T>(ceil_div(columns, L) * L, ceil_div(steps, L) * L, transposed, STRETCH, right,
                   COLUMNS);
    }
  }

  const saccade_product& a;
  const Buffer<T> left, transposed, right, sums;
};

template <class T>
void multiply(const saccade_product& a) {
  const int64_t across = ceil_div(a.columns, COLUMNS);
  const int64_t rows = a.n * across * ceil_div(a.rows, MOST_ROWS) < ENOUGH ? LEAST_ROWS : MOST_ROWS;
  const int64_t down = ceil_div(a.rows, rows);
#pragma omp parallel
  {
    Tile<T> tile(a);
#pragma omp for schedule(dynamic)
    for (int64_t i = 0; i < a.n * down * across; i++) {
      const int64_t top = i / across % down * rows;
      tile.fill(i / across / down, top, std::min(rows, a.rows - top), i % across * COLUMNS);
    }
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(product_forward)(const saccade_product* a) {
  if (!saccade_product_is_sound(a)) return -1;
  a->out_type == SACCADE_DOUBLE ? multiply<double>(*a) : multiply<float>(*a);
  return 0;
}
