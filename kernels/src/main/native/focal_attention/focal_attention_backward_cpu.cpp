// The gradients of focal attention, a head of a window at a time.

#include <vector>

#include "focal_attention/focal_attention_windows.h"

namespace {

// The gradient of the bias is added up in at least so many parts, where there are so many windows:
// a number that does not depend on that of the threads.
constexpr int64_t PARTS = 32;

// How the work of the backward pass is divided: a head of a group of images or, where these are
// few, of a part of the windows of an image. A part adds to the gradients of its own tokens where
// they are, and to those of other tokens and of the cells aside, in rows of its own.
struct Split {
  int64_t groups, parts;
  std::vector<std::vector<int32_t>> foreign;  // of each part: the rows, as the index counts them
  std::vector<std::vector<int32_t>> slots;  // of each part and row: 1 + its place among them, or 0
  std::vector<int64_t> starts;              // of each part: the rows of the parts before it

  template <class S>
  explicit Split(const Windows<S>& windows) : starts(1) {
    const saccade_focal_attention& a = windows.a;
    const int64_t wanted = ceil_div(PARTS, a.heads);
    groups = std::min(a.n, wanted);
    parts = std::min(windows.count, ceil_div(wanted, groups));
    for (int64_t part = 0; part < parts; part++) {
      const int64_t first = part * windows.count / parts, end = (part + 1) * windows.count / parts;
      std::vector<int32_t> rows, slot(1 + a.h * a.w + a.cells);
      for (int64_t i = first * a.keys; parts > 1 && i < end * a.keys; i++) {
        const int32_t row = a.index[i];
        if (row == 0 || slot[row] != 0) continue;
        if (row <= a.h * a.w) {
          const int64_t window = windows.window_of(row - 1);
          if (window >= first && window < end) continue;
        }
        rows.push_back(row);
        slot[row] = static_cast<int32_t>(rows.size());
      }
      starts.push_back(starts.back() + static_cast<int64_t>(rows.size()));
      foreign.push_back(std::move(rows));
      slots.push_back(std::move(slot));
    }
  }
};

// The gradients of a window, and what a thread works in to make them.
template <class S>
class WindowGradients {
 public:
  using T = SumOf<S>;

  explicit WindowGradients(const Windows<S>& w)
      : windows(w),
        area(w.area),
        depth(w.depth),
        stride(w.stride),
        keys(stride * depth),
        values(stride * depth),
        keys_across(stride * depth),
        values_across(stride * depth),
        d_keys(stride * depth),
        d_values(stride * depth),
        queries(area * depth),
        d_queries(area * depth),
        d_out(area * depth),
        weights(area * stride),
        d_scores(area * stride),
        factors(area),
        mask(w.a.masks * stride) {}

  // Makes the gradients of the scores of a window, and adds them to those of the bias,
  // [area][stride].
  void compute(const Place& p, T* d_bias) {
    const int d = static_cast<int>(windows.a.depth);
    windows.gather(p, 0, windows.keys, keys, values);
    prefetch_sums(p);
    transpose<T>(stride, depth, keys, depth, keys_across, stride);
    transpose<T>(stride, depth, values, depth, values_across, stride);
    windows.copy_queries(p, queries);
    windows.copy_mask(p, mask);
    for (int query = 0; query < area; query++) {
      windows.copy(windows.output(static_cast<const S*>(windows.a.d_out), p, query),
                   d_out + query * depth);
    }
    windows.unnormalized_weights(p, queries, keys_across, mask, weights, factors);
    multiply<T>(area, stride, d, Rows<T>{d_out, depth}, values_across, stride, d_scores, stride);
    for (int row = 0; row < area; row++) {
      softmax_backward(weights + row * stride, factors[row], d_scores + row * stride,
                       d_bias + row * stride);
    }
    multiply<T>(area, depth, windows.keys, Rows<T>{d_scores, stride}, keys, depth, d_queries,
                depth);
    multiply<T>(windows.keys, depth, area, Columns<T>{d_scores, stride}, queries, depth, d_keys,
                depth);
    multiply<T>(windows.keys, depth, area, Columns<T>{weights, stride}, d_out, depth, d_values,
                depth);
  }

  // Asks for what a window that comes next will take.
  void prefetch(const Place& p) const {
    windows.prefetch(p);
    for (int query = 0; query < area; query++) {
      windows.template ask<Windows<S>::WHEN_NEXT>(
          windows.output(static_cast<const S*>(windows.a.d_out), p, query));
    }
  }

  // Adds to the gradients of the queries, keys and values of the window; rows of others are put
  // aside, [slots][2][depth].
  void scatter(const Place& p, const std::vector<int32_t>& slots, T* aside) {
    const saccade_focal_attention& a = windows.a;
    T* map = static_cast<T*>(a.d_qkv);
    T* pooled = static_cast<T*>(a.d_pooled);
    for (int query = 0; query < area; query++) {
      T* to = windows.channels(map, pooled, p, windows.token(p, query) + 1, QUERY);
      for (int64_t c = 0; c < a.depth; c++) to[c] += d_queries[query * depth + c] * windows.scale;
    }
    const int32_t* rows = windows.index(p);
    for (int key = 0; key < windows.keys; key++) {
      if (rows[key] == 0) continue;
      const int64_t slot = slots[rows[key]];
      T* to_key = slot > 0 ? aside + (slot - 1) * 2 * depth
                           : windows.channels(map, pooled, p, rows[key], KEY);
      T* to_value = slot > 0 ? to_key + depth : windows.channels(map, pooled, p, rows[key], VALUE);
      windows.add(d_keys + key * depth, to_key);
      windows.add(d_values + key * depth, to_value);
    }
  }

 private:
  // Asks for what the window will be added to.
  void prefetch_sums(const Place& p) const {
    const saccade_focal_attention& a = windows.a;
    const T *map = static_cast<const T*>(a.d_qkv), *pooled = static_cast<const T*>(a.d_pooled);
    const int32_t* rows = windows.index(p);
    for (int key = 0; key < windows.keys; key++) {
      if (rows[key] == 0) continue;
      const T* to = windows.channels(map, pooled, p, rows[key], KEY);
      windows.template ask<Windows<S>::WHEN_NEXT>(to);
      windows.template ask<Windows<S>::WHEN_NEXT>(to + a.heads * a.depth);
    }
  }

  void softmax_backward(T* weights, T factor, T* d_weights, T* d_bias) const {
    constexpr int L = LANES<T>;
    Vec<T> product = {};
    for (int j = 0; j < stride; j += L) {
      const Vec<T> w = load(weights + j) * factor;
      store(weights + j, w);
      product += w * load(d_weights + j);
    }
    const T mean = sum<T>(product);
    for (int j = 0; j < stride; j += L) {
      const Vec<T> d = load(weights + j) * (load(d_weights + j) - mean);
      store(d_weights + j, d);
      store(d_bias + j, load(d_bias + j) + d);
    }
  }

  const Windows<S>& windows;
  const int area, depth, stride;
  Buffer<T> keys, values, keys_across, values_across, d_keys,
      d_values;                                // [stride][depth] or across
  Buffer<T> queries, d_queries, d_out;         // [area][depth]
  Buffer<T> weights, d_scores, factors, mask;  // [area][stride], [area]
};

// A gradient as it is summed up, and then stored.
template <class S>
class Gradient {
 public:
  using T = SumOf<S>;

  Gradient(void* stored, int64_t count)
      : stored(static_cast<S*>(stored)), count(count), aside(std::is_same_v<S, T> ? 0 : count) {}

  // Starts the sums; by the threads of a team, of which each takes a part.
  void clear() const {
    if constexpr (std::is_same_v<S, T>) {
#pragma omp for
      for (int64_t i = 0; i < count; i++) stored[i] = 0;
    }
  }

  T* sums() const {
    if constexpr (std::is_same_v<S, T>)
      return stored;
    else
      return aside;
  }

  // Stores it; by the threads of a team, of which each takes a part.
  void store() const {
    if constexpr (!std::is_same_v<S, T>) {
#pragma omp for
      for (int64_t i = 0; i < count; i++) narrow(aside[i], stored[i]);
    }
  }

 private:
  S* stored;
  const int64_t count;
  Buffer<T> aside;
};

template <class S>
void backward(const saccade_focal_attention& arguments) {
  using T = SumOf<S>;
  saccade_focal_attention a = arguments;
  const int64_t channels = 3 * a.heads * a.depth;
  const Gradient<S> d_qkv(a.d_qkv, a.n * a.h * a.w * channels),
      d_pooled(a.d_pooled, a.n * a.cells * channels);
  a.d_qkv = d_qkv.sums();
  a.d_pooled = d_pooled.sums();
  const Windows<S> windows(a);
  const Split split(windows);
  const int area = windows.area, depth = windows.depth, stride = windows.stride;
  const int64_t parts = split.groups * split.parts;
  const int64_t around = split.starts.back() * 2 * depth;
  Buffer<T> d_biases(a.heads * parts * area * stride);
  Buffer<T> asides(a.n * a.heads * around);  // rows of others, of each image, head and part
#pragma omp parallel
  {
    d_qkv.clear();
    d_pooled.clear();
    WindowGradients<S> gradients(windows);
#pragma omp for schedule(dynamic)
    for (int64_t item = 0; item < parts * a.heads; item++) {
      const int64_t head = item % a.heads, group = item / a.heads / split.parts;
      const int64_t part = item / a.heads % split.parts;
      T* d_bias = d_biases + (head * parts + group * split.parts + part) * area * stride;
      for (int64_t n = group * a.n / split.groups; n < (group + 1) * a.n / split.groups; n++) {
        T* aside = asides + (n * a.heads + head) * around + split.starts[part] * 2 * depth;
        for (int64_t w = part * windows.count / split.parts;
             w < (part + 1) * windows.count / split.parts; w++) {
          const Place place = {n, w, head};
          if (w + 1 < (part + 1) * windows.count / split.parts) {
            gradients.prefetch({n, w + 1, head});
          }
          gradients.compute(place, d_bias);
          gradients.scatter(place, split.slots[part], aside);
        }
      }
    }
#pragma omp for schedule(dynamic)
    for (int64_t item = 0; item < a.n * a.heads; item++) {
      const Place place = {item / a.heads, 0, item % a.heads};
      const T* from = asides + item * around;
      for (const auto& rows : split.foreign) {
        for (int32_t row : rows) {
          for (Part part : {KEY, VALUE}) {
            windows.add(from, windows.channels(static_cast<T*>(a.d_qkv),
                                               static_cast<T*>(a.d_pooled), place, row, part));
            from += depth;
          }
        }
      }
    }
#pragma omp for
    for (int64_t row = 0; row < a.heads * area; row++) {
      T* to = static_cast<T*>(a.d_bias) + row * a.keys;
      std::fill(to, to + a.keys, T(0));
      for (int64_t part = 0; part < parts; part++) {
        const T* from = d_biases + ((row / area * parts + part) * area + row % area) * stride;
        for (int64_t key = 0; key < a.keys; key++) to[key] += from[key];
      }
    }
    d_qkv.store();
    d_pooled.store();
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(focal_attention_backward)(const saccade_focal_attention* a) {
  if (!saccade_focal_attention_is_sound(a) || is_empty(*a)) return -1;
  if (!is_inside(*a)) return -3;
  return with_type(a->type, [&](auto stored) { return backward<decltype(stored)>(*a), 0; });
}
