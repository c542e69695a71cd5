// Products of matrices that lie in the cache, a block of sums in registers at a time.
#pragma once

#include "common/simd.h"

namespace {

// A matrix, row by row.
template <class T>
struct Rows {
  const T* at;
  int64_t stride;
  T operator()(int64_t row, int64_t column) const { return at[row * stride + column]; }
  Rows below(int64_t rows) const { return {at + rows * stride, stride}; }
};

// A matrix, column by column.
template <class T>
struct Columns {
  const T* at;
  int64_t stride;
  T operator()(int64_t row, int64_t column) const { return at[column * stride + row]; }
  Columns below(int64_t rows) const { return {at + rows, stride}; }
};

// The rows of a block of V vectors: what the registers hold beside V of the right factor and two
// more.
template <int V>
constexpr int BLOCK_ROWS = std::min(8, (SACCADE_REGISTERS - V - 2) / V);

template <class T, int R, int V, class Left, class Start>
inline void multiply_block(Left left, int steps, const T* right, int64_t right_stride, T* out,
                           int64_t out_stride, Start start) {
  Vec<T> sums[R][V];
  for (int i = 0; i < R; i++) {
    for (int v = 0; v < V; v++) sums[i][v] = start(i, v * LANES<T>);
  }
  for (int k = 0; k < steps; k++) {
    Vec<T> near[V];
    for (int v = 0; v < V; v++) near[v] = load(right + k * right_stride + v * LANES<T>);
#pragma GCC unroll 8
    for (int i = 0; i < R; i++) {
      const Vec<T> factor = broadcast(left(i, k));
      for (int v = 0; v < V; v++) sums[i][v] += factor * near[v];
    }
  }
  for (int i = 0; i < R; i++) {
    for (int v = 0; v < V; v++) store(out + i * out_stride + v * LANES<T>, sums[i][v]);
  }
}

template <class T, int R, int V, class Left, class Start>
inline void multiply_rows(int rows, Left left, int steps, const T* right, int64_t right_stride,
                          T* out, int64_t out_stride, Start start) {
  if (rows == R) {
    multiply_block<T, R, V>(left, steps, right, right_stride, out, out_stride, start);
  } else if constexpr (R > 1) {
    multiply_rows<T, R - 1, V>(rows, left, steps, right, right_stride, out, out_stride, start);
  }
}

// What sums start with.
template <class T>
struct Zeros {
  Vec<T> operator()(int64_t, int64_t) const { return Vec<T>{}; }
  Zeros from(int64_t, int64_t) const { return {}; }
};

// Sums go on from what there is.
template <class T>
struct GoOn {
  const T* at;
  int64_t stride;
  Vec<T> operator()(int64_t row, int64_t column) const { return load(at + row * stride + column); }
  GoOn from(int64_t row, int64_t column) const { return {at + row * stride + column, stride}; }
};

// out = start + left right, of whole vectors of columns, in blocks of V vectors and rows as equal
// as can be.
template <class T, int V = SACCADE_REGISTERS / 8, class Left, class Start = Zeros<T>>
inline void multiply(int rows, int columns, int steps, Left left, const T* right,
                     int64_t right_stride, T* out, int64_t out_stride, Start start = {}) {
  const int blocks = static_cast<int>(ceil_div(rows, BLOCK_ROWS<V>));
  int column = 0;
  for (; column + V * LANES<T> <= columns; column += V * LANES<T>) {
    for (int block = 0; block < blocks; block++) {
      const int first = block * rows / blocks, end = (block + 1) * rows / blocks;
      multiply_rows<T, BLOCK_ROWS<V>, V>(end - first, left.below(first), steps, right + column,
                                         right_stride, out + first * out_stride + column,
                                         out_stride, start.from(first, column));
    }
  }
  if constexpr (V > 1) {
    if (column < columns) {
      multiply<T, V / 2>(rows, columns - column, steps, left, right + column, right_stride,
                         out + column, out_stride, start.from(0, column));
    }
  }
}

// Writes the columns of a matrix as rows; both of whole vectors of rows and columns.
template <class T>
inline void transpose(int rows, int columns, const T* from, int64_t from_stride, T* to,
                      int64_t to_stride) {
  constexpr int L = LANES<T>;
  for (int row = 0; row < rows; row += L) {
    for (int column = 0; column < columns; column += L) {
      Vec<T> block[L];
      for (int i = 0; i < L; i++) block[i] = load(from + (row + i) * from_stride + column);
      transpose<T>(block);
      for (int i = 0; i < L; i++) store(to + (column + i) * to_stride + row, block[i]);
    }
  }
}

// The same for any number of rows and columns, which begin where from and to say.
template <class T, class From, class To>
inline void transpose(int64_t rows, int64_t columns, From from, To to) {
  constexpr int L = LANES<T>;
  for (int64_t row = 0; row < rows; row += L) {
    const int64_t down = std::min<int64_t>(L, rows - row);
    const T* starts[L];
    for (int64_t i = 0; i < down; i++) starts[i] = from(row + i);
    for (int64_t column = 0; column < columns; column += L) {
      const int64_t across = std::min<int64_t>(L, columns - column);
      Vec<T> block[L] = {};
      for (int64_t i = 0; i < down; i++) {
        block[i] = across == L ? load(starts[i] + column) : take<false>(starts[i] + column, across);
      }
      transpose<T>(block);
      for (int64_t i = 0; i < across; i++) {
        T* end = to(column + i) + row;
        down == L ? store(end, block[i]) : put<false>(block[i], end, down);
      }
    }
  }
}

}  // namespace
