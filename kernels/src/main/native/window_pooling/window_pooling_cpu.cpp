// Pooled squares of tokens, one at a time: going backward, what is read of the map and what is
// written to it passes by once.

#include "window_pooling/window_pooling.h"

#include "common/simd.h"

namespace {

constexpr int L = LANES<float>;
constexpr int64_t PARTS = 32;  // of the sums over all squares, a number that is not of the threads

struct Squares {
  const saccade_window_pooling& a;
  const int64_t across = a.w / a.part, count = a.n * (a.h / a.part) * across;

  // Calls f(place, offset) for the tokens of a square: which of them it is, and where it is.
  template <class F>
  void each(int64_t square, F f) const {
    const int64_t first = (square / across * a.part * a.w + square % across * a.part) * a.channels;
    for (int64_t place = 0; place < a.part * a.part; place++) {
      f(place, first + (place / a.part * a.w + place % a.part) * a.channels);
    }
  }
};

void forward(const saccade_window_pooling& a) {
  const Squares squares = {a};
#pragma omp parallel for
  for (int64_t square = 0; square < squares.count; square++) {
    by_vectors<float, 4>(a.channels, [&](auto vectors, auto whole, int64_t channel) {
      constexpr int V = decltype(vectors)::value;
      const int64_t left = a.channels - channel;
      Vec<float> sums[V];
      for (int v = 0; v < V; v++) sums[v] = broadcast(a.bias[0]);
      squares.each(square, [&](int64_t place, int64_t at) {
        for (int v = 0; v < V; v++) {
          sums[v] += take<whole.value>(a.x + at + channel + v * L, left) * a.weight[place];
        }
      });
      for (int v = 0; v < V; v++) {
        put<whole.value>(sums[v], a.y + square * a.channels + channel + v * L, left);
      }
    });
  }
}

// Writes the gradients of the tokens of a square, and adds products to sums, [part^2][L], and the
// gradient of the square to the sum after them.
void backward(const Squares& squares, int64_t square, float* sums) {
  const saccade_window_pooling& a = squares.a;
  const float* d_y = a.d_y + square * a.channels;
  squares.each(square, [&](int64_t place, int64_t at) {
    const float weight = a.weight[place];
    Vec<float> sum = load(sums + place * L);
    by_vectors<float, 1>(a.channels, [&](auto, auto whole, int64_t channel) {
      const int64_t left = a.channels - channel;
      const Vec<float> d = take<whole.value>(d_y + channel, left);
      sum += d * take<whole.value>(a.x + at + channel, left);
      put<whole.value>(d * weight, a.d_x + at + channel, left);
    });
    store(sums + place * L, sum);
  });
  float* sum = sums + a.part * a.part * L;
  by_vectors<float, 1>(a.channels, [&](auto, auto whole, int64_t channel) {
    store(sum, load(sum) + take<whole.value>(d_y + channel, a.channels - channel));
  });
}

void backward(const saccade_window_pooling& a) {
  const Squares squares = {a};
  const int64_t sums = a.part * a.part + 1;
  const Buffer<float> parts(PARTS * sums * L);
#pragma omp parallel for
  for (int64_t part = 0; part < PARTS; part++) {
    const int64_t end = (part + 1) * squares.count / PARTS;
    for (int64_t square = part * squares.count / PARTS; square < end; square++) {
      backward(squares, square, parts + part * sums * L);
    }
  }
  for (int64_t i = 0; i < sums; i++) {
    Vec<float> total = {};
    for (int64_t part = 0; part < PARTS; part++) total += load(parts + (part * sums + i) * L);
    (i + 1 < sums ? a.d_weight[i] : a.d_bias[0]) = sum<float>(total);
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(window_pooling_forward)(const saccade_window_pooling* a) {
  forward(*a);
  return 0;
}

extern "C" int SACCADE_KERNEL(window_pooling_backward)(const saccade_window_pooling* a) {
  backward(*a);
  return 0;
}
