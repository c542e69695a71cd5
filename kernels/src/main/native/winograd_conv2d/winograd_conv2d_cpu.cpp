// Winograd convolution (Lavin and Gray 2016) with interpolation points 0, +-5/8, +-3/2, infinity.
// These lose less precision than 0, +-1, +-2, infinity. Each thread transforms a block of tiles,
// multiplies it by the transformed weights at 36 positions, and transforms the products back.

#include <omp.h>

#include "common/simd.h"
#include "winograd_conv2d/winograd_conv2d.h"

namespace {

constexpr int L = LANES<float>;
constexpr int OUT = SACCADE_WINOGRAD_OUT, IN = SACCADE_WINOGRAD_IN, POSITIONS = IN * IN;
constexpr int V = 2;                          // vectors of output channels of a product
constexpr int R = SACCADE_REGISTERS / 2 - V;  // tiles of a product
constexpr int WIDTH = V * L;                  // output channels of a block of weights
constexpr int TILES = 2 * R;                  // tiles of a block
constexpr int ITEMS = 3;                      // least work items per thread

typedef Vec<float> Floats;

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

// Weight transform of a row or column of a filter, in double precision.
void transform_weights(const double* w, double* to) {
  const double a = A, b = B, a2 = a * a, b2 = b * b;
  const double by_a = 1 / (2 * a2 * (a2 - b2)), by_b = 1 / (2 * b2 * (b2 - a2));
  to[0] = w[0] / (a2 * b2);
  to[1] = by_a * (w[0] + a * w[1] + a2 * w[2]);
  to[2] = by_a * (w[0] - a * w[1] + a2 * w[2]);
  to[3] = by_b * (w[0] + b * w[1] + b2 * w[2]);
  to[4] = by_b * (w[0] - b * w[1] + b2 * w[2]);
  to[5] = w[2];
}

int64_t padded(int64_t channels) { return ceil_div(channels, L) * L; }

// Input channels that are multiplied at once: bfloat16 instructions add two products.
template <class P>
constexpr int PAIR = sizeof(float) / sizeof(P);

template <class P>
int64_t padded_in(int64_t channels) {
  return ceil_div(channels, PAIR<P>) * PAIR<P>;
}

// Packs weights as [blocks of WIDTH output channels][positions][in / PAIR][output channels][PAIR].
template <class P>
void pack(const saccade_winograd_conv2d& a) {
  const int64_t in = padded_in<P>(a.in);
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < padded(a.out); k++) {
    const int64_t block = k / WIDTH;
    const int64_t width = std::min<int64_t>(WIDTH, padded(a.out) - block * WIDTH);
    P* to = static_cast<P*>(a.packed) + block * POSITIONS * in * WIDTH + k % WIDTH * PAIR<P>;
    for (int64_t c = 0; c < in; c++) {
      double by_column[IN][3] = {}, all[POSITIONS] = {};
      if (k < a.out && c < a.in) {
        const float* w = a.weight + (k * a.in + c) * 9;
        for (int j = 0; j < 3; j++) {
          const double column[3] = {w[j], w[3 + j], w[6 + j]};
          double transformed[IN];
          transform_weights(column, transformed);
          for (int i = 0; i < IN; i++) by_column[i][j] = transformed[i];
        }
        for (int i = 0; i < IN; i++) transform_weights(by_column[i], all + i * IN);
      }
      for (int64_t p = 0; p < POSITIONS; p++) {
        narrow(static_cast<float>(all[p]),
               to[(p * in + c / PAIR<P> * PAIR<P>)*width + c % PAIR<P>]);
      }
    }
  }
}

// out = left right, for R rows of left, [.., in], and right, [in, VECTORS * L].
template <int VECTORS>
inline void multiply(int64_t in, const float* left, const float* right, float* out) {
  Floats sums[R][VECTORS] = {};
  for (int64_t c = 0; c < in; c++, left++, right += VECTORS * L) {
    Floats near[VECTORS];
    for (int v = 0; v < VECTORS; v++) near[v] = load(right + v * L);
#pragma GCC unroll 14
    for (int i = 0; i < R; i++) {
      const Floats factor = broadcast(left[i * in]);
      for (int v = 0; v < VECTORS; v++) sums[i][v] += factor * near[v];
    }
  }
  for (int i = 0; i < R; i++) {
    for (int v = 0; v < VECTORS; v++) store(out + i * WIDTH + v * L, sums[i][v]);
  }
}

// The same with products of bfloat16, two channels at a time.
#if defined(__AVX512F__)
template <int VECTORS>
__attribute__((target("avx512bf16"))) inline void multiply(int64_t in, const BFloat16* left,
                                                           const BFloat16* right, float* out) {
  __m512 sums[R][VECTORS] = {};
  for (int64_t c = 0; c < in; c += 2, left += 2, right += 2 * VECTORS * L) {
    __m512bh near[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
      near[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(right + 2 * v * L));
    }
#pragma GCC unroll 14
    for (int i = 0; i < R; i++) {
      int32_t pair;
      memcpy(&pair, left + i * in, sizeof pair);
      const __m512bh factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
      for (int v = 0; v < VECTORS; v++) {
        sums[i][v] = _mm512_dpbf16_ps(sums[i][v], factor, near[v]);
      }
    }
  }
  for (int i = 0; i < R; i++) {
    for (int v = 0; v < VECTORS; v++) _mm512_storeu_ps(out + i * WIDTH + v * L, sums[i][v]);
  }
}

bool has_bfloat16_products() { return __builtin_cpu_supports("avx512bf16"); }
#else
template <int VECTORS>
void multiply(int64_t, const BFloat16*, const BFloat16*, float*) {}

bool has_bfloat16_products() { return false; }
#endif

// A convolution of maps of type S with products of type P.
template <class S, class P>
class Convolution {
 public:
  explicit Convolution(const saccade_winograd_conv2d& arguments)
      : a(arguments),
        out_h(a.h + 2 * a.padding - 2),
        out_w(a.w + 2 * a.padding - 2),
        down(ceil_div(out_h, OUT)),
        across(ceil_div(out_w, OUT)),
        tiles(a.n * down * across),
        in(padded_in<P>(a.in)) {}

  // Threads share blocks of tiles; if these are few, also ranges of output channels.
  void run() const {
    const int64_t blocks = ceil_div(tiles, TILES), widths = ceil_div(padded(a.out), WIDTH);
    const int64_t wanted = ceil_div(ITEMS * omp_get_max_threads(), blocks);
    const int64_t ranges = std::min(widths, wanted);
#pragma omp parallel
    {
      const Buffer<P> inputs(POSITIONS * TILES * in);
      const Buffer<float> products(POSITIONS * TILES * WIDTH, Unset());
      const Buffer<S> zeros(a.in);
#pragma omp for schedule(dynamic)
      for (int64_t item = 0; item < blocks * ranges; item++) {
        const int64_t first = item / ranges * TILES, range = item % ranges;
        const int64_t count = std::min<int64_t>(TILES, tiles - first);
        for (int64_t t = 0; t < count; t++) read(first + t, zeros, inputs + t * in);
        for (int64_t b = range * widths / ranges; b < (range + 1) * widths / ranges; b++) {
          const int vectors = std::min<int64_t>(V, (padded(a.out) - b * WIDTH) / L);
          multiply_positions(count, vectors, inputs,
                             static_cast<const P*>(a.packed) + b * POSITIONS * in * WIDTH,
                             products);
          for (int64_t t = 0; t < count; t++) {
            for (int v = 0; v < vectors; v++) {
              write(first + t, b * WIDTH + v * L, products + t * WIDTH + v * L);
            }
          }
        }
      }
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
        pixels[i * IN + j] = inside ? static_cast<const S*>(a.x) + pixel * a.in : zeros;
      }
    }
    by_vectors<float, 1>(a.in, [&](auto, auto whole, int64_t c) {
      const int64_t count = a.in - c;
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
      const Floats bias = a.bias ? take<whole>(a.bias + channel, count) : Floats{};
      for (int64_t i = 0; i < rows; i++) {
        Floats row[OUT];
        transform_output(by_column + i * IN, row);
        const int64_t pixel = (at.image * out_h + at.y + i) * out_w + at.x;
        for (int64_t j = 0; j < columns; j++) {
          const int64_t index = (pixel + j) * a.out + channel;
          Floats sum = row[j] + bias;
          if (a.add) sum += take<whole>(static_cast<const S*>(a.add) + index, count);
          // A NaN stays NaN.
          if (a.relu) sum = sum < Floats{} ? Floats{} : sum;
          put<whole>(sum, static_cast<S*>(a.y) + index, count);
        }
      }
    };
    count < L ? finish(std::false_type{}) : finish(std::true_type{});
  }

  const saccade_winograd_conv2d& a;
  const int64_t out_h, out_w, down, across, tiles, in;
};

template <class F>
int with_map_type(saccade_type type, F f) {
  return type == SACCADE_FLOAT ? f(float{}) : f(BFloat16{});
}

}  // namespace

extern "C" int SACCADE_KERNEL(winograd_conv2d_size)(saccade_winograd_conv2d* a) {
  const bool wide = a->products == SACCADE_FLOAT;
  const int64_t in = wide ? padded_in<float>(a->in) : padded_in<BFloat16>(a->in);
  a->packed_count = POSITIONS * in * padded(a->out);
  return 0;
}

extern "C" int SACCADE_KERNEL(winograd_conv2d_pack)(const saccade_winograd_conv2d* a) {
  if (!saccade_winograd_conv2d_is_sound(a)) return -1;
  a->products == SACCADE_FLOAT ? pack<float>(*a) : pack<BFloat16>(*a);
  return 0;
}

extern "C" int SACCADE_KERNEL(winograd_conv2d_forward)(const saccade_winograd_conv2d* a) {
  if (!saccade_winograd_conv2d_is_sound(a)) return -1;
  if (a->products == SACCADE_BFLOAT16 && !has_bfloat16_products()) return -3;
  return with_map_type(a->type, [&](auto stored) {
    using S = decltype(stored);
    if (a->products == SACCADE_FLOAT) {
      Convolution<S, float>(*a).run();
    } else {
      Convolution<S, BFloat16>(*a).run();
    }
    return 0;
  });
}
