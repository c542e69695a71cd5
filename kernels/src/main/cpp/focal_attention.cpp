// Focal attention within windows (Yang et al. 2021), a head of a window at a time: its keys and values
// are gathered once, and the scores of its queries stay in the cache.

#include <vector>

#include "matrix.h"

namespace {

// What all windows learn is added up in at least so many parts, where there are so many windows: a
// number that does not depend on that of the threads.
constexpr int64_t PARTS = 32;

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
    return {bias + row * bias_stride + column, bias_stride, mask + row * mask_stride + column, mask_stride};
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

  explicit Windows(const saccade_focal_attention& a)
      : a(a), across(a.w / a.window), count(a.h / a.window * across),
        area(static_cast<int>(a.window * a.window)), keys(static_cast<int>(a.keys)),
        depth(static_cast<int>(ceil_div(a.depth, L) * L)), stride(static_cast<int>(ceil_div(keys, L) * L)),
        scale(static_cast<T>(1 / std::sqrt(static_cast<double>(a.depth)))),
        biases(a.heads * area * stride) {
    for (int64_t row = 0; row < a.heads * area; row++) {
      T* to = biases + row * stride;
      const T* from = static_cast<const T*>(a.bias) + row * keys;
      std::fill(std::copy(from, from + keys, to), to + stride, T(ABSENT));
    }
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

  // Finds the channels of a head in a row of the map or of the cells, counted as the index counts them.
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
      if (i + AHEAD < keys) prefetch(p, rows[i + AHEAD]);
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
    for (int64_t row = 0; row < a.masks; row++, from += keys, to += stride) std::copy(from, from + keys, to);
  }

  // Makes the weights of a window before they are divided by their sums, [area][stride], and what to
  // multiply them with.
  void weigh(const Place& p, const T* queries, const T* keys_across, const T* mask, T* weights,
             T* factors) const {
    const T* bias = biases + p.head * area * stride;
    const int64_t mask_stride = a.masks == 1 ? 0 : stride;
    multiply<T>(area, stride, static_cast<int>(a.depth), Rows<T>{queries, depth}, keys_across, stride,
                weights, stride, Biased<T>{bias, stride, mask, mask_stride});
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

  void prefetch(const Place& p, int64_t row) const {
    if (row == 0) return;
    const S* from = stored(p, row, KEY);
    for (int64_t c = 0; c < a.depth; c += static_cast<int64_t>(64 / sizeof(S))) {
      __builtin_prefetch(from + c);
      __builtin_prefetch(from + a.heads * a.depth + c);
    }
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

template <class S>
void forward(const saccade_focal_attention& a) {
  using T = SumOf<S>;
  const Windows<S> windows(a);
  const int area = windows.area, depth = windows.depth, stride = windows.stride;
#pragma omp parallel
  {
    Buffer<T> few(LANES<T> * depth), values(stride * depth), keys_across(stride * depth);
    Buffer<T> queries(area * depth), out(area * depth);
    Buffer<T> weights(area * stride), factors(area), mask(a.masks * stride);
    // Windows side by side share most of the rows that they gather.
#pragma omp for schedule(dynamic, windows.across)
    for (int64_t item = 0; item < a.n * a.heads * windows.count; item++) {
      const int64_t image = item / windows.count / a.heads;
      const Place place = {image, item % windows.count, item / windows.count % a.heads};
      windows.gather_across(place, few, keys_across, values);
      windows.copy_queries(place, queries);
      windows.copy_mask(place, mask);
      windows.weigh(place, queries, keys_across, mask, weights, factors);
      multiply<T>(area, depth, windows.keys, Rows<T>{weights, stride}, values, depth, out, depth);
      for (int query = 0; query < area; query++) {
        const T* from = out + query * depth;
        S* to = windows.output(static_cast<S*>(a.out), place, query);
        for (int64_t c = 0; c < a.depth; c++) narrow(from[c] * factors[query], to[c]);
      }
    }
  }
}

// How the work of the backward pass is parted: a head of a group of images or, where these are few, of
// a part of the windows of an image. A part adds to the gradients of its own tokens where they are, and
// to those of other tokens and of the cells aside, in rows of its own.
struct Split {
  int64_t groups, parts;
  std::vector<std::vector<int32_t>> foreign;  // of each part: the rows, as the index counts them
  std::vector<std::vector<int32_t>> slots;    // of each part and row: 1 + its place among them, or 0
  std::vector<int64_t> starts;                // of each part: the rows of the parts before it

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

// What a thread works in.
template <class S>
class Learner {
 public:
  using T = SumOf<S>;

  explicit Learner(const Windows<S>& w)
      : windows(w), area(w.area), depth(w.depth), stride(w.stride), keys(stride * depth),
        values(stride * depth), keys_across(stride * depth), values_across(stride * depth),
        d_keys(stride * depth), d_values(stride * depth), queries(area * depth), d_queries(area * depth),
        d_out(area * depth), weights(area * stride), d_scores(area * stride), factors(area),
        mask(w.a.masks * stride) {}

  // Makes the gradients of the scores of a window, and adds them to those of the bias, [area][stride].
  void learn(const Place& p, T* d_bias) {
    const int d = static_cast<int>(windows.a.depth);
    windows.gather(p, 0, windows.keys, keys, values);
    transpose<T>(stride, depth, keys, depth, keys_across, stride);
    transpose<T>(stride, depth, values, depth, values_across, stride);
    windows.copy_queries(p, queries);
    windows.copy_mask(p, mask);
    for (int query = 0; query < area; query++) {
      windows.copy(windows.output(static_cast<const S*>(windows.a.d_out), p, query), d_out + query * depth);
    }
    windows.weigh(p, queries, keys_across, mask, weights, factors);
    multiply<T>(area, stride, d, Rows<T>{d_out, depth}, values_across, stride, d_scores, stride);
    for (int row = 0; row < area; row++) {
      through_softmax(weights + row * stride, factors[row], d_scores + row * stride, d_bias + row * stride);
    }
    multiply<T>(area, depth, windows.keys, Rows<T>{d_scores, stride}, keys, depth, d_queries, depth);
    multiply<T>(windows.keys, depth, area, Columns<T>{d_scores, stride}, queries, depth, d_keys, depth);
    multiply<T>(windows.keys, depth, area, Columns<T>{weights, stride}, d_out, depth, d_values, depth);
  }

  // Hands out the gradients of the queries, keys and values of the window; rows of others are put
  // aside, [slots][2][depth].
  void hand_out(const Place& p, const std::vector<int32_t>& slots, T* aside) {
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
  void through_softmax(T* weights, T factor, T* d_weights, T* d_bias) const {
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
  Buffer<T> keys, values, keys_across, values_across, d_keys, d_values;  // [stride][depth] or across
  Buffer<T> queries, d_queries, d_out;                                   // [area][depth]
  Buffer<T> weights, d_scores, factors, mask;                            // [area][stride], [area]
};

// A gradient as it is summed up, and then stored.
template <class S>
class Gradient {
 public:
  using T = SumOf<S>;

  Gradient(void* stored, int64_t count)
      : stored(static_cast<S*>(stored)), count(count), aside(std::is_same_v<S, T> ? 0 : count) {
    if constexpr (std::is_same_v<S, T>) std::fill(this->stored, this->stored + count, T(0));
  }

  T* sums() const {
    if constexpr (std::is_same_v<S, T>) return stored;
    else return aside;
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
  const Gradient<S> d_qkv(a.d_qkv, a.n * a.h * a.w * channels), d_pooled(a.d_pooled, a.n * a.cells * channels);
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
    Learner<S> learner(windows);
#pragma omp for schedule(dynamic)
    for (int64_t item = 0; item < parts * a.heads; item++) {
      const int64_t head = item % a.heads, group = item / a.heads / split.parts;
      const int64_t part = item / a.heads % split.parts;
      T* d_bias = d_biases + (head * parts + group * split.parts + part) * area * stride;
      for (int64_t n = group * a.n / split.groups; n < (group + 1) * a.n / split.groups; n++) {
        T* aside = asides + (n * a.heads + head) * around + split.starts[part] * 2 * depth;
        for (int64_t w = part * windows.count / split.parts; w < (part + 1) * windows.count / split.parts;
             w++) {
          const Place place = {n, w, head};
          learner.learn(place, d_bias);
          learner.hand_out(place, split.slots[part], aside);
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
            windows.add(from, windows.channels(static_cast<T*>(a.d_qkv), static_cast<T*>(a.d_pooled), place,
                                               row, part));
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

bool is_sound(const saccade_focal_attention& a) {
  return a.n >= 0 && a.h >= 0 && a.w >= 0 && a.heads > 0 && a.depth > 0 && a.window > 0 &&
         a.h % a.window == 0 && a.w % a.window == 0 && a.cells >= 0 && a.keys > 0 &&
         (a.masks == 1 || a.masks == a.window * a.window);
}

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

extern "C" int SACCADE_KERNEL(focal_attention_forward)(const saccade_focal_attention* a) {
  if (!is_sound(*a)) return -1;
  if (is_empty(*a)) return 0;
  if (!is_inside(*a)) return -3;
  return with_type(a->type, [&](auto stored) { return forward<decltype(stored)>(*a), 0; });
}

extern "C" int SACCADE_KERNEL(focal_attention_backward)(const saccade_focal_attention* a) {
  if (!is_sound(*a) || is_empty(*a)) return -1;
  if (!is_inside(*a)) return -3;
  return with_type(a->type, [&](auto stored) { return backward<decltype(stored)>(*a), 0; });
}
