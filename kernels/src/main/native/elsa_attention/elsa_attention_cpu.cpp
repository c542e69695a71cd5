// Attention to a neighbourhood with a ghost head (Zhou et al. 2021, "ELSA"), a tile at a time: the
// values of a tile and what lies around it are copied side by side with zeros beyond the map, the
// weights are made from the logits, and no weight and no value is written out for each offset.

#include "common/neighbourhood.h"
#include "elsa_attention/elsa_attention.h"

namespace {

// The gradients of ghost heads are added up in so many parts: a fixed number, so that the order of
// sums does not depend on the number of threads.
constexpr int64_t PARTS = 64;

template <class S>
class Tiles : public Neighbourhood<S> {
 public:
  static constexpr int PIXELS = 4;  // of a row, whose sums are held in registers

  using Base = Neighbourhood<S>;
  using Base::CHUNK;
  using Base::depth;
  using Base::field;
  using Base::first_channel;
  using Base::L;
  using Base::pixel;
  using Base::reach;
  using Base::stride;
  using Base::V;
  using typename Base::Block;
  using typename Base::Place;
  using typename Base::T;

  explicit Tiles(const saccade_elsa_attention& a)
      : Base(a.n, a.h, a.w, a.groups, a.depth, a.kernel / 2 * a.dilation),
        a(a),
        taps(static_cast<int>(a.kernel * a.kernel)) {}

  // Makes the weights of a tile and of so many pixels around it, [group][rows + 2
  // reach][stride][taps].
  void softmax_weights(const Place& p, const Block& b, int around, T* weights) const {
    for (int y = reach - around; y < reach + p.rows + around; y++) {
      for (int x = reach - around; x < reach + p.columns + around; x++) {
        const int64_t from = pixel(p, y, x);
        for (int64_t group = b.first; group < b.end; group++) {
          T* to =
              weights + ((group - b.first) * field + static_cast<int64_t>(y) * stride + x) * taps;
          if (from < 0) {
            std::fill(to, to + taps, T(0));
          } else {
            widen(static_cast<const S*>(a.logits) + (from * a.groups + group) * taps, to, taps);
            softmax(to, taps);
          }
        }
      }
    }
  }

  // Copies a ghost head's part of a group, [taps][depth].
  void copy_ghost(const void* ghost, int64_t group, T* to) const {
    if (ghost == nullptr) return;
    const T* from = static_cast<const T*>(ghost) + group * a.depth;
    for (int o = 0; o < taps; o++, to += depth, from += a.groups * a.depth) {
      std::copy(from, from + a.depth, to);
    }
  }

  // Sums a field with the weights of the pixels (SIGN 1), or with those of the pixels that see them
  // (SIGN -1). K is the kernel, of dilation 1; 0 for all others.
  template <int K, int SIGN, bool MUL, bool ADD>
  void sum(const Place& p, const T* field, const T* weights, const T* mul, const T* add,
           int64_t group, void* out) const {
    for (int y = 0; y < p.rows; y++) {
      for (int x = 0; x < p.columns; x += PIXELS) {
        for (int c = 0; c < depth; c += CHUNK) {
          Vec<T> sums[PIXELS][V] = {};
          sum_pixels<K, SIGN, MUL, ADD>(field + c, weights, mul + c, add + c, y, x, sums);
          for (int i = 0; i < PIXELS && x + i < p.columns; i++) {
            int64_t to = first_channel(pixel(p, y + reach, x + i + reach), group) + c;
            T lanes[CHUNK];
            for (int v = 0; v < V; v++) store(lanes + v * L, sums[i][v]);
            narrow(lanes, static_cast<S*>(out) + to, std::min<int64_t>(CHUNK, a.depth - c));
          }
        }
      }
    }
  }

  // Adds to the gradients of the weights of a tile, [rows + 2 reach][stride][taps], and to those of
  // the ghost head, [taps][depth].
  template <int K, bool MUL>
  void weight_gradients(const Place& p, const T* values, const T* d_out, const T* weights,
                        const T* mul, T* d_weights, T* d_mul, T* d_add) const {
    for (int c = 0; c < depth; c += CHUNK) {
      for (int ky = 0; ky < a.kernel; ky++) {
        if constexpr (K > 0) {
          weight_gradients_of_row<K, MUL>(p, values + c, d_out + c, weights, mul + c, ky, d_weights,
                                          d_mul + c, d_add + c);
        } else {
          for (int kx = 0; kx < a.kernel; kx++) {
            weight_gradients_of_tap<MUL>(p, values + c, d_out + c, weights, mul + c, ky, kx,
                                         d_weights, d_mul + c, d_add + c);
          }
        }
      }
    }
  }

  const saccade_elsa_attention& a;
  const int taps;

 private:
  template <int K, int SIGN, bool MUL, bool ADD>
  __attribute__((always_inline)) void sum_pixels(const T* field, const T* weights, const T* mul,
                                                 const T* add, int y, int x,
                                                 Vec<T> (&sums)[PIXELS][V]) const {
    const int kernel = K > 0 ? K : static_cast<int>(a.kernel);
    const int dilation = K > 0 ? 1 : static_cast<int>(a.dilation);
    for (int ky = 0; ky < kernel; ky++) {
      const int dy = SIGN * (ky * dilation - reach);
      const T* row = field + (static_cast<int64_t>(y + reach + dy) * stride + x + reach) * depth;
      const T* w =
          weights +
          (static_cast<int64_t>(y + reach + (SIGN > 0 ? 0 : dy)) * stride + x + reach) * taps +
          ky * kernel;
      if constexpr (K > 0) {
        Vec<T> near[PIXELS + K - 1][V];
#pragma GCC unroll 16
        for (int i = 0; i < PIXELS + K - 1; i++) {
          for (int v = 0; v < V; v++) near[i][v] = load(row + (i - K / 2) * depth + v * L);
        }
#pragma GCC unroll 16
        for (int kx = 0; kx < K; kx++) {
          const int dx = SIGN * (kx - K / 2);
          const int64_t o = static_cast<int64_t>(ky * K + kx) * depth;
#pragma GCC unroll 4
          for (int i = 0; i < PIXELS; i++) {
            const T weight = w[(SIGN > 0 ? i : i + dx) * taps + kx];
            for (int v = 0; v < V; v++) {
              Vec<T> f = broadcast(weight);
              if (MUL) f = f * load(mul + o + v * L);
              if (ADD) f = f + load(add + o + v * L);
              sums[i][v] += f * near[i + dx + K / 2][v];
            }
          }
        }
      } else {
        for (int kx = 0; kx < kernel; kx++) {
          const int dx = SIGN * (kx * dilation - reach);
          const int64_t o = static_cast<int64_t>(ky * kernel + kx) * depth;
          for (int i = 0; i < PIXELS; i++) {
            const T weight = w[(SIGN > 0 ? i : i + dx) * taps + kx];
            for (int v = 0; v < V; v++) {
              Vec<T> f = broadcast(weight);
              if (MUL) f = f * load(mul + o + v * L);
              if (ADD) f = f + load(add + o + v * L);
              sums[i][v] += f * load(row + (i + dx) * depth + v * L);
            }
          }
        }
      }
    }
  }

  template <int K, bool MUL>
  void weight_gradients_of_row(const Place& p, const T* values, const T* d_out, const T* weights,
                               const T* mul, int ky, T* d_weights, T* d_mul, T* d_add) const {
    constexpr int SLOT = K <= 4 ? 4 : 8;                  // lanes for the taps of a pixel
    constexpr int TOGETHER = std::max<int>(L / SLOT, 1);  // pixels whose taps fill a vector
    constexpr int PRODUCTS = TOGETHER * SLOT;
    static_assert(PRODUCTS % L == 0 && K <= SLOT);
    Vec<T> of_add[K][V] = {};
    Vec<T> of_mul[MUL ? K : 1][V] = {};
    for (int y = 0; y < p.rows; y++) {
      const int64_t here = static_cast<int64_t>(y + reach) * stride + reach;
      const int64_t there = here + static_cast<int64_t>(ky - K / 2) * stride - K / 2;
      for (int x = 0; x < p.columns; x += TOGETHER) {
        Vec<T> products[PRODUCTS];
#pragma GCC unroll 4
        for (int i = 0; i < TOGETHER; i++) {
          // Beyond the tile's right edge lies another tile's work.
          const bool own = x + i < p.columns;
          Vec<T> g[V];
          for (int v = 0; v < V; v++) {
            g[v] = own ? load(d_out + (here + x + i) * depth + v * L) : Vec<T>{};
          }
#pragma GCC unroll 8
          for (int kx = 0; kx < SLOT; kx++) {
            Vec<T> product = {};
            if (kx < K) {
              for (int v = 0; v < V; v++) {
                Vec<T> t = g[v] * load(values + (there + x + i + kx) * depth + v * L);
                of_add[kx][v] += t;
                if constexpr (MUL) {
                  of_mul[kx][v] += t * weights[(here + x + i) * taps + ky * K + kx];
                  t = t * load(mul + (ky * K + kx) * depth + v * L);
                }
                product += t;
              }
            }
            products[i * SLOT + kx] = product;
          }
        }
        T lanes[PRODUCTS];
        for (int i = 0; i < PRODUCTS; i += L) store(lanes + i, sum_each<T>(products + i));
        for (int i = 0; i < TOGETHER && x + i < p.columns; i++) {
          T* to = d_weights + (here + x + i) * taps + ky * K;
          for (int kx = 0; kx < K; kx++) to[kx] += lanes[i * SLOT + kx];
        }
      }
    }
    for (int kx = 0; kx < K; kx++) {
      for (int v = 0; v < V; v++) {
        const int64_t o = static_cast<int64_t>(ky * K + kx) * depth + v * L;
        store(d_add + o, load(d_add + o) + of_add[kx][v]);
        if constexpr (MUL) store(d_mul + o, load(d_mul + o) + of_mul[kx][v]);
      }
    }
  }

  template <bool MUL>
  void weight_gradients_of_tap(const Place& p, const T* values, const T* d_out, const T* weights,
                               const T* mul, int ky, int kx, T* d_weights, T* d_mul,
                               T* d_add) const {
    const int o = ky * static_cast<int>(a.kernel) + kx;
    const int64_t away = (ky * a.dilation - reach) * stride + kx * a.dilation - reach;
    Vec<T> of_add[V] = {};
    Vec<T> of_mul[V] = {};
    for (int y = 0; y < p.rows; y++) {
      for (int x = 0; x < p.columns; x++) {
        const int64_t here = static_cast<int64_t>(y + reach) * stride + x + reach;
        Vec<T> product = {};
        for (int v = 0; v < V; v++) {
          Vec<T> t =
              load(d_out + here * depth + v * L) * load(values + (here + away) * depth + v * L);
          of_add[v] += t;
          if constexpr (MUL) {
            of_mul[v] += t * weights[here * taps + o];
            t = t * load(mul + static_cast<int64_t>(o) * depth + v * L);
          }
          product += t;
        }
        d_weights[here * taps + o] += ::sum<T>(product);
      }
    }
    for (int v = 0; v < V; v++) {
      const int64_t to = static_cast<int64_t>(o) * depth + v * L;
      store(d_add + to, load(d_add + to) + of_add[v]);
      if constexpr (MUL) store(d_mul + to, load(d_mul + to) + of_mul[v]);
    }
  }
};

// Calls f with the kernel, where the loops over it are unrolled, and with what the ghost head has.
template <class T, class F>
void with_form(const saccade_elsa_attention& a, F f) {
  auto with_ghost = [&](auto kernel) {
    if (a.mul && a.add)
      f(kernel, std::true_type{}, std::true_type{});
    else if (a.mul)
      f(kernel, std::true_type{}, std::false_type{});
    else if (a.add)
      f(kernel, std::false_type{}, std::true_type{});
    else
      f(kernel, std::false_type{}, std::false_type{});
  };
  if constexpr (sizeof(T) == 4) {
    if (a.dilation == 1 && a.kernel == 3) return with_ghost(std::integral_constant<int, 3>{});
    if (a.dilation == 1 && a.kernel == 5) return with_ghost(std::integral_constant<int, 5>{});
    if (a.dilation == 1 && a.kernel == 7) return with_ghost(std::integral_constant<int, 7>{});
  }
  with_ghost(std::integral_constant<int, 0>{});
}

template <class S>
void forward(const saccade_elsa_attention& a) {
  using T = SumOf<S>;
  const Tiles<S> tiles(a);
  const int64_t ghost = static_cast<int64_t>(tiles.taps) * tiles.depth;
#pragma omp parallel
  {
    Buffer<T> values(tiles.together * tiles.field * tiles.depth);
    Buffer<T> weights(tiles.together * tiles.field * tiles.taps);
    Buffer<T> mul(ghost), add(ghost);
#pragma omp for schedule(dynamic)
    for (int64_t item = 0; item < tiles.count * tiles.blocks; item++) {
      const auto place = tiles.place(item / tiles.blocks);
      const auto block = tiles.block(item % tiles.blocks);
      tiles.copy(place, a.values, block, values);
      tiles.softmax_weights(place, block, 0, weights);
      for (int64_t group = block.first; group < block.end; group++) {
        const int64_t at = (group - block.first) * tiles.field;
        tiles.copy_ghost(a.mul, group, mul);
        tiles.copy_ghost(a.add, group, add);
        with_form<T>(a, [&](auto kernel, auto has_mul, auto has_add) {
          tiles.template sum<kernel(), 1, has_mul(), has_add()>(
              place, values + at * tiles.depth, weights + at * tiles.taps, mul, add, group, a.out);
        });
      }
    }
  }
}

// The gradients of the logits of a tile, from those of its weights.
template <class S>
void softmax_backward(const Tiles<S>& tiles, const typename Tiles<S>::Place& p, int64_t group,
                      const SumOf<S>* weights, const SumOf<S>* d_weights) {
  using T = SumOf<S>;
  S* out = static_cast<S*>(tiles.a.d_logits);
  for (int y = 0; y < p.rows; y++) {
    for (int x = 0; x < p.columns; x++) {
      const int64_t cell = static_cast<int64_t>(y + tiles.reach) * tiles.stride + x + tiles.reach;
      const T* w = weights + cell * tiles.taps;
      const T* g = d_weights + cell * tiles.taps;
      T mean = 0;
      for (int o = 0; o < tiles.taps; o++) mean += w[o] * g[o];
      S* to = out + (tiles.pixel(p, y + tiles.reach, x + tiles.reach) * tiles.a.groups + group) *
                        tiles.taps;
      for (int o = 0; o < tiles.taps; o++) narrow(w[o] * (g[o] - mean), to[o]);
    }
  }
}

template <class S>
void backward(const saccade_elsa_attention& a) {
  using T = SumOf<S>;
  const Tiles<S> tiles(a);
  const int64_t parts = std::min(PARTS, tiles.count);
  const int64_t ghost = static_cast<int64_t>(tiles.taps) * tiles.depth;
  Buffer<T> d_muls(a.mul ? a.groups * parts * ghost : ghost), d_adds(a.groups * parts * ghost);
#pragma omp parallel
  {
    Buffer<T> values(tiles.together * tiles.field * tiles.depth);
    Buffer<T> d_outs(tiles.together * tiles.field * tiles.depth);
    Buffer<T> weights(tiles.together * tiles.field * tiles.taps);
    Buffer<T> d_weights(tiles.field * tiles.taps), mul(ghost), add(ghost);
#pragma omp for schedule(dynamic)
    for (int64_t item = 0; item < parts * tiles.blocks; item++) {
      const int64_t part = item / tiles.blocks;
      const auto block = tiles.block(item % tiles.blocks);
      for (int64_t t = part * tiles.count / parts; t < (part + 1) * tiles.count / parts; t++) {
        const auto place = tiles.place(t);
        tiles.copy(place, a.values, block, values);
        tiles.copy(place, a.d_out, block, d_outs);
        tiles.softmax_weights(place, block, tiles.reach, weights);
        for (int64_t group = block.first; group < block.end; group++) {
          const int64_t at = (group - block.first) * tiles.field;
          const T* w = weights + at * tiles.taps;
          const T* d_out = d_outs + at * tiles.depth;
          const int64_t ghost_part = (group * parts + part) * ghost;
          tiles.copy_ghost(a.mul, group, mul);
          tiles.copy_ghost(a.add, group, add);
          std::fill<T*>(d_weights, d_weights + tiles.field * tiles.taps, T(0));
          with_form<T>(a, [&](auto kernel, auto has_mul, auto has_add) {
            tiles.template sum<kernel(), -1, has_mul(), has_add()>(place, d_out, w, mul, add, group,
                                                                   a.d_values);
            tiles.template weight_gradients<kernel(), has_mul()>(
                place, values + at * tiles.depth, d_out, w, mul, d_weights,
                d_muls + (has_mul() ? ghost_part : 0), d_adds + ghost_part);
          });
          softmax_backward<S>(tiles, place, group, w, d_weights);
        }
      }
    }
  }
  auto gather = [&](T* from, void* to) {
    if (to == nullptr) return;
    for (int64_t group = 0; group < a.groups; group++) {
      for (int o = 0; o < tiles.taps; o++) {
        for (int64_t c = 0; c < a.depth; c++) {
          T total = 0;
          for (int64_t part = 0; part < parts; part++) {
            total += from[(group * parts + part) * ghost + o * tiles.depth + c];
          }
          static_cast<T*>(to)[(o * a.groups + group) * a.depth + c] = total;
        }
      }
    }
  };
  gather(d_muls, a.d_mul);
  gather(d_adds, a.d_add);
}

bool is_empty(const saccade_elsa_attention& a) { return a.n * a.h * a.w == 0; }

}  // namespace

extern "C" int SACCADE_KERNEL(elsa_attention_forward)(const saccade_elsa_attention* a) {
  if (!saccade_elsa_attention_is_sound(a)) return -1;
  if (is_empty(*a)) return 0;
  return with_type(a->type, [&](auto stored) { return forward<decltype(stored)>(*a), 0; });
}

extern "C" int SACCADE_KERNEL(elsa_attention_backward)(const saccade_elsa_attention* a) {
  if (!saccade_elsa_attention_is_sound(a) || is_empty(*a)) return -1;
  return with_type(a->type, [&](auto stored) { return backward<decltype(stored)>(*a), 0; });
}
