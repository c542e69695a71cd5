// Winograd convolution (Lavin and Gray 2016) with interpolation points 0, +-5/8, +-3/2, infinity.
// These lose less precision than 0, +-1, +-2, infinity. Each thread transforms a block of tiles,
// multiplies it by the transformed weights at 36 positions, and transforms the products back.
// Ranges of input channels are convolved one after the other, so that their weights fit into L3.

#include "common/items.h"
#include "common/products.h"
#include "winograd_conv2d/winograd_conv2d.h"

namespace {

constexpr int L = LANES<float>;
constexpr int OUT = SACCADE_WINOGRAD_OUT, IN = SACCADE_WINOGRAD_IN, POSITIONS = IN * IN;
constexpr int TILES = 2 * R;    // tiles of a block
constexpr int ITEMS = 3;        // least work items per thread
constexpr int64_t RANGE = 512;  // input channels that are convolved at once

constexpr int FILTERS = LANES<double>;  // filters that are transformed at once
typedef Vec<double> Doubles;

constexpr float A = 0.625f, B = 1.5f, A2 = A * A, B2 = B * B;

// Input transform of a row or column of a tile.
template <class T>
inline void transform_input(const T* d, T* to) {
  const T even_a = d[4] - B2 * d[2], odd_a = A * (d[3] - B2 * d[1]);
  const T even_b = d[4] - A2 * d[2], odd_b = B * (d[3] - A2 * d[1]);
  to[0] = A2 * B2 * d[0] - (A2 + B2) * d[2] + d[4];
  to[1] = even_a + odd_a;
  to[2] = even_a - odd_a;
  to[3] = even_b + odd_b;
  to[4] = even_b - odd_b;
  to[5] = A2 * B2 * d[1] - (A2 + B2) * d[3] + d[5];
}

// Output transform of a row or column of products.
template <class T>
inline void transform_output(const T* m, T* to) {
  const T even_a = m[1] + m[2], odd_a = m[1] - m[2], even_b = m[3] + m[4], odd_b = m[3] - m[4];
  to[0] = m[0] + even_a + even_b;
  to[1] = A * odd_a + B * odd_b;
  to[2] = A2 * even_a + B2 * even_b;
  to[3] = A * A2 * odd_a + B * B2 * odd_b + m[5];
}

// Weight transform of a row or column of filters, in double precision.
void transform_weights(const Doubles* w, Doubles* to) {
  const double a = A, b = B, a2 = a * a, b2 = b * b;
  const double by_a = 1 / (2 * a2 * (a2 - b2)), by_b = 1 / (2 * b2 * (b2 - a2));
  to[0] = w[0] / (a2 * b2);
  to[1] = by_a * (w[0] + a * w[1] + a2 * w[2]);
  to[2] = by_a * (w[0] - a * w[1] + a2 * w[2]);
  to[3] = by_b * (w[0] + b * w[1] + b2 * w[2]);
  to[4] = by_b * (w[0] - b * w[1] + b2 * w[2]);
  to[5] = w[2];
}

// Packs weights as [ranges of input channels][blocks of WIDTH output channels][positions][in /
// PAIR] [output channels][PAIR].
template <class P>
void pack(const saccade_winograd_conv2d& a, int64_t first) {
  const int64_t in = padded_row<P>(std::min(RANGE, a.in - first)), out = padded_columns(a.out);
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < out; k += FILTERS) {
    const int64_t block = k / WIDTH, width = std::min<int64_t>(WIDTH, out - block * WIDTH);
    P* to = static_cast<P*>(a.packed) + POSITIONS * (first * out + block * in * WIDTH) +
            k % WIDTH * GROUP<P>;
    for (int64_t c = 0; c < in; c++) {
      Doubles columns[3][3] = {}, by_row[3][IN], all[IN];
      for (int64_t f = 0; first + c < a.in && f < std::min<int64_t>(FILTERS, a.out - k); f++) {
        const float* w = a.weight + ((k + f) * a.in + first + c) * 9;
        for (int i = 0; i < 9; i++) columns[i % 3][i / 3][f] = w[i];
      }
      for (int j = 0; j < 3; j++) transform_weights(columns[j], by_row[j]);
      for (int i = 0; i < IN; i++) {
        const Doubles row[3] = {by_row[0][i], by_row[1][i], by_row[2][i]};
        transform_weights(row, all);
        for (int j = 0; j < IN; j++) {
          P* position = to + ((i * IN + j) * in + c / GROUP<P> * GROUP<P>)*width + c % GROUP<P>;
          for (int f = 0; f < FILTERS; f++) {
            narrow(static_cast<float>(all[j][f]), position[f * GROUP<P>]);
          }
        }
      }
    }
  }
}

// Convolves a range of input channels of maps of type S with products of type P; from the second
// range on, adds to the result.
template <class S, class P>
class Convolution {
 public:
  Convolution(const saccade_winograd_conv2d& arguments, int64_t first_channel)
      : a(arguments),
        first_in(first_channel),
        channels(std::min(RANGE, a.in - first_in)),
        add(static_cast<const S*>(first_in == 0 ? a.add : a.y)),
        relu(a.relu && first_in + channels == a.in),
        out_h(a.h + 2 * a.padding - 2),
        out_w(a.w + 2 * a.padding - 2),
        down(ceil_div(out_h, OUT)),
        across(ceil_div(out_w, OUT)),
        tiles(a.n * down * across),
        in(padded_row<P>(channels)) {}

  // Threads share blocks of tiles; if these are few, also ranges of output channels.
  void run() const {
    const int64_t blocks = ceil_div(tiles, TILES), widths = ceil_div(padded_columns(a.out), WIDTH);
    const int64_t wanted = ceil_div(ITEMS * omp_get_max_threads(), blocks);
    const int64_t ranges = std::min(widths, wanted);
    Items items(tiles, TILES, ranges);
#pragma omp parallel
    {
      const Buffer<P> inputs(POSITIONS * TILES * in);
      const Buffer<float> products(POSITIONS * TILES * WIDTH, Unset());
      const Buffer<S> zeros(channels);
      items.run([&](int64_t item) {
        const int64_t first = item / ranges * TILES, range = item % ranges;
        const int64_t count = std::min<int64_t>(TILES, tiles - first);
        for (int64_t t = 0; t < count; t++) read(first + t, zeros, inputs + t * in);
        for (int64_t b = range * widths / ranges; b < (range + 1) * widths / ranges; b++) {
          const int vectors = std::min<int64_t>(V, (padded_columns(a.out) - b * WIDTH) / L);
          multiply_positions(count, vectors, inputs,
                             static_cast<const P*>(a.packed) +
                                 POSITIONS * (first_in * padded_columns(a.out) + b * in * WIDTH),
                             products);
          for (int64_t t = 0; t < count; t++) {
            for (int v = 0; v < vectors; v++) {
              write(first + t, b * WIDTH + v * L, products + t * WIDTH + v * L);
            }
          }
        }
      });
    }
  }

 private:
  struct Place {
    int64_t image, y, x; /* of the first output pixel of a tile */
  };

  Place place(int64_t tile) const {
    return {tile / (down * across), tile / across % down * OUT, tile % across * OUT};
  }

  // Transforms the input of a tile: [positions][TILES][in].
  void read(int64_t tile, const S* zeros, P* to) const {
    const Place at = place(tile);
    const S* pixels[POSITIONS];
    for (int i = 0; i < IN; i++) {
      for (int j = 0; j < IN; j++) {
        const int64_t y = at.y + i - a.padding, x = at.x + j - a.padding;
        const bool inside = y >= 0 && y < a.h && x >= 0 && x < a.w;
        const int64_t pixel = (at.image * a.h + y) * a.w + x;
        pixels[i * IN + j] = inside ? static_cast<const S*>(a.x) + pixel * a.in + first_in : zeros;
      }
    }
    by_vectors<float, 1>(channels, [&](auto, auto whole, int64_t c) {
      const int64_t count = channels - c;
      Floats by_column[POSITIONS], all[POSITIONS];
      for (int j = 0; j < IN; j++) {
        Floats column[IN], transformed[IN];
        for (int i = 0; i < IN; i++) column[i] = take<whole>(pixels[i * IN + j] + c, count);
        transform_input(column, transformed);
        for (int i = 0; i < IN; i++) by_column[i * IN + j] = transformed[i];
      }
      for (int i = 0; i < IN; i++) transform_input(by_column + i * IN, all + i * IN);
      for (int p = 0; p < POSITIONS; p++) put<whole>(all[p], to + p * TILES * in + c, count);
    });
  }

  void multiply_positions(int64_t count, int vectors, const P* inputs, const P* weights,
                          float* products) const {
    for (int p = 0; p < POSITIONS; p++) {
      const P* right = weights + p * in * vectors * L;
      for (int64_t t = 0; t < count; t += R) {
        const P* left = inputs + (p * TILES + t) * in;
        float* to = products + (p * TILES + t) * WIDTH;
        vectors == V ? multiply<V>(in, left, right, to) : multiply<1>(in, left, right, to);
      }
    }
  }

  // Transforms products, [positions][TILES][WIDTH], and writes a vector of channels of a tile.
  void write(int64_t tile, int64_t channel, const float* products) const {
    const Place at = place(tile);
    Floats by_column[OUT * IN];
    for (int j = 0; j < IN; j++) {
      Floats column[IN], transformed[OUT];
      for (int i = 0; i < IN; i++) column[i] = load(products + (i * IN + j) * TILES * WIDTH);
      transform_output(column, transformed);
      for (int i = 0; i < OUT; i++) by_column[i * IN + j] = transformed[i];
    }
    const int64_t rows = std::min<int64_t>(OUT, out_h - at.y);
    const int64_t columns = std::min<int64_t>(OUT, out_w - at.x), count = a.out - channel;
    const auto finish = [&](auto whole) {
      const Floats bias = a.bias && first_in == 0 ? take<whole>(a.bias + channel, count) : Floats{};
      for (int64_t i = 0; i < rows; i++) {
        Floats row[OUT];
        transform_output(by_column + i * IN, row);
        const int64_t pixel = (at.image * out_h + at.y + i) * out_w + at.x;
        for (int64_t j = 0; j < columns; j++) {
          const int64_t index = (pixel + j) * a.out + channel;
          Floats sum = row[j] + bias;
          if (add) sum += take<whole>(add + index, count);
          // A NaN stays NaN.
          if (relu) sum = max<float>(Floats{}, sum);
          put<whole>(sum, static_cast<S*>(a.y) + index, count);
        }
      }
    };
    count < L ? finish(std::false_type{}) : finish(std::true_type{});
  }

  const saccade_winograd_conv2d& a;
  const int64_t first_in, channels;
  const S* const add;
  const bool relu;
  const int64_t out_h, out_w, down, across, tiles, in;
};

template <class F>
int with_map_type(saccade_type type, F f) {
  return type == SACCADE_FLOAT ? f(float{}) : f(BFloat16{});
}

}  // namespace

extern "C" int SACCADE_KERNEL(winograd_conv2d_size)(saccade_winograd_conv2d* a) {
  const bool wide = a->products == SACCADE_FLOAT;
  const int64_t in = wide ? padded_row<float>(a->in) : padded_row<BFloat16>(a->in);
  a->packed_count = POSITIONS * in * padded_columns(a->out);
  return 0;
}

extern "C" int SACCADE_KERNEL(winograd_conv2d_pack)(const saccade_winograd_conv2d* a) {
  if (!saccade_winograd_conv2d_is_sound(a)) return -1;
  for (int64_t c = 0; c < a->in; c += RANGE) {
    a->products == SACCADE_FLOAT ? pack<float>(*a, c) : pack<BFloat16>(*a, c);
  }
  return 0;
}

extern "C" int SACCADE_KERNEL(winograd_conv2d_forward)(const saccade_winograd_conv2d* a) {
  if (!saccade_winograd_conv2d_is_sound(a)) return -1;
  if (a->products == SACCADE_BFLOAT16 && !has_bfloat16_products()) return -3;
  return with_map_type(a->type, [&](auto stored) {
    using S = decltype(stored);
    for (int64_t c = 0; c < a->in; c += RANGE) {
      if (a->products == SACCADE_FLOAT) {
        Convolution<S, float>(*a, c).run();
      } else {
        Convolution<S, BFloat16>(*a, c).run();
      }
    }
    return 0;
  });
}
