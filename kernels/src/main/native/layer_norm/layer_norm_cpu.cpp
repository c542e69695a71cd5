// Layer normalization: every row is read once, and worked on while it is near.

#include "common/simd.h"
#include "layer_norm/layer_norm.h"

namespace {

constexpr int TOGETHER = 4;  // vectors of channels, whose sums are in registers

// The gradients of weight and bias are added up in so many parts: a fixed number, so that the order
// of sums does not depend on the number of threads.
constexpr int64_t PARTS = 64;

// The sum over the channels of what f gives for each vector of them, the i-th of those together.
template <class T, class F>
inline T total(int64_t channels, F f) {
  Vec<T> sums[TOGETHER] = {};
  by_vectors<T, TOGETHER>(channels, [&](auto vectors, auto whole, int64_t c) {
    for (int i = 0; i < vectors; i++) sums[i] += f(whole, c + i * LANES<T>, i);
  });
  return sum<T>((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

// Calls f for each vector of channels.
template <class T, class F>
inline void each(int64_t channels, F f) {
  by_vectors<T, TOGETHER>(channels, [&](auto vectors, auto whole, int64_t c) {
    for (int i = 0; i < vectors; i++) f(whole, c + i * LANES<T>);
  });
}

// S is what products are stored as, X what is summed.
template <class S, class X>
class Rows {
 public:
  using T = SumOf<S>;

  explicit Rows(const saccade_layer_norm& a)
      : a(a),
        channels(a.channels),
        weight(static_cast<const T*>(a.weight)),
        bias(static_cast<const T*>(a.bias)) {}

  // Normalizes a row; the buffer has room for one.
  void normalize(int64_t row, T* buffer) const {
    const T* x = summed(row, buffer);
    const T mean = total<T>(channels, [&](auto whole, int64_t c,
                                          int) { return take<whole()>(x + c, channels - c); }) /
                   channels;
    const T variance = total<T>(channels,
                                [&](auto whole, int64_t c, int) {
                                  Vec<T> v = take<whole()>(x + c, channels - c) - mean;
                                  if constexpr (!whole()) {
                                    for (int64_t i = channels - c; i < LANES<T>; i++) v[i] = 0;
                                  }
                                  return v * v;
                                }) /
                       channels;
    const T scale = 1 / std::sqrt(variance + static_cast<T>(a.eps));
    S* out = static_cast<S*>(a.out) + row * channels;
    each<T>(channels, [&](auto whole, int64_t c) {
      const int64_t known = channels - c;
      const Vec<T> centred = take<whole()>(x + c, known) - mean;
      put<whole()>(
          centred * (take<whole()>(weight + c, known) * scale) + take<whole()>(bias + c, known),
          out + c, known);
    });
    if (a.mean != nullptr) {
      static_cast<T*>(a.mean)[row] = mean;
      static_cast<T*>(a.scale)[row] = scale;
    }
  }

  // The gradient of a row; adds to those of weight and bias, whole vectors of channels.
  void backward(int64_t row, T* d_weight, T* d_bias) const {
    const X* x = static_cast<const X*>(a.x) + row * channels;
    const S* d_out = static_cast<const S*>(a.d_out) + row * channels;
    const T mean = static_cast<const T*>(a.mean)[row], scale = static_cast<const T*>(a.scale)[row];
    Vec<T> along[TOGETHER] = {};
    const T level = total<T>(channels,
                             [&](auto whole, int64_t c, int i) {
                               const int64_t known = channels - c;
                               const Vec<T> normal = (take<whole()>(x + c, known) - mean) * scale;
                               const Vec<T> d = take<whole()>(d_out + c, known);
                               const Vec<T> d_normal = d * take<whole()>(weight + c, known);
                               store(d_weight + c, load(d_weight + c) + d * normal);
                               store(d_bias + c, load(d_bias + c) + d);
                               along[i] += d_normal * normal;
                               return d_normal;
                             }) /
                    channels;
    const T slope = sum<T>((along[0] + along[1]) + (along[2] + along[3])) / channels;
    const X* d_sum = static_cast<const X*>(a.d_sum);
    if (d_sum != nullptr) d_sum += row * channels;
    X* d_x = static_cast<X*>(a.d_x) + row * channels;
    each<T>(channels, [&](auto whole, int64_t c) {
      const int64_t known = channels - c;
      const Vec<T> normal = (take<whole()>(x + c, known) - mean) * scale;
      const Vec<T> d = take<whole()>(d_out + c, known) * take<whole()>(weight + c, known);
      Vec<T> result = (d - level - normal * slope) * scale;
      if (d_sum != nullptr) result += take<whole()>(d_sum + c, known);
      put<whole()>(result, d_x + c, known);
      if constexpr (!std::is_same_v<S, X>) {
        if (a.d_residual == nullptr) return;
        put<whole()>(result, static_cast<S*>(a.d_residual) + row * channels + c, known);
      }
    });
  }

 private:
  // The row as it is summed, x + residual, which is kept as it is stored.
  const T* summed(int64_t row, T* buffer) const {
    const X* x = static_cast<const X*>(a.x) + row * channels;
    if (a.residual != nullptr) {
      const S* residual = static_cast<const S*>(a.residual) + row * channels;
      X* to = static_cast<X*>(a.sum) + row * channels;
      each<T>(channels, [&](auto whole, int64_t c) {
        const int64_t known = channels - c;
        put<whole()>(take<whole()>(x + c, known) + take<whole()>(residual + c, known), to + c,
                     known);
      });
      x = to;
    }
    if constexpr (std::is_same_v<X, T>) {
      return x;
    } else {
      widen(x, buffer, channels);
      return buffer;
    }
  }

  const saccade_layer_norm& a;
  const int64_t channels;
  const T* weight;
  const T* bias;
};

template <class S, class X>
int forward(const saccade_layer_norm& a) {
  const Rows<S, X> rows(a);
#pragma omp parallel
  {
    Buffer<SumOf<S>> buffer(a.channels);
#pragma omp for schedule(static)
    for (int64_t row = 0; row < a.rows; row++) rows.normalize(row, buffer);
  }
  return 0;
}

template <class S, class X>
int backward(const saccade_layer_norm& a) {
  using T = SumOf<S>;
  const Rows<S, X> rows(a);
  const int64_t parts = std::min(PARTS, a.rows);
  const int64_t size = ceil_div(a.channels, LANES<T>) * LANES<T>;
  Buffer<T> partial(2 * parts * size);
#pragma omp parallel for schedule(static)
  for (int64_t part = 0; part < parts; part++) {
    T* d_weight = partial + 2 * part * size;
    for (int64_t row = part * a.rows / parts; row < (part + 1) * a.rows / parts; row++) {
      rows.backward(row, d_weight, d_weight + size);
    }
  }
  for (int64_t part = 0; part < parts; part++) {
    const T* d_weight = partial + 2 * part * size;
    for (int64_t c = 0; c < a.channels; c++) {
      static_cast<T*>(a.d_weight)[c] += d_weight[c];
      static_cast<T*>(a.d_bias)[c] += d_weight[size + c];
    }
  }
  return 0;
}

// Calls f with what products are stored as, and what is summed.
template <class F>
int with_types(const saccade_layer_norm& a, F f) {
  if (!saccade_layer_norm_is_sound(&a)) return -1;
  return with_type(a.type, [&](auto stored) {
    return a.stream == a.type ? f(stored, stored) : f(stored, SumOf<decltype(stored)>{});
  });
}

}  // namespace

extern "C" int SACCADE_KERNEL(layer_norm_forward)(const saccade_layer_norm* a) {
  return with_types(*a, [&](auto stored, auto summed) {
    return forward<decltype(stored), decltype(summed)>(*a);
  });
}

extern "C" int SACCADE_KERNEL(layer_norm_backward)(const saccade_layer_norm* a) {
  return with_types(*a, [&](auto stored, auto summed) {
    return backward<decltype(stored), decltype(summed)>(*a);
  });
}
