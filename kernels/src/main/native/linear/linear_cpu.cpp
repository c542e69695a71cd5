// The product of two tall matrices, one of them transposed: a tile of the result at a time, over a
// group of rows. What goes into a tile is copied close together a few rows at a time, and the sums
// of a block stay in registers over these.

#include "common/simd.h"
#include "linear/linear.h"

namespace {

constexpr int L = LANES<float>;
constexpr int R = SACCADE_REGISTERS / 4, V = 3;  // rows of a block of sums, and vectors of one
constexpr int WIDTH = V * L;
constexpr int64_t SIDE = 192;   // of a tile, whole blocks both ways
constexpr int64_t STRETCH = 128;  // rows that are copied at a time
constexpr int64_t ENOUGH = 32;  // tiles to share among threads, a number that is not of these
constexpr int64_t FEW = 16;  // rows that are copied at once
constexpr int64_t LEAST_ROWS = 512;
constexpr int64_t LINE = 64 / sizeof(float);

typedef Vec<float> Sums[R][V];

// Columns of a matrix.
struct Strip {
  const float* matrix;
  int64_t stride, first, count;

  // Copies rows as panels of W columns, [panels][rows][W]; what is not there is 0. A few rows at a
  // time, so that their pages and lines are at hand for all panels.
  template <int W>
  void pack(int64_t row, int64_t rows, float* to) const {
    for (int64_t top = 0; top < rows; top += FEW) {
      const int64_t bottom = std::min(top + FEW, rows);
      for (int64_t c = 0; c < count; c += W) {
        const float* from = matrix + (row + top) * stride + first + c;
        const int64_t wide = std::min<int64_t>(W, count - c);
        float* at = to + c * rows + top * W;
        for (int64_t i = top; i < bottom; i++, from += stride, at += W) {
          if (wide == W) {
            memcpy(at, from, W * sizeof(float));
          } else {
            std::fill(std::copy(from, from + wide, at), at + W, 0.f);
          }
        }
      }
    }
  }

  // Asks for rows that are to be copied next.
  void prefetch(int64_t row, int64_t end) const {
    for (; row < end; row++) {
      for (int64_t c = 0; c < count; c += LINE) {
        __builtin_prefetch(matrix + row * stride + first + c, 0, 2);
      }
    }
  }
};

// Adds the rows of a panel of R columns.
void add_rows(int64_t rows, const float* panel, float* sums) {
  constexpr int AT_ONCE = 4;
  Vec<float> parts[AT_ONCE] = {};
  const int64_t count = rows * R;
  int64_t i = 0;
  for (; i + AT_ONCE * L <= count; i += AT_ONCE * L) {
    for (int j = 0; j < AT_ONCE; j++) parts[j] += load(panel + i + j * L);
  }
  static_assert(AT_ONCE * L % R == 0);
  if constexpr (L % R == 0) {
    const Vec<float> part = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    for (int lane = 0; lane < L; lane++) sums[lane % R] += part[lane];
  } else {
    for (int j = 0; j < AT_ONCE; j++) {
      for (int lane = 0; lane < L; lane++) sums[(j * L + lane) % R] += parts[j][lane];
    }
  }
  for (; i < count; i++) sums[i % R] += panel[i];
}

void add_products(int64_t rows, const float* left, const float* right, Sums& stored) {
  Vec<float> sums[R][V];
  for (int i = 0; i < R; i++) {
    for (int v = 0; v < V; v++) sums[i][v] = stored[i][v];
  }
  for (int64_t row = 0; row < rows; row++, left += R, right += WIDTH) {
    Vec<float> near[V];
    for (int v = 0; v < V; v++) near[v] = load(right + v * L);
#pragma GCC unroll 8
    for (int i = 0; i < R; i++) {
      const Vec<float> factor = broadcast(left[i]);
      for (int v = 0; v < V; v++) sums[i][v] += factor * near[v];
    }
  }
  for (int i = 0; i < R; i++) {
    for (int v = 0; v < V; v++) stored[i][v] = sums[i][v];
  }
}

// What a thread works in.
class Tile {
 public:
  Tile() : left(SIDE * STRETCH), right(SIDE * STRETCH), sums(SIDE * SIDE), row_sums(SIDE) {}

  // Sums up products over some rows.
  void fill(const Strip& d_out, const Strip& x, int64_t row, int64_t end, bool with_bias) {
    const int64_t down = ceil_div(d_out.count, R), across = ceil_div(x.count, WIDTH);
    std::fill(blocks()[0][0], blocks()[0][0] + down * across * R * V, Vec<float>{});
    std::fill(row_sums + 0, row_sums + SIDE, 0.f);
    for (; row < end; row += STRETCH) {
      const int64_t rows = std::min(STRETCH, end - row);
      d_out.pack<R>(row, rows, left);
      x.pack<WIDTH>(row, rows, right);
      const int64_t next = std::min(STRETCH, end - row - rows), blocks_of_all = down * across;
      for (int64_t block = 0; with_bias && block < down; block++) {
        add_rows(rows, left + block * rows * R, row_sums + block * R);
      }
      for (int64_t column = 0; column < across; column++) {
        for (int64_t block = 0; block < down; block++) {
          const int64_t at = column * down + block;
          const int64_t from = row + rows + at * next / blocks_of_all;
          const int64_t to = row + rows + (at + 1) * next / blocks_of_all;
          d_out.prefetch(from, to);
          x.prefetch(from, to);
          add_products(rows, left + block * rows * R, right + column * rows * WIDTH,
                       blocks()[at]);
        }
      }
    }
  }

  void store_weights(const Strip& d_out, const Strip& x, float* to) const {
    const int64_t down = ceil_div(d_out.count, R);
    for (int64_t i = 0; i < d_out.count; i++) {
      for (int64_t k = 0; k < x.count; k += WIDTH) {
        const float* from = sums + (k / WIDTH * down + i / R) * R * WIDTH + i % R * WIDTH;
        std::copy(from, from + std::min<int64_t>(WIDTH, x.count - k),
                  to + (d_out.first + i) * x.stride + x.first + k);
      }
    }
  }

  void store_bias(const Strip& d_out, float* to) const {
    std::copy(row_sums + 0, row_sums + d_out.count, to + d_out.first);
  }

 private:
  Sums* blocks() const { return reinterpret_cast<Sums*>(static_cast<float*>(sums)); }

  const Buffer<float> left, right, sums, row_sums;
};

// out[i] is the sum of what the groups have for it.
void add_groups(int64_t groups, int64_t count, const float* from, float* out) {
#pragma omp for
  for (int64_t first = 0; first < count; first += SIDE) {
    const int64_t end = std::min(first + SIDE, count);
    std::copy(from + first, from + end, out + first);
    for (int64_t group = 1; group < groups; group++) {
      for (int64_t i = first; i < end; i++) out[i] += from[group * count + i];
    }
  }
}

void backward(const saccade_linear& a) {
  const int64_t across = ceil_div(a.in, SIDE), tiles = ceil_div(a.out, SIDE) * across;
  const int64_t most = std::max<int64_t>(1, a.rows / LEAST_ROWS);
  const int64_t groups = std::min(most, ceil_div(ENOUGH, tiles));
  const int64_t stretches = ceil_div(a.rows, STRETCH);
  const Buffer<float> weights(groups > 1 ? groups * a.out * a.in : 0);
  const Buffer<float> biases(groups > 1 ? groups * a.out : 0);
#pragma omp parallel
  {
    Tile tile;
#pragma omp for schedule(dynamic)
    for (int64_t item = 0; item < groups * tiles; item++) {
      const int64_t group = item / tiles, i = item % tiles / across * SIDE;
      const int64_t k = item % across * SIDE;
      const Strip d_out = {a.d_out, a.out, i, std::min(SIDE, a.out - i)};
      const Strip x = {a.x, a.in, k, std::min(SIDE, a.in - k)};
      const bool with_bias = a.d_bias != nullptr && k == 0;
      const int64_t row = group * stretches / groups * STRETCH;
      const int64_t end = (group + 1) * stretches / groups * STRETCH;
      tile.fill(d_out, x, row, std::min(end, a.rows), with_bias);
      tile.store_weights(d_out, x, groups > 1 ? weights + group * a.out * a.in : a.d_weight);
      if (with_bias) tile.store_bias(d_out, groups > 1 ? biases + group * a.out : a.d_bias);
    }
    if (groups > 1) {
      add_groups(groups, a.out * a.in, weights, a.d_weight);
      if (a.d_bias != nullptr) add_groups(groups, a.out, biases, a.d_bias);
    }
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(linear_backward)(const saccade_linear* a) {
  if (!saccade_linear_is_sound(a)) return -1;
  backward(*a);
  return 0;
}
