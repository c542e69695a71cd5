// Batch normalization with residual and ReLU. Rows are processed in blocks that stay in the cache:
// sums within a block are in the type of sums, sums over blocks in double.

#include <vector>

#include "batch_norm/batch_norm.h"
#include "common/simd.h"

namespace {

constexpr int TOGETHER = 4;               // vectors of channels, whose sums are in registers
constexpr int64_t BLOCK_BYTES = 1 << 15;  // of x

// Blocks are summed in this number of parts, so that the order of sums does not depend on the
// number of threads.
constexpr int64_t PARTS = 64;

template <class S>
struct Blocks {
  explicit Blocks(const saccade_batch_norm& a)
      : rows(a.rows),
        height(std::clamp<int64_t>(BLOCK_BYTES / (a.channels * static_cast<int64_t>(sizeof(S))), 16,
                                   512)),
        count(ceil_div(a.rows, height)),
        parts(std::min(PARTS, count)) {}

  int64_t start(int64_t block) const { return block * height; }
  int64_t size(int64_t block) const { return std::min(height, rows - block * height); }
  int64_t first(int64_t part) const { return part * count / parts; }

  const int64_t rows, height, count, parts;
};

// Channels, padded to whole vectors.
template <class T>
int64_t padded(int64_t channels) {
  return ceil_div(channels, LANES<T>) * LANES<T>;
}

// Number, mean and sum of squared deviations of the values of each channel.
struct Moments {
  double count = 0;
  double* mean;
  double* squares;

  template <class T>
  void add(double other, const T* other_mean, const T* other_squares, int64_t channels) {
    const double total = count + other, share = other / total, product = count * share;
    for (int64_t c = 0; c < channels; c++) {
      const double delta = other_mean[c] - mean[c];
      mean[c] += delta * share;
      squares[c] += other_squares[c] + delta * delta * product;
    }
    count = total;
  }
};

template <class S>
void block_moments(const S* x, int64_t rows, int64_t channels, SumOf<S>* mean, SumOf<S>* squares) {
  using T = SumOf<S>;
  by_vectors<T, TOGETHER>(channels, [&](auto vectors, auto whole, int64_t c) {
    Vec<T> sums[TOGETHER] = {}, level[TOGETHER];
    for (int64_t r = 0; r < rows; r++) {
      for (int i = 0; i < vectors; i++) {
        const int64_t at = c + i * LANES<T>;
        sums[i] += take<whole()>(x + r * channels + at, channels - at);
      }
    }
    for (int i = 0; i < vectors; i++) {
      level[i] = sums[i] / static_cast<T>(rows);
      store(mean + c + i * LANES<T>, level[i]);
      sums[i] = Vec<T>{};
    }
    for (int64_t r = 0; r < rows; r++) {
      for (int i = 0; i < vectors; i++) {
        const int64_t at = c + i * LANES<T>;
        const Vec<T> v = take<whole()>(x + r * channels + at, channels - at) - level[i];
        sums[i] += v * v;
      }
    }
    for (int i = 0; i < vectors; i++) store(squares + c + i * LANES<T>, sums[i]);
  });
}

template <class S>
int statistics(const saccade_batch_norm& a) {
  using T = SumOf<S>;
  const Blocks<S> blocks(a);
  const int64_t size = padded<T>(a.channels);
  const S* x = static_cast<const S*>(a.x);
  Buffer<double> memory((blocks.parts + 1) * 2 * size);
  std::vector<Moments> parts(blocks.parts + 1);
  for (int64_t p = 0; p <= blocks.parts; p++) {
    parts[p].mean = memory + 2 * p * size;
    parts[p].squares = parts[p].mean + size;
  }
#pragma omp parallel
  {
    Buffer<T> found(2 * size);
#pragma omp for schedule(static)
    for (int64_t p = 0; p < blocks.parts; p++) {
      for (int64_t b = blocks.first(p); b < blocks.first(p + 1); b++) {
        block_moments(x + blocks.start(b) * a.channels, blocks.size(b), a.channels, found + 0,
                      found + size);
        parts[p].add(blocks.size(b), found + 0, found + size, a.channels);
      }
    }
  }
  Moments& all = parts[blocks.parts];
  for (int64_t p = 0; p < blocks.parts; p++) {
    all.add(parts[p].count, parts[p].mean, parts[p].squares, a.channels);
  }
  for (int64_t c = 0; c < a.channels; c++) {
    static_cast<T*>(a.mean)[c] = static_cast<T>(all.mean[c]);
    static_cast<T*>(a.variance)[c] = static_cast<T>(all.squares[c] / a.rows);
  }
  return 0;
}

// Channels as vectors, read before the loop over the rows of a block.
template <class T>
struct Channels {
  template <class Whole, class Count>
  Channels(const T* from, int64_t c, int64_t channels, Whole, Count vectors) {
    for (int i = 0; i < vectors; i++) {
      const int64_t at = c + i * LANES<T>;
      values[i] = take<Whole::value>(from + at, channels - at);
    }
  }
  Vec<T> operator[](int i) const { return values[i]; }

  Vec<T> values[TOGETHER];
};

template <class T>
T inverse_deviation(const saccade_batch_norm& a, int64_t c) {
  return 1 / std::sqrt(static_cast<T*>(a.variance)[c] + static_cast<T>(a.eps));
}

template <class S>
int forward(const saccade_batch_norm& a) {
  using T = SumOf<S>;
  const Blocks<S> blocks(a);
  const int64_t channels = a.channels;
  const T *weight = static_cast<const T*>(a.weight), *bias = static_cast<const T*>(a.bias),
          *mean = static_cast<const T*>(a.mean);
  Buffer<T> scale(channels);
  for (int64_t c = 0; c < channels; c++) scale[c] = weight[c] * inverse_deviation<T>(a, c);
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < blocks.count; b++) {
    const int64_t start = blocks.start(b) * channels, rows = blocks.size(b);
    const S* x = static_cast<const S*>(a.x) + start;
    const S* residual = a.residual == nullptr ? nullptr : static_cast<const S*>(a.residual) + start;
    S* out = static_cast<S*>(a.out) + start;
    by_vectors<T, TOGETHER>(channels, [&](auto vectors, auto whole, int64_t c) {
      const Channels<T> m(mean, c, channels, whole, vectors), s(scale, c, channels, whole, vectors),
          shift(bias, c, channels, whole, vectors);
      for (int64_t r = 0; r < rows; r++) {
        for (int i = 0; i < vectors; i++) {
          const int64_t at = c + i * LANES<T>, known = channels - at, place = r * channels + at;
          Vec<T> v = (take<whole()>(x + place, known) - m[i]) * s[i] + shift[i];
          if (residual != nullptr) v += take<whole()>(residual + place, known);
          if (a.relu) v = max<T>(Vec<T>{}, v);
          put<whole()>(v, out + place, known);
        }
      }
    });
  }
  return 0;
}

// Reads the gradient before ReLU.
template <class S>
struct Gradient {
  using T = SumOf<S>;

  Gradient(const saccade_batch_norm& a, int64_t start)
      : d_out(static_cast<const S*>(a.d_out) + start),
        out(a.relu ? static_cast<const S*>(a.out) + start : nullptr) {}

  template <class Whole>
  Vec<T> operator()(Whole, int64_t place, int64_t known) const {
    const Vec<T> d = take<Whole::value>(d_out + place, known);
    if (out == nullptr) return d;
    return take<Whole::value>(out + place, known) > 0 ? d : Vec<T>{};
  }

  const S* d_out;
  const S* out;
};

// Sums of the gradient, and of its products with normalized values, over the rows of a block.
template <class S>
void block_sums(const saccade_batch_norm& a, int64_t start, int64_t rows, const SumOf<S>* scale,
                SumOf<S>* d_weight, SumOf<S>* d_bias) {
  using T = SumOf<S>;
  const int64_t channels = a.channels;
  const S* x = static_cast<const S*>(a.x) + start;
  const Gradient<S> gradient(a, start);
  by_vectors<T, TOGETHER>(channels, [&](auto vectors, auto whole, int64_t c) {
    const Channels<T> m(static_cast<const T*>(a.mean), c, channels, whole, vectors),
        s(scale, c, channels, whole, vectors);
    Vec<T> level[TOGETHER] = {}, slope[TOGETHER] = {};
    for (int64_t r = 0; r < rows; r++) {
      for (int i = 0; i < vectors; i++) {
        const int64_t at = c + i * LANES<T>, known = channels - at, place = r * channels + at;
        const Vec<T> d = gradient(whole, place, known);
        level[i] += d;
        slope[i] += d * (take<whole()>(x + place, known) - m[i]);
      }
    }
    for (int i = 0; i < vectors; i++) {
      store(d_bias + c + i * LANES<T>, level[i]);
      store(d_weight + c + i * LANES<T>, slope[i] * s[i]);
    }
  });
}

template <class S>
void sum_gradients(const saccade_batch_norm& a, const SumOf<S>* scale) {
  using T = SumOf<S>;
  const Blocks<S> blocks(a);
  const int64_t size = padded<T>(a.channels);
  Buffer<double> parts(blocks.parts * 2 * size);
#pragma omp parallel
  {
    Buffer<T> found(2 * size);
#pragma omp for schedule(static)
    for (int64_t p = 0; p < blocks.parts; p++) {
      double* sums = parts + 2 * p * size;
      for (int64_t b = blocks.first(p); b < blocks.first(p + 1); b++) {
        block_sums<S>(a, blocks.start(b) * a.channels, blocks.size(b), scale, found + 0,
                      found + size);
        for (int64_t i = 0; i < 2 * size; i++) sums[i] += found[i];
      }
    }
  }
  for (int64_t c = 0; c < a.channels; c++) {
    double d_weight = 0, d_bias = 0;
    for (int64_t p = 0; p < blocks.parts; p++) {
      d_weight += parts[2 * p * size + c];
      d_bias += parts[(2 * p + 1) * size + c];
    }
    static_cast<T*>(a.d_weight)[c] = static_cast<T>(d_weight);
    static_cast<T*>(a.d_bias)[c] = static_cast<T>(d_bias);
  }
}

template <class S>
int backward(const saccade_batch_norm& a) {
  using T = SumOf<S>;
  const Blocks<S> blocks(a);
  const int64_t channels = a.channels, size = padded<T>(channels);
  Buffer<T> scale(size), factor(size), level(size), slope(size);
  for (int64_t c = 0; c < channels; c++) scale[c] = inverse_deviation<T>(a, c);
  sum_gradients<S>(a, scale);
  for (int64_t c = 0; c < channels; c++) {
    factor[c] = static_cast<const T*>(a.weight)[c] * scale[c];
    if (a.is_constant) continue;
    level[c] = static_cast<T*>(a.d_bias)[c] / a.rows;
    slope[c] = static_cast<T*>(a.d_weight)[c] / a.rows * scale[c];
  }
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < blocks.count; b++) {
    const int64_t start = blocks.start(b) * channels, rows = blocks.size(b);
    const S* x = static_cast<const S*>(a.x) + start;
    const Gradient<S> gradient(a, start);
    S* d_x = static_cast<S*>(a.d_x) + start;
    S* d_residual = a.d_residual == nullptr ? nullptr : static_cast<S*>(a.d_residual) + start;
    by_vectors<T, TOGETHER>(channels, [&](auto vectors, auto whole, int64_t c) {
      const Channels<T> m(static_cast<const T*>(a.mean), c, channels, whole, vectors),
          f(factor, c, channels, whole, vectors), l(level, c, channels, whole, vectors),
          s(slope, c, channels, whole, vectors);
      for (int64_t r = 0; r < rows; r++) {
        for (int i = 0; i < vectors; i++) {
          const int64_t at = c + i * LANES<T>, known = channels - at, place = r * channels + at;
          const Vec<T> d = gradient(whole, place, known);
          if (d_residual != nullptr) put<whole()>(d, d_residual + place, known);
          const Vec<T> centred = take<whole()>(x + place, known) - m[i];
          put<whole()>((d - l[i] - centred * s[i]) * f[i], d_x + place, known);
        }
      }
    });
  }
  return 0;
}

template <class F>
int with_type_of(const saccade_batch_norm& a, F f) {
  return saccade_batch_norm_is_sound(&a) ? with_type(a.type, f) : -1;
}

}  // namespace

extern "C" int SACCADE_KERNEL(batch_norm_statistics)(const saccade_batch_norm* a) {
  return with_type_of(*a, [&](auto stored) { return statistics<decltype(stored)>(*a); });
}

extern "C" int SACCADE_KERNEL(batch_norm_forward)(const saccade_batch_norm* a) {
  return with_type_of(*a, [&](auto stored) { return forward<decltype(stored)>(*a); });
}

extern "C" int SACCADE_KERNEL(batch_norm_backward)(const saccade_batch_norm* a) {
  return with_type_of(*a, [&](auto stored) { return backward<decltype(stored)>(*a); });
}
