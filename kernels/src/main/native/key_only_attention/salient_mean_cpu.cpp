// The mean of the tokens of an image by what is salient to a head: logits, their softmax and the
// sums in one pass over the tokens, whose blocks are in the cache meanwhile; blocks are summed up
// in parts.

#include "common/simd.h"
#include "key_only_attention/salient_mean.h"

namespace {

// Tokens of a block, and of a part: fixed numbers, so that the order of sums does not depend on the
// number of threads.
constexpr int64_t BLOCK = 64, PART = 4 * BLOCK;

// Vectors of channels that are summed in registers.
constexpr int V = SACCADE_REGISTERS / 4;

template <class S>
class Tokens {
 public:
  using T = SumOf<S>;
  static constexpr int L = LANES<T>;

  explicit Tokens(const saccade_salient_mean& a)
      : a(a), width(ceil_div(a.channels, L) * L), parts(ceil_div(a.tokens, PART)) {}

  // Copies vectors of heads or tokens into rows of whole vectors.
  template <class F>
  void copy(const F* from, int64_t rows, T* to) const {
    for (int64_t i = 0; i < rows; i++) widen(from + i * a.channels, to + i * width, a.channels);
  }

  // The tokens of a block, in whole vectors: where they are, or in a copy.
  const T* block(int64_t n, int64_t token, int64_t count, T* room) const {
    const S* from = static_cast<const S*>(a.x) + (n * a.tokens + token) * a.channels;
    if constexpr (std::is_same_v<S, T>) {
      if (width == a.channels) return from;
    }
    copy(from, count, room);
    return room;
  }

  // The products of the tokens of a block with a vector.
  void products(const T* tokens, int64_t count, const T* vector, T* out) const {
    for (int64_t i = 0; i < count; i += L) {
      const T* row[L];
      for (int r = 0; r < L; r++) row[r] = tokens + std::min(i + r, count - 1) * width;
      Vec<T> sums[L] = {};
      for (int64_t c = 0; c < width; c += L) {
        const Vec<T> factor = load(vector + c);
#pragma GCC unroll 16
        for (int r = 0; r < L; r++) sums[r] += load(row[r] + c) * factor;
      }
      store(out + i, sum_each<T>(sums));
    }
  }

  // sums = sums * factor + weights tokens.
  void add(const T* tokens, int64_t count, const T* weights, T factor, T* sums) const {
    by_vectors<T, V>(width, [&](auto vectors, auto, int64_t c) {
      Vec<T> s[vectors];
      for (int v = 0; v < vectors; v++) s[v] = load(sums + c + v * L) * factor;
      for (int64_t i = 0; i < count; i++) {
        for (int v = 0; v < vectors; v++) s[v] += weights[i] * load(tokens + i * width + c + v * L);
      }
      for (int v = 0; v < vectors; v++) store(sums + c + v * L, s[v]);
    });
  }

  const saccade_salient_mean& a;
  const int64_t width, parts;
};

// What a part of an image knows of a head: the highest logit, and sums of exponentials below it.
template <class T>
struct Summary {
  T high, total;
};

template <class S>
void forward(const saccade_salient_mean& a) {
  using T = SumOf<S>;
  constexpr int L = LANES<T>;
  const Tokens<S> tokens(a);
  const int64_t width = tokens.width, parts = tokens.parts;
  Buffer<T> saliency(a.heads * width), sums(a.n * parts * a.heads * width);
  Buffer<Summary<T>> summaries(a.n * parts * a.heads);
  tokens.copy(static_cast<const T*>(a.saliency), a.heads, saliency);
#pragma omp parallel
  {
    Buffer<T> room(BLOCK * width), weights(BLOCK);
#pragma omp for schedule(dynamic)
    for (int64_t item = 0; item < a.n * parts; item++) {
      const int64_t n = item / parts, first = item % parts * PART;
      const int64_t end = std::min(first + PART, a.tokens);
      for (int64_t token = first; token < end; token += BLOCK) {
        const int64_t count = std::min(BLOCK, end - token);
        const T* block = tokens.block(n, token, count, room);
        for (int64_t h = 0; h < a.heads; h++) {
          Summary<T>& s = summaries[item * a.heads + h];
          tokens.products(block, count, saliency + h * width, weights);
          const T highest = *std::max_element<T*>(weights, weights + count);
          const T high = token == first ? highest : std::max(s.high, highest);
          const T factor = token == first ? T(0) : std::exp(s.high - high);
          for (int64_t i = 0; i < count; i += L)
            store(weights + i, exponential(load(weights + i) - high));
          s.high = high;
          s.total *= factor;
          for (int64_t i = 0; i < count; i++) s.total += weights[i];
          tokens.add(block, count, weights, factor, sums + (item * a.heads + h) * width);
        }
      }
    }
#pragma omp for schedule(static)
    for (int64_t item = 0; item < a.n * a.heads; item++) {
      const int64_t n = item / a.heads, h = item % a.heads;
      auto place = [&](int64_t part) { return (n * parts + part) * a.heads + h; };
      T high = summaries[place(0)].high;
      for (int64_t part = 1; part < parts; part++)
        high = std::max(high, summaries[place(part)].high);
      T total = 0;
      T* mean = static_cast<T*>(a.mean) + item * a.channels;
      std::fill(mean, mean + a.channels, T(0));
      for (int64_t part = 0; part < parts; part++) {
        const T share = std::exp(summaries[place(part)].high - high);
        total += share * summaries[place(part)].total;
        for (int64_t c = 0; c < a.channels; c++) mean[c] += share * sums[place(part) * width + c];
      }
      for (int64_t c = 0; c < a.channels; c++) mean[c] /= total;
      static_cast<T*>(a.level)[item] = high + std::log(total);
    }
  }
}

template <class S>
void backward(const saccade_salient_mean& a) {
  using T = SumOf<S>;
  constexpr int L = LANES<T>;
  const Tokens<S> tokens(a);
  const int64_t width = tokens.width, parts = tokens.parts;
  Buffer<T> saliency(a.heads * width), sums(a.n * parts * a.heads * width);
  Buffer<T> d_mean(a.n * a.heads * width), of_mean(a.n * a.heads);
  tokens.copy(static_cast<const T*>(a.saliency), a.heads, saliency);
  tokens.copy(static_cast<const T*>(a.d_mean), a.n * a.heads, d_mean);
  for (int64_t item = 0; item < a.n * a.heads; item++) {
    const T* mean = static_cast<const T*>(a.mean) + item * a.channels;
    for (int64_t c = 0; c < a.channels; c++) of_mean[item] += mean[c] * d_mean[item * width + c];
  }
#pragma omp parallel
  {
    Buffer<T> room(BLOCK * width), weights(a.heads * BLOCK), d_logits(a.heads * BLOCK);
#pragma omp for schedule(dynamic)
    for (int64_t item = 0; item < a.n * parts; item++) {
      const int64_t n = item / parts, first = item % parts * PART;
      const int64_t end = std::min(first + PART, a.tokens);
      for (int64_t token = first; token < end; token += BLOCK) {
        const int64_t count = std::min(BLOCK, end - token);
        const T* block = tokens.block(n, token, count, room);
        for (int64_t h = 0; h < a.heads; h++) {
          T *w = weights + h * BLOCK, *d = d_logits + h * BLOCK;
          const int64_t head = n * a.heads + h;
          tokens.products(block, count, saliency + h * width, w);
          tokens.products(block, count, d_mean + head * width, d);
          const T level = static_cast<const T*>(a.level)[head];
          for (int64_t i = 0; i < count; i += L) {
            store(w + i, exponential(load(w + i) - level));
            store(d + i, load(w + i) * (load(d + i) - of_mean[head]));
          }
          tokens.add(block, count, d, 1, sums + (item * a.heads + h) * width);
        }
        for (int64_t i = 0; i < count; i++) {
          S* d_x = static_cast<S*>(a.d_x) + (n * a.tokens + token + i) * a.channels;
          by_vectors<T, V>(a.channels, [&](auto vectors, auto whole, int64_t c) {
            Vec<T> s[vectors];
            for (int v = 0; v < vectors; v++) s[v] = take<whole>(d_x + c + v * L, a.channels - c);
            for (int64_t h = 0; h < a.heads; h++) {
              const T* u = saliency + h * width + c;
              const T* g = d_mean + (n * a.heads + h) * width + c;
              for (int v = 0; v < vectors; v++) {
                s[v] += d_logits[h * BLOCK + i] * load(u + v * L) +
                        weights[h * BLOCK + i] * load(g + v * L);
              }
            }
            for (int v = 0; v < vectors; v++) put<whole>(s[v], d_x + c + v * L, a.channels - c);
          });
        }
      }
    }
#pragma omp for schedule(static)
    for (int64_t item = 0; item < a.n * a.heads; item++) {
      T* out = static_cast<T*>(a.d_saliency) + item * a.channels;
      std::fill(out, out + a.channels, T(0));
      for (int64_t part = 0; part < parts; part++) {
        const T* from = sums + ((item / a.heads * parts + part) * a.heads + item % a.heads) * width;
        for (int64_t c = 0; c < a.channels; c++) out[c] += from[c];
      }
    }
  }
}

bool is_empty(const saccade_salient_mean& a) { return a.n * a.tokens == 0; }

}  // namespace

extern "C" int SACCADE_KERNEL(salient_mean_forward)(const saccade_salient_mean* a) {
  if (!saccade_salient_mean_is_sound(a)) return -1;
  if (is_empty(*a)) return 0;
  return with_type(a->type, [&](auto stored) { return forward<decltype(stored)>(*a), 0; });
}

extern "C" int SACCADE_KERNEL(salient_mean_backward)(const saccade_salient_mean* a) {
  if (!saccade_salient_mean_is_sound(a)) return -1;
  if (is_empty(*a)) return 0;
  return with_type(a->type, [&](auto stored) { return backward<decltype(stored)>(*a), 0; });
}
