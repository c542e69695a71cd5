// A convolution of narrow groups, channels side by side: every vector of inputs is spread, one
// input of each group at a time, over the outputs of its group.

#include "common/neighbourhood.h"
#include "grouped_convolution/grouped_convolution.h"

namespace {

constexpr int PIXELS = SACCADE_REGISTERS == 32 ? 8 : 4;  // of a row, whose sums are in registers

// The gradient of the weights is added up in so many parts: a fixed number, so that the order of
// sums does not depend on the number of threads.
constexpr int64_t PARTS = 64;

// Lane i of the result is input I of the group that channel c + i of a pixel is in.
template <class T, int WIDTH, int I>
inline Vec<T> spread(const T* pixel, int c) {
  if constexpr (WIDTH >= LANES<T>) {
    return broadcast(pixel[c / WIDTH * WIDTH + I]);
  } else {
    typedef std::conditional_t<sizeof(T) == 4, int32_t, int64_t> Int;
    typedef Int Ints __attribute__((vector_size(SACCADE_VECTOR_BYTES)));
    Ints lanes;
    for (int i = 0; i < LANES<T>; i++) lanes[i] = i / WIDTH * WIDTH + I;
    return __builtin_shuffle(load(pixel + c), lanes);
  }
}

// The map in vectors of channels, which hold whole groups.
template <class S>
class Slices : public Neighbourhood<S> {
 public:
  using Base = Neighbourhood<S>;
  using Base::depth;
  using Base::L;
  using Base::stride;
  using typename Base::Place;
  using typename Base::T;

  explicit Slices(const saccade_grouped_convolution& a)
      : Base(a.n, a.h, a.w, slices(a), a.groups * a.width / slices(a), a.kernel / 2),
        a(a),
        channels(a.groups * a.width),
        taps(static_cast<int>(a.kernel * a.kernel)) {}

  // Copies the weights of a slice, [taps][width][depth], zero beyond the channels.
  void copy_weight(int64_t slice, T* to) const {
    const T* from = static_cast<const T*>(a.weight) + slice * this->Base::channels;
    for (int64_t row = 0; row < taps * a.width; row++, to += depth, from += channels) {
      std::copy(from, from + this->Base::channels, to);
    }
  }

  template <int K, int WIDTH>
  void convolve(const Place& p, const T* field, const T* weight, int64_t slice) const {
    const T* bias = static_cast<const T*>(a.bias);
    for (int y = 0; y < p.rows; y++) {
      for (int x = 0; x < p.columns; x += PIXELS) {
        for (int c = 0; c < this->Base::channels; c += L) {
          const int64_t first = slice * this->Base::channels + c;
          const int64_t known = std::min<int64_t>(L, this->Base::channels - c);
          T lanes[L] = {};
          if (bias != nullptr) std::copy(bias + first, bias + first + known, lanes);
          Vec<T> sums[PIXELS];
          for (int i = 0; i < PIXELS; i++) sums[i] = load(lanes);
          const int kernel = K > 0 ? K : static_cast<int>(a.kernel);
          for (int ky = 0; ky < kernel; ky++) {
            const T* row = field + (static_cast<int64_t>(y + ky) * stride + x) * depth;
            add_row<K, WIDTH, 0>(
                row, c, weight + static_cast<int64_t>(ky) * kernel * WIDTH * depth + c, sums);
          }
          for (int i = 0; i < PIXELS && x + i < p.columns; i++) {
            store(lanes, sums[i]);
            const int64_t pixel = this->pixel(p, y + this->reach, x + i + this->reach);
            narrow(lanes, static_cast<S*>(a.out) + pixel * channels + first, known);
          }
        }
      }
    }
  }

  // Adds to the gradient of the weights of a slice, [taps][width][depth].
  template <int K, int WIDTH>
  void weight_gradient(const Place& p, const T* field, const T* d_out, T* d_weight) const {
    const int kernel = K > 0 ? K : static_cast<int>(a.kernel);
    for (int c = 0; c < this->Base::channels; c += L) {
      for (int ky = 0; ky < kernel; ky++) {
        T* to = d_weight + static_cast<int64_t>(ky) * kernel * WIDTH * depth + c;
        weight_gradient_of_row<K, WIDTH, 0>(p, field, d_out + c, c, ky, to);
      }
    }
  }

  const saccade_grouped_convolution& a;
  const int64_t channels;
  const int taps;

 private:
  static int64_t slices(const saccade_grouped_convolution& a) {
    const int64_t all = a.groups * a.width;
    const int64_t whole = std::max<int64_t>(L, a.width);
    return all % whole == 0 ? all / whole : 1;
  }

  template <int K, int WIDTH, int I>
  __attribute__((always_inline)) void add_row(const T* row, int c, const T* weight,
                                              Vec<T> (&sums)[PIXELS]) const {
    if constexpr (K > 0) {
      Vec<T> near[PIXELS + K - 1];
#pragma GCC unroll 16
      for (int i = 0; i < PIXELS + K - 1; i++) near[i] = spread<T, WIDTH, I>(row + i * depth, c);
#pragma GCC unroll 8
      for (int kx = 0; kx < K; kx++) {
        const Vec<T> w = load(weight + static_cast<int64_t>(kx * WIDTH + I) * depth);
#pragma GCC unroll 8
        for (int i = 0; i < PIXELS; i++) sums[i] += w * near[i + kx];
      }
    } else {
      for (int kx = 0; kx < a.kernel; kx++) {
        const Vec<T> w = load(weight + static_cast<int64_t>(kx * WIDTH + I) * depth);
        for (int i = 0; i < PIXELS; i++) {
          sums[i] += w * spread<T, WIDTH, I>(row + (i + kx) * depth, c);
        }
      }
    }
    if constexpr (I + 1 < WIDTH) add_row<K, WIDTH, I + 1>(row, c, weight, sums);
  }

  template <int K, int WIDTH, int I>
  void weight_gradient_of_row(const Place& p, const T* field, const T* d_out, int c, int ky,
                              T* to) const {
    constexpr int TOGETHER = K > 0 ? K : 1;
    for (int first = 0; first < a.kernel; first += TOGETHER) {
      Vec<T> sums[TOGETHER] = {};
      for (int y = 0; y < p.rows; y++) {
        const T* row = field + (static_cast<int64_t>(y + ky) * stride + first) * depth;
        const T* gradient =
            d_out + (static_cast<int64_t>(y + this->reach) * stride + this->reach) * depth;
        for (int x = 0; x < p.columns; x++) {
          const Vec<T> g = load(gradient + x * depth);
#pragma GCC unroll 8
          for (int kx = 0; kx < TOGETHER; kx++) {
            sums[kx] += g * spread<T, WIDTH, I>(row + (x + kx) * depth, c);
          }
        }
      }
      for (int kx = 0; kx < TOGETHER; kx++) {
        T* at = to + static_cast<int64_t>((first + kx) * WIDTH + I) * depth;
        store(at, load(at) + sums[kx]);
      }
    }
    if constexpr (I + 1 < WIDTH)
      weight_gradient_of_row<K, WIDTH, I + 1>(p, field, d_out, c, ky, to);
  }
};

// Calls f with the kernel, 0 where the loops over it are not unrolled, and with the width of
// groups.
template <class T, class F>
int with_form(const saccade_grouped_convolution& a, F f) {
  auto with_width = [&](auto kernel) {
    switch (a.width) {
      case 1:
        return f(kernel, std::integral_constant<int, 1>{}), 0;
      case 2:
        return f(kernel, std::integral_constant<int, 2>{}), 0;
      case 4:
        return f(kernel, std::integral_constant<int, 4>{}), 0;
      case 8:
        if constexpr (sizeof(T) == 4) return f(kernel, std::integral_constant<int, 8>{}), 0;
    }
    return -1;
  };
  switch (a.kernel) {
    case 3:
      return with_width(std::integral_constant<int, 3>{});
    case 7:
      return with_width(std::integral_constant<int, 7>{});
    default:
      return with_width(std::integral_constant<int, 0>{});
  }
}

template <class S>
int forward(const saccade_grouped_convolution& a) {
  using T = SumOf<S>;
  const Slices<S> slices(a);
  return with_form<T>(a, [&](auto kernel, auto width) {
#pragma omp parallel
    {
      Buffer<T> field(slices.together * slices.field * slices.depth);
      Buffer<T> weight(slices.taps * width() * slices.depth);
#pragma omp for schedule(dynamic)
      for (int64_t item = 0; item < slices.count * slices.blocks; item++) {
        const auto place = slices.place(item / slices.blocks);
        const auto block = slices.block(item % slices.blocks);
        slices.copy(place, a.x, block, field);
        for (int64_t slice = block.first; slice < block.end; slice++) {
          slices.copy_weight(slice, weight);
          slices.template convolve<kernel(), width()>(
              place, field + (slice - block.first) * slices.field * slices.depth, weight, slice);
        }
      }
    }
  });
}

template <class S>
int weight_gradient(const saccade_grouped_convolution& a) {
  using T = SumOf<S>;
  const Slices<S> slices(a);
  return with_form<T>(a, [&](auto kernel, auto width) {
    const int64_t parts = std::min(PARTS, slices.count);
    const int64_t size = static_cast<int64_t>(slices.taps) * width() * slices.depth;
    Buffer<T> partial(slices.groups * parts * size);
#pragma omp parallel
    {
      const int64_t cells = slices.together * slices.field * slices.depth;
      Buffer<T> field(cells), d_out(cells);
#pragma omp for schedule(dynamic)
      for (int64_t item = 0; item < parts * slices.blocks; item++) {
        const int64_t part = item / slices.blocks;
        const auto block = slices.block(item % slices.blocks);
        for (int64_t t = part * slices.count / parts; t < (part + 1) * slices.count / parts; t++) {
          const auto place = slices.place(t);
          slices.copy(place, a.x, block, field);
          slices.copy(place, a.d_out, block, d_out);
          for (int64_t slice = block.first; slice < block.end; slice++) {
            const int64_t at = (slice - block.first) * slices.field * slices.depth;
            slices.template weight_gradient<kernel(), width()>(
                place, field + at, d_out + at, partial + (slice * parts + part) * size);
          }
        }
      }
    }
    const int64_t channels = slices.Neighbourhood<S>::channels;
    for (int64_t slice = 0; slice < slices.groups; slice++) {
      for (int64_t row = 0; row < slices.taps * width(); row++) {
        for (int64_t c = 0; c < channels; c++) {
          T total = 0;
          for (int64_t part = 0; part < parts; part++) {
            total += partial[(slice * parts + part) * size + row * slices.depth + c];
          }
          static_cast<T*>(a.d_weight)[row * slices.channels + slice * channels + c] = total;
        }
      }
    }
  });
}

bool is_empty(const saccade_grouped_convolution& a) { return a.n * a.h * a.w == 0; }

}  // namespace

extern "C" int SACCADE_KERNEL(grouped_convolution_forward)(const saccade_grouped_convolution* a) {
  if (!saccade_grouped_convolution_is_sound(a)) return -1;
  if (is_empty(*a)) return 0;
  return with_type(a->type, [&](auto stored) { return forward<decltype(stored)>(*a); });
}

extern "C" int SACCADE_KERNEL(grouped_convolution_weight)(const saccade_grouped_convolution* a) {
  if (!saccade_grouped_convolution_is_sound(a) || is_empty(*a)) return -1;
  return with_type(a->type, [&](auto stored) { return weight_gradient<decltype(stored)>(*a); });
}
