// The windows of focal attention: where the queries, keys and values of their heads are, and the
// weights of their pairs.
#pragma once

#include "common/matrix.h"
#include "focal_attention/focal_attention.h"

namespace {

// Added to what is no key; it leaves nothing of it.
constexpr float ABSENT = -1e30f;

enum Part { QUERY, KEY, VALUE };

// What scores start with.
template <class T>
struct Biased {
  const T* bias;
  int64_t bias_stride;
  const T* mask;
  int64_t mask_stride;
  Vec<T> operator()(int64_t row, int64_t column) const {
    return load(bias + row * bias_stride + column) + load(mask + row * mask_stride + column);
  }
  Biased from(int64_t row, int64_t column) const {
    return {bias + row * bias_stride + column, bias_stride, mask + row * mask_stride + column,
            mask_stride};
  }
};

// A head of a window of an image.
struct Place {
  int64_t n, window, head;
};

template <class S>
class Windows {
 public:
  using T = SumOf<S>;
  static constexpr int L = LANES<T>;
  static constexpr int AT_ONCE = 3, WHEN_NEXT = 2;  // how near the cache that is asked for is

  explicit Windows(const saccade_focal_attention& a)
      : a(a),
        across(a.w / a.window),
        count(a.h / a.window * across),
        area(static_cast<int>(a.window * a.window)),
        keys(static_cast<int>(a.keys)),
        depth(static_cast<int>(ceil_div(a.depth, L) * L)),
        stride(static_cast<int>(ceil_div(keys, L) * L)),
        scale(static_cast<T>(1 / std::sqrt(static_cast<double>(a.depth)))),
        biases(a.heads * area * stride) {
    for (int64_t row = 0; row < a.heads * area; row++) {
      T* to = biases + row * stride;
      const T* from = static_cast<const T*>(a.bias) + row * keys;
      std::fill(std::copy(from, from + keys, to), to + stride, T(ABSENT));
    }
  }

  // Returns a window, counted head by head of each image.
  Place place(int64_t item) const {
    return {item / count / a.heads, item % count, item / count % a.heads};
  }

  // Returns the token of a query of a window.
  int64_t token(const Place& p, int query) const {
    return (p.window / across * a.window + query / a.window) * a.w + p.window % across * a.window +
           query % a.window;
  }

  int64_t window_of(int64_t token) const {
    return token / a.w / a.window * across + token % a.w / a.window;
  }

  const int32_t* index(const Place& p) const { return a.index + p.window * keys; }

  // Finds the channels of a head in a row of the map or of the cells, counted as the index counts
  // them.
  template <class X>
  X* channels(X* map, X* pooled, const Place& p, int64_t row, Part part) const {
    const int64_t tokens = a.h * a.w;
    const int64_t to = (part * a.heads + p.head) * a.depth;
    return row <= tokens ? map + (p.n * tokens + row - 1) * 3 * a.heads * a.depth + to
                         : pooled + (p.n * a.cells + row - 1 - tokens) * 3 * a.heads * a.depth + to;
  }

  // Copies keys from first to before end, and their values, [end - first][depth] of each.
  void gather(const Place& p, int first, int end, T* to_keys, T* to_values) const {
    const int32_t* rows = index(p);
    for (int i = first; i < end; i++, to_keys += depth, to_values += depth) {
      if (i + AHEAD < keys && rows[i + AHEAD] != 0) {
        const S* ahead = stored(p, rows[i + AHEAD], KEY);
        ask<AT_ONCE>(ahead);
        ask<AT_ONCE>(ahead + a.heads * a.depth);
      }
      if (rows[i] == 0) {
        std::fill(to_keys, to_keys + depth, T(0));
        std::fill(to_values, to_values + depth, T(0));
      } else {
        const S* from = stored(p, rows[i], KEY);
        copy(from, to_keys);
        copy(from + a.heads * a.depth, to_values);
      }
    }
  }

  // Copies the keys of a window side by side, [depth][stride], and the values, [stride][depth].
  void gather_across(const Place& p, T* few, T* keys_across, T* values) const {
    for (int i = 0; i < keys; i += L) {
      gather(p, i, std::min(i + L, keys), few, values + i * depth);
      transpose<T>(L, depth, few, depth, keys_across + i, stride);
    }
  }

  // Copies the queries of a window, scaled, [area][depth].
  void copy_queries(const Place& p, T* to) const {
    for (int query = 0; query < area; query++, to += depth) {
      const S* from = stored(p, token(p, query) + 1, QUERY);
      for (int64_t c = 0; c < a.depth; c++) to[c] = widen(from[c]) * scale;
    }
  }

  // Asks for the queries, keys and values of a window that comes next.
  void prefetch(const Place& p) const {
    const int32_t* rows = index(p);
    for (int i = 0; i < keys; i++) {
      if (rows[i] == 0) continue;
      const S* from = stored(p, rows[i], KEY);
      ask<WHEN_NEXT>(from);
      ask<WHEN_NEXT>(from + a.heads * a.depth);
    }
    for (int query = 0; query < area; query++) {
      ask<WHEN_NEXT>(stored(p, token(p, query) + 1, QUERY));
    }
  }

  // Asks for the channels of a head.
  template <int SOON, class X>
  void ask(const X* from) const {
    for (int64_t c = 0; c < a.depth; c += static_cast<int64_t>(64 / sizeof(X))) {
      __builtin_prefetch(from + c, 0, SOON);
    }
  }

  // Copies the channels of a head.
  void copy(const S* from, T* to) const {
    if constexpr (std::is_same_v<S, T>) {
      if (depth == a.depth) {
        for (int c = 0; c < depth; c += L) store(to + c, load(from + c));
        return;
      }
    }
    widen(from, to, a.depth);
  }

  // Adds the channels of a head.
  void add(const T* from, T* to) const {
    if (depth == a.depth) {
      for (int c = 0; c < depth; c += L) store(to + c, load(to + c) + load(from + c));
    } else {
      for (int64_t c = 0; c < a.depth; c++) to[c] += from[c];
    }
  }

  // Returns a head of a query's output, or of its gradient.
  template <class X>
  X* output(X* map, const Place& p, int query) const {
    return map + ((p.n * a.h * a.w + token(p, query)) * a.heads + p.head) * a.depth;
  }

  // Copies the mask of a window, [masks][stride].
  void copy_mask(const Place& p, T* to) const {
    const T* from = static_cast<const T*>(a.mask) + p.window * a.masks * keys;
    for (int64_t row = 0; row < a.masks; row++, from += keys, to += stride)
      std::copy(from, from + keys, to);
  }

  // Makes the weights of a window before they are divided by their sums, [area][stride], and what
  // to multiply them with.
  void unnormalized_weights(const Place& p, const T* queries, const T* keys_across, const T* mask,
                            T* weights, T* factors) const {
    const T* bias = biases + p.head * area * stride;
    const int64_t mask_stride = a.masks == 1 ? 0 : stride;
    multiply<T>(area, stride, static_cast<int>(a.depth), Rows<T>{queries, depth}, keys_across,
                stride, weights, stride, Biased<T>{bias, stride, mask, mask_stride});
    for (int row = 0; row < area; row++) factors[row] = 1 / exponentials(weights + row * stride);
  }

  const saccade_focal_attention& a;
  const int64_t across, count;
  const int area, keys, depth, stride;
  const T scale;

 private:
  static constexpr int AHEAD = 24;  // rows that are asked for before they are copied

  const S* stored(const Place& p, int64_t row, Part part) const {
    return channels(static_cast<const S*>(a.qkv), static_cast<const S*>(a.pooled), p, row, part);
  }

  // Takes the exponentials of scores, less the largest, and returns their sum.
  T exponentials(T* scores) const {
    Vec<T> high = load(scores);
    for (int j = L; j < stride; j += L) high = max<T>(high, load(scores + j));
    const T top = largest<T>(high);
    Vec<T> total = {};
    for (int j = 0; j < stride; j += L) {
      Vec<T> e = exponential(load(scores + j) - top);
      total += e;
      store(scores + j, e);
    }
    return sum<T>(total);
  }

  mutable Buffer<T> biases;  // [heads][area][stride]
};

bool is_empty(const saccade_focal_attention& a) { return a.n * a.h * a.w == 0; }

// Whether the index lists nothing but what is there.
bool is_inside(const saccade_focal_attention& a) {
  const int64_t count = a.h / a.window * (a.w / a.window) * a.keys;
  int32_t low = 0, high = 0;
  for (int64_t i = 0; i < count; i++) {
    low = std::min(low, a.index[i]);
    high = std::max(high, a.index[i]);
  }
  return low >= 0 && high <= a.h * a.w + a.cells;
}

}  // namespace
