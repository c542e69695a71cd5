// Attention within windows (Liu et al. 2021), one head of one window at a time, in the cache:
// tokens are fetched from where they lie in the map that is neither padded nor rolled, their pairs
// are scored, weighted and summed, and the sums are put where the queries came from.

#include "common/simd.h"
#include "window_attention/window_attention.h"

namespace {

// Channels that a thread works on together: what lies side by side is read at once.
constexpr int64_t TOGETHER = 128;

// The gradients of table and padding are added up in so many parts: a fixed number, so that the
// order of sums does not depend on the number of threads.
constexpr int64_t PARTS = 16;

// On the logits of keys from the other side of the map, and of keys that are none.
constexpr int UNSEEN = -100;
constexpr float NEVER = -1e30f;

// The block of a product that is held in registers: rows, and vectors of a row.
constexpr int ROWS = SACCADE_REGISTERS / 4;
constexpr int VECTORS = 3;

// A matrix that is read one number at a time; transposed by exchanging its strides.
template <class T>
struct Numbers {
  const T* first;
  int64_t row, column;
};

template <class T, int R, int V>
void multiply(Numbers<T> a, int inner, const T* b, const T* start, T* out, int64_t width) {
  constexpr int L = LANES<T>;
  Vec<T> sums[R][V] = {};
  if (start != nullptr) {
    for (int r = 0; r < R; r++) {
      for (int v = 0; v < V; v++) sums[r][v] = load(start + r * width + v * L);
    }
  }
  const T* factors[R];
  for (int r = 0; r < R; r++) factors[r] = a.first + r * a.row;
  for (int64_t i = 0; i < inner; i++) {
    Vec<T> near[V];
    for (int v = 0; v < V; v++) near[v] = load(b + i * width + v * L);
    for (int r = 0; r < R; r++) {
      const Vec<T> factor = broadcast(factors[r][i * a.column]);
      for (int v = 0; v < V; v++) sums[r][v] += factor * near[v];
    }
  }
  for (int r = 0; r < R; r++) {
    for (int v = 0; v < V; v++) store(out + r * width + v * L, sums[r][v]);
  }
}

// Calls f with a count from 1 to MOST, as a constant.
template <int MOST, class F>
inline void with_count(int count, F f) {
  if constexpr (MOST > 1) {
    if (count < MOST) return with_count<MOST - 1>(count, f);
  }
  f(std::integral_constant<int, MOST>{});
}

// out = start + a b; rows of b, start and out are of width, whole vectors. No start: zeros.
template <class T>
void multiply(Numbers<T> a, int rows, int inner, const T* b, const T* start, T* out, int width) {
  constexpr int L = LANES<T>;
  const int vectors = width / L;
  const int across = static_cast<int>(ceil_div(vectors, VECTORS));
  const int down = static_cast<int>(ceil_div(rows, ROWS));
  for (int x = 0; x < across; x++) {
    const int left = x * vectors / across;
    with_count<VECTORS>((x + 1) * vectors / across - left, [&](auto v) {
      for (int y = 0; y < down; y++) {
        const int top = y * rows / down;
        const int64_t at = static_cast<int64_t>(top) * width + left * L;
        with_count<ROWS>((y + 1) * rows / down - top, [&](auto r) {
          multiply<T, r(), v()>({a.first + top * a.row, a.row, a.column}, inner, b + left * L,
                                start == nullptr ? nullptr : start + at, out + at, width);
        });
      }
    });
  }
}

template <class S>
class Windows {
 public:
  using T = SumOf<S>;
  static constexpr int L = LANES<T>;

  explicit Windows(const saccade_window_attention& a)
      : a(a),
        area(static_cast<int>(a.rows * a.columns)),
        keys(static_cast<int>(ceil_div(area, L) * L)),
        depth(static_cast<int>(ceil_div(a.depth, L) * L)),
        channels(a.heads * a.depth),
        down(ceil_div(a.h, a.rows)),
        across(ceil_div(a.w, a.columns)),
        count(a.n * down * across),
        together(std::clamp<int64_t>(TOGETHER / a.depth, 1, a.heads)),
        blocks(ceil_div(a.heads, together)),
        places(area) {
    for (int t = 0; t < area; t++) places[t] = t / a.columns * a.side + t % a.columns;
  }

  // Where the tokens of a window are, and whether pairs of them are masked: brought together by a
  // shift.
  struct Place {
    int64_t* pixels;  // [area]; -1 for padded tokens
    T* regions;       // [keys]; tokens of one see each other
    bool masked;
  };

  void place(int64_t index, Place& p) const {
    const int64_t n = index / (down * across);
    const int64_t top = index / across % down * a.rows;
    const int64_t left = index % across * a.columns;
    int i = 0;
    p.masked = false;
    for (int64_t y = top; y < top + a.rows; y++) {
      const int64_t row = source(y, a.h, down * a.rows, a.down);
      for (int64_t x = left; x < left + a.columns; x++, i++) {
        const int64_t column = source(x, a.w, across * a.columns, a.right);
        p.pixels[i] = row < 0 || column < 0 ? -1 : (n * a.h + row) * a.w + column;
        p.regions[i] =
            static_cast<T>(2 * (y >= down * a.rows - a.down) + (x >= across * a.columns - a.right));
        p.masked |= p.regions[i] != p.regions[0];
      }
    }
  }

  // Writes the bias of a head for all pairs of tokens, [area][keys].
  void bias(int64_t head, T* to) const {
    for (int q = 0; q < area; q++, to += keys) {
      for (int k = 0; k < keys; k++) {
        to[k] = k >= area ? NEVER
                : a.table == nullptr
                    ? 0
                    : static_cast<const T*>(a.table)[offset(q, k) * a.heads + head];
      }
    }
  }

  // Returns the row of the table for a pair of tokens.
  int64_t offset(int query, int key) const {
    return places[query] - places[key] + a.side * a.side / 2;
  }

  // Copies channels of the tokens of a window, [area][depth], times a factor.
  void copy(const Place& p, const void* map, int64_t width, const void* padding, int64_t channel,
            T factor, T* to) const {
    for (int t = 0; t < area; t++, to += depth) {
      const S* from = p.pixels[t] < 0 ? static_cast<const S*>(padding)
                                      : static_cast<const S*>(map) + p.pixels[t] * width;
      by_vectors<T, 1>(a.depth, [&](auto, auto whole, int64_t c) {
        store(to + c, from == nullptr
                          ? Vec<T>{}
                          : take<whole()>(from + channel + c, a.depth - c) * factor);
      });
    }
  }

  void copy_packed(const Place& p, int64_t third, int64_t head, T factor, T* to) const {
    copy(p, a.packed, 3 * channels, a.padding, third * channels + head * a.depth, factor, to);
  }

  // Transposes [keys][depth].
  void transpose_rows(const T* from, T* to) const {
    for (int k = 0; k < keys; k += L) {
      for (int c = 0; c < depth; c += L) {
        Vec<T> square[L];
        for (int i = 0; i < L; i++)
          square[i] = load(from + static_cast<int64_t>(k + i) * depth + c);
        transpose<T>(square);
        for (int i = 0; i < L; i++) store(to + static_cast<int64_t>(c + i) * keys + k, square[i]);
      }
    }
  }

  // Makes exponentials of scores, [area][keys], and one over the sum of each row.
  template <bool MASKED>
  void unnormalized_weights(const Place& p, T* scores, T* shares) const {
    const Vec<T> least = broadcast(sizeof(T) == 4 ? T(-87) : T(-708));
    for (int q = 0; q < area; q++, scores += keys) {
      Vec<T> high = broadcast(T(NEVER));
      for (int k = 0; k < keys; k += L) {
        Vec<T> s = load(scores + k);
        if constexpr (MASKED) {
          s += load(p.regions + k) != p.regions[q] ? broadcast(T(UNSEEN)) : Vec<T>{};
          store(scores + k, s);
        }
        high = max<T>(high, s);
      }
      const T top = largest<T>(high);
      Vec<T> total = {};
      for (int k = 0; k < keys; k += L) {
        const Vec<T> x = load(scores + k) - top;
        const Vec<T> e = x < least ? Vec<T>{} : exponential(x);
        total += e;
        store(scores + k, e);
      }
      shares[q] = 1 / sum<T>(total);
    }
  }

  // Scores all pairs, and makes the weights of the keys of each query.
  void attend(const Place& p, const T* queries, const T* transposed_keys, const T* biases,
              T* weights, T* shares) const {
    multiply<T>({queries, depth, 1}, area, depth, transposed_keys, biases, weights, keys);
    p.masked ? unnormalized_weights<true>(p, weights, shares)
             : unnormalized_weights<false>(p, weights, shares);
  }

  const saccade_window_attention& a;
  const int area, keys, depth;
  const int64_t channels, down, across, count, together, blocks;

 private:
  const Buffer<int64_t> places;  // of the tokens of a window in the square of the table

  // Returns where a row or column of the padded and rolled map comes from, or -1 for padding.
  int64_t source(int64_t i, int64_t size, int64_t padded, int64_t shift) const {
    if (a.pads_first) i = (i + shift) % padded;
    if (i >= size) return -1;
    return a.pads_first ? i : (i + shift) % size;
  }
};

template <class S>
void forward(const saccade_window_attention& a) {
  using T = SumOf<S>;
  const Windows<S> windows(a);
  const int64_t pairs = static_cast<int64_t>(windows.area) * windows.keys;
  const int64_t part = static_cast<int64_t>(windows.keys) * windows.depth;
  Buffer<T> biases(a.heads * pairs);
#pragma omp parallel
  {
    Buffer<T> q(part), k(part), v(part), transposed(part), weights(pairs), shares(windows.keys);
    Buffer<T> regions(windows.keys);
    Buffer<int64_t> pixels(windows.area);
    typename Windows<S>::Place place = {pixels, regions, false};
#pragma omp for
    for (int64_t head = 0; head < a.heads; head++) windows.bias(head, biases + head * pairs);
#pragma omp for schedule(dynamic)
    for (int64_t item = 0; item < windows.count * windows.blocks; item++) {
      windows.place(item / windows.blocks, place);
      const int64_t first = item % windows.blocks * windows.together;
      for (int64_t head = first; head < std::min(first + windows.together, a.heads); head++) {
        windows.copy_packed(place, a.queries, head, static_cast<T>(a.scale), q);
        windows.copy_packed(place, a.keys, head, 1, k);
        windows.copy_packed(place, a.values, head, 1, v);
        windows.transpose_rows(k, transposed);
        windows.attend(place, q, transposed, biases + head * pairs, weights, shares);
        multiply<T>({weights, windows.keys, 1}, windows.area, windows.area, v, nullptr, q,
                    windows.depth);
        for (int t = 0; t < windows.area; t++) {
          if (place.pixels[t] < 0) continue;
          S* to = static_cast<S*>(a.out) + place.pixels[t] * windows.channels + head * a.depth;
          const T* from = q + static_cast<int64_t>(t) * windows.depth;
          by_vectors<T, 1>(a.depth, [&](auto, auto whole, int64_t c) {
            put<whole()>(load(from + c) * shares[t], to + c, a.depth - c);
          });
        }
      }
    }
  }
}

// Makes the gradients of scores from those of weights, and adds them to those of the bias; the
// weights become shares of 1.
template <class T>
void softmax_backward(T* weights, const T* shares, T* gradients, T* d_biases, int area, int keys) {
  constexpr int L = LANES<T>;
  for (int q = 0; q < area; q++, weights += keys, gradients += keys, d_biases += keys) {
    Vec<T> total = {};
    for (int k = 0; k < keys; k += L) {
      const Vec<T> w = load(weights + k) * shares[q];
      store(weights + k, w);
      total += w * load(gradients + k);
    }
    const T mean = sum<T>(total);
    for (int k = 0; k < keys; k += L) {
      const Vec<T> g = load(weights + k) * (load(gradients + k) - mean);
      store(gradients + k, g);
      store(d_biases + k, load(d_biases + k) + g);
    }
  }
}

template <class S>
void backward(const saccade_window_attention& a) {
  using T = SumOf<S>;
  const Windows<S> windows(a);
  const int area = windows.area, keys = windows.keys, depth = windows.depth;
  const int64_t pairs = static_cast<int64_t>(area) * keys;
  const int64_t part = static_cast<int64_t>(keys) * depth;
  const int64_t parts = std::min(PARTS, windows.count);
  const int64_t packed = 3 * windows.channels, table = a.heads * a.side * a.side;
  Buffer<T> biases(a.heads * pairs), d_paddings(parts * packed), d_tables(parts * table);
#pragma omp parallel
  {
    Buffer<T> q(part), k(part), v(part), d_out(part), transposed(part), sums(part);
    Buffer<T> weights(pairs), gradients(pairs), d_biases(windows.together * pairs), shares(keys);
    Buffer<T> regions(keys);
    Buffer<int64_t> pixels(area);
    typename Windows<S>::Place place = {pixels, regions, false};
#pragma omp for
    for (int64_t head = 0; head < a.heads; head++) windows.bias(head, biases + head * pairs);
#pragma omp for schedule(dynamic)
    for (int64_t item = 0; item < parts * windows.blocks; item++) {
      const int64_t in = item / windows.blocks;
      const int64_t first = item % windows.blocks * windows.together;
      const int64_t end = std::min(first + windows.together, a.heads);
      std::fill<T*>(d_biases, d_biases + (end - first) * pairs, T(0));
      for (int64_t w = in * windows.count / parts; w < (in + 1) * windows.count / parts; w++) {
        windows.place(w, place);
        for (int64_t head = first; head < end; head++) {
          windows.copy_packed(place, a.queries, head, static_cast<T>(a.scale), q);
          windows.copy_packed(place, a.keys, head, 1, k);
          windows.copy_packed(place, a.values, head, 1, v);
          windows.copy(place, a.d_out, windows.channels, nullptr, head * a.depth, 1, d_out);
          windows.transpose_rows(k, transposed);
          windows.attend(place, q, transposed, biases + head * pairs, weights, shares);
          windows.transpose_rows(v, transposed);
          multiply<T>({d_out, depth, 1}, area, depth, transposed, nullptr, gradients, keys);
          softmax_backward<T>(weights, shares, gradients, d_biases + (head - first) * pairs, area,
                              keys);
          auto scatter = [&](int64_t third, T factor) {
            const int64_t channel = third * windows.channels + head * a.depth;
            for (int t = 0; t < area; t++) {
              const T* from = sums + static_cast<int64_t>(t) * depth;
              if (place.pixels[t] < 0) {
                T* to = d_paddings + in * packed + channel;
                for (int64_t c = 0; c < a.depth; c++) to[c] += from[c] * factor;
              } else {
                S* to = static_cast<S*>(a.d_packed) + place.pixels[t] * packed + channel;
                by_vectors<T, 1>(a.depth, [&](auto, auto whole, int64_t c) {
                  put<whole()>(load(from + c) * factor, to + c, a.depth - c);
                });
              }
            }
          };
          multiply<T>({gradients, keys, 1}, area, area, k, nullptr, sums, depth);
          scatter(a.queries, static_cast<T>(a.scale));
          multiply<T>({gradients, 1, keys}, area, area, q, nullptr, sums, depth);
          scatter(a.keys, 1);
          multiply<T>({weights, 1, keys}, area, area, d_out, nullptr, sums, depth);
          scatter(a.values, 1);
        }
      }
      for (int64_t head = first; head < end && a.d_table != nullptr; head++) {
        T* to = d_tables + in * table + head * a.side * a.side;
        const T* from = d_biases + (head - first) * pairs;
        for (int query = 0; query < area; query++, from += keys) {
          for (int key = 0; key < area; key++) to[windows.offset(query, key)] += from[key];
        }
      }
    }
  }
  for (int64_t c = 0; c < packed; c++) {
    T total = 0;
    for (int64_t in = 0; in < parts; in++) total += d_paddings[in * packed + c];
    static_cast<T*>(a.d_padding)[c] = total;
  }
  for (int64_t i = 0; i < table && a.d_table != nullptr; i++) {
    T total = 0;
    for (int64_t in = 0; in < parts; in++) total += d_tables[in * table + i];
    static_cast<T*>(a.d_table)[i % (a.side * a.side) * a.heads + i / (a.side * a.side)] = total;
  }
}

bool is_empty(const saccade_window_attention& a) { return a.n * a.h * a.w == 0; }

}  // namespace

extern "C" int SACCADE_KERNEL(window_attention_forward)(const saccade_window_attention* a) {
  if (!saccade_window_attention_is_sound(a)) return -1;
  if (is_empty(*a)) return 0;
  return with_type(a->type, [&](auto stored) { return forward<decltype(stored)>(*a), 0; });
}

extern "C" int SACCADE_KERNEL(window_attention_backward)(const saccade_window_attention* a) {
  if (!saccade_window_attention_is_sound(a) || is_empty(*a)) return -1;
  return with_type(a->type, [&](auto stored) { return backward<decltype(stored)>(*a), 0; });
}
