// Products of matrices of any size, a tile of the result at a time. What is not in whole vectors of
// the type of sums is copied into some, a stretch of the inner side at a time.

#include "matrix.h"

namespace {

constexpr int64_t ROWS = 48, COLUMNS = 128;  // of a tile
constexpr int64_t STRETCH = 128;

template <class T>
constexpr saccade_type TYPE = sizeof(T) == sizeof(double) ? SACCADE_DOUBLE : SACCADE_FLOAT;

// A matrix as it is stored, row by row.
struct Stored {
  saccade_type type;
  const void* at;
  int64_t stride;
};

// Calls f with the first number of a matrix, if it is one whose sums are of type T.
template <class T, class F>
void with_numbers(const Stored& m, F f) {
  with_type(m.type, [&](auto number) {
    if constexpr (std::is_same_v<SumOf<decltype(number)>, T>) f(static_cast<const decltype(number)*>(m.at));
    return 0;
  });
}

// A part of a matrix, where it is or in a copy; of whole vectors, where that is asked for.
template <class T>
Rows<T> part(const Stored& m, int64_t row, int64_t column, int64_t rows, int64_t columns, bool whole,
             T* room, int64_t room_stride) {
  const int64_t first = row * m.stride + column;
  if (m.type == TYPE<T> && (!whole || columns % LANES<T> == 0)) {
    return {static_cast<const T*>(m.at) + first, m.stride};
  }
  with_numbers<T>(m, [&](const auto* from) {
    for (int64_t i = 0; i < rows; i++) widen(from + first + i * m.stride, room + i * room_stride, columns);
  });
  return {room, room_stride};
}

// Sums go on from what there is.
template <class T>
struct GoOn {
  const T* at;
  int64_t stride;
  Vec<T> operator()(int64_t row, int64_t column) const { return load(at + row * stride + column); }
  GoOn from(int64_t row, int64_t column) const { return {at + row * stride + column, stride}; }
};

template <class T>
class Tiles {
 public:
  explicit Tiles(const saccade_product& a)
      : a(a), left(ROWS * STRETCH), right(STRETCH * COLUMNS), sums(ROWS * COLUMNS) {}

  static int64_t down(const saccade_product& a) { return ceil_div(a.rows, ROWS); }
  static int64_t across(const saccade_product& a) { return ceil_div(a.columns, COLUMNS); }

  void fill(int64_t n, int64_t top, int64_t first) {
    const int64_t rows = std::min(ROWS, a.rows - top), columns = std::min(COLUMNS, a.columns - first);
    const int64_t whole = ceil_div(columns, LANES<T>) * LANES<T>;
    for (int64_t row = 0; row < rows; row++) {
      T* to = sums + row * COLUMNS;
      if (a.start == nullptr) {
        std::fill(to, to + columns, T(0));
      } else {
        const T* start = static_cast<const T*>(a.start) + n * a.columns + first;
        std::copy(start, start + columns, to);
      }
    }
    for (int64_t k = 0; k < a.inner; k += STRETCH) {
      const int64_t steps = std::min(STRETCH, a.inner - k);
      const Rows<T> r = part<T>({a.right_type, a.right, a.columns}, n * a.inner + k, first, steps, columns,
                                true, right, COLUMNS);
      auto add = [&](auto factors) {
        multiply<T>(rows, whole, steps, factors, r.at, r.stride, sums, COLUMNS, GoOn<T>{sums, COLUMNS});
      };
      if (a.left_turned) {
        const Rows<T> l = part<T>({a.left_type, a.left, a.rows}, n * a.inner + k, top, steps, rows, false,
                                  left, ROWS);
        add(Columns<T>{l.at, l.stride});
      } else {
        add(part<T>({a.left_type, a.left, a.inner}, n * a.rows + top, k, rows, steps, false, left, STRETCH));
      }
    }
    with_numbers<T>({a.out_type, a.out, a.columns}, [&](const auto* out) {
      auto* to = const_cast<std::remove_const_t<std::remove_pointer_t<decltype(out)>>*>(out) +
                 (n * a.rows + top) * a.columns + first;
      for (int64_t row = 0; row < rows; row++, to += a.columns) narrow(sums + row * COLUMNS, to, columns);
    });
  }

 private:
  const saccade_product& a;
  Buffer<T> left, right, sums;
};

template <class T>
void multiply(const saccade_product& a) {
  const int64_t down = Tiles<T>::down(a), across = Tiles<T>::across(a);
#pragma omp parallel
  {
    Tiles<T> tiles(a);
#pragma omp for schedule(dynamic)
    for (int64_t tile = 0; tile < a.n * down * across; tile++) {
      tiles.fill(tile / across / down, tile / across % down * ROWS, tile % across * COLUMNS);
    }
  }
}

bool has_double_sums(saccade_type type) { return type == SACCADE_DOUBLE; }

bool is_sound(const saccade_product& a) {
  return a.n >= 0 && a.rows >= 0 && a.columns >= 0 && a.inner >= 0 &&
         has_double_sums(a.left_type) == has_double_sums(a.right_type) &&
         has_double_sums(a.left_type) == has_double_sums(a.out_type);
}

}  // namespace

extern "C" int SACCADE_KERNEL(product_forward)(const saccade_product* a) {
  if (!is_sound(*a)) return -1;
  return has_double_sums(a->out_type) ? (multiply<double>(*a), 0) : (multiply<float>(*a), 0);
}
