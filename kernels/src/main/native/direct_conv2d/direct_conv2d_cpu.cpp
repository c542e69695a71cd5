// A thread gathers the inputs of a block of output pixels as rows and multiplies them by the packed
// weights. With 8-bit products, it quantizes each row first.

#include "direct_conv2d/direct_conv2d.h"

#include "common/items.h"
#include "common/products.h"
#include "direct_conv2d/quantize.h"
#include "gelu/normal.h"

namespace {

constexpr int L = LANES<float>;
constexpr int PIXELS = 4 * R;  // pixels of a block
constexpr int ITEMS = 3;       // least work items per thread
constexpr int MAX_WEIGHT = 127;

bool has_products(saccade_products products) {
  return products == SACCADE_FLOAT_PRODUCTS ||
         (has_bfloat16_products() &&
          (products == SACCADE_BFLOAT16_PRODUCTS || has_int8_products()));
}

// Calls f with a value of the type of the weights.
template <class F>
void with_products(saccade_products products, F f) {
  if (products == SACCADE_FLOAT_PRODUCTS) {
    f(float{});
  } else if (products == SACCADE_BFLOAT16_PRODUCTS) {
    f(BFloat16{});
  } else {
    f(int8_t{});
  }
}

int64_t cells_of(const saccade_direct_conv2d& a) { return a.kernel * a.kernel * a.in; }

// Packs weights as rows of [kernel, kernel, in].
template <class P>
void pack(const saccade_direct_conv2d& a) {
  const int64_t area = a.kernel * a.kernel, out = padded_columns(a.out), cells = cells_of(a);
  const int64_t row = padded_row<P>(cells);
  P* to = static_cast<P*>(a.packed);
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < out; k++) {
    const float* from = a.weight + std::min(k, a.out - 1) * cells;
    const auto weight = [&](int64_t i) {
      return k < a.out && i < cells ? from[i % a.in * area + i / a.in] : 0;
    };
    if constexpr (std::is_same_v<P, int8_t>) {
      float largest = 0;
      for (int64_t i = 0; i < cells; i++) largest = std::max(largest, std::abs(weight(i)));
      const float scale = largest / MAX_WEIGHT;
      int64_t sum = 0;
      for (int64_t i = 0; i < row; i++) {
        const float value = scale > 0 ? weight(i) / scale : 0;
        const int8_t rounded = static_cast<int8_t>(std::nearbyint(value));
        to[packed_place<P>(row, a.out, k, i)] = rounded;
        sum += rounded;
      }
      a.scales[k] = scale;
      a.scales[out + k] = scale * static_cast<float>(sum);
    } else {
      for (int64_t i = 0; i < row; i++) narrow(weight(i), to[packed_place<P>(row, a.out, k, i)]);
    }
  }
}

// A convolution of maps of type S with weights of type P.
template <class S, class P>
class Convolution {
  static constexpr bool IS_INT8 = std::is_same_v<P, int8_t>;
  typedef std::conditional_t<IS_INT8, uint8_t, P> Input;
  typedef std::conditional_t<IS_INT8, int32_t, float> Sum;

 public:
  explicit Convolution(const saccade_direct_conv2d& arguments)
      : a(arguments),
        cells(cells_of(a)),
        row(padded_row<P>(cells)),
        out(padded_columns(a.out)),
        pixels(a.n * a.out_h * a.out_w) {}

  // Threads share blocks of pixels; if these are few, also ranges of output channels.
  void run() const {
    const int64_t blocks = ceil_div(pixels, PIXELS), widths = ceil_div(out, WIDTH);
    const int64_t wanted = ceil_div(ITEMS * omp_get_max_threads(), blocks);
    const int64_t parts = std::min(widths, wanted);
    Items items(pixels, PIXELS, parts);
#pragma omp parallel
    {
      const Buffer<S> gathered(row);
      const Buffer<S> zeros(a.in);
      const Buffer<Input> buffer(PIXELS * row);
      const Buffer<float> ranges(PIXELS * 2);
      const Buffer<Sum> sums(R * WIDTH);
      items.run([&](int64_t item) {
        const int64_t first = item / parts * PIXELS, part = item % parts;
        const int64_t count = std::min<int64_t>(PIXELS, pixels - first);
        const Input* rows = in_place(first, count);
        if (rows == nullptr) {
          rows = buffer;
          for (int64_t i = 0; i < count; i++) {
            fill(first + i, zeros, gathered, buffer + i * row, ranges + 2 * i);
          }
        }
        const int64_t end = std::min((part + 1) * widths / parts * WIDTH, out);
        for (int64_t k = part * widths / parts * WIDTH; k < end; k += WIDTH) {
          const int vectors = std::min<int64_t>(V, (out - k) / L);
          const P* weights = static_cast<const P*>(a.packed) + k * row;
          for (int64_t i = 0; i < count; i += R) {
            Sum* const to = sums;
            vectors == V ? multiply<V>(row, rows + i * row, weights, to)
                         : multiply<1>(row, rows + i * row, weights, to);
            const int64_t rest = std::min<int64_t>(R, count - i);
            for (int v = 0; v < vectors; v++) {
              write(first + i, rest, k + v * L, ranges + 2 * i, sums + v * L);
            }
          }
        }
      });
    }
  }

 private:
  // Returns the inputs of output pixels if these are rows of x, or null.
  const Input* in_place(int64_t first, int64_t count) const {
    const bool rows = std::is_same_v<S, Input> && a.kernel == 1 && a.stride == 1 &&
                      a.padding == 0 && row == a.in && first + ceil_div(count, R) * R <= pixels;
    return rows ? static_cast<const Input*>(a.x) + first * row : nullptr;
  }

  // Returns the inputs of an output pixel, [kernel, kernel, in]; copies them unless kernel is 1.
  const S* gather(int64_t pixel, const S* zeros, S* to) const {
    const int64_t image = pixel / (a.out_h * a.out_w);
    const int64_t top = pixel / a.out_w % a.out_h * a.stride - a.padding;
    const int64_t left = pixel % a.out_w * a.stride - a.padding;
    const int64_t reach = (a.kernel - 1) * a.dilation;
    const bool whole_rows = a.dilation == 1 && left >= 0 && left + reach < a.w;
    const S* x = static_cast<const S*>(a.x) + image * a.h * a.w * a.in;
    for (int64_t i = 0; i < a.kernel; i++) {
      const int64_t h = top + i * a.dilation;
      if (whole_rows && h >= 0 && h < a.h) {
        const S* from = x + (h * a.w + left) * a.in;
        if (a.kernel == 1) return from;
        memcpy(to + i * a.kernel * a.in, from, a.kernel * a.in * sizeof(S));
        continue;
      }
      for (int64_t j = 0; j < a.kernel; j++) {
        const int64_t w = left + j * a.dilation;
        const bool inside = h >= 0 && h < a.h && w >= 0 && w < a.w;
        const S* from = inside ? x + (h * a.w + w) * a.in : zeros;
        if (a.kernel == 1) return from;
        memcpy(to + (i * a.kernel + j) * a.in, from, a.in * sizeof(S));
      }
    }
    return to;
  }

  // Writes the inputs of an output pixel.
  void fill(int64_t pixel, const S* zeros, S* gathered, Input* to, float* range) const {
    if constexpr (std::is_same_v<S, Input>) {
      const S* from = gather(pixel, zeros, to);
      if (from != to) memcpy(to, from, cells * sizeof(S));
    } else if constexpr (IS_INT8) {
      quantize(gather(pixel, zeros, gathered), cells, to, range);
    } else {
      const S* from = gather(pixel, zeros, gathered);
      by_vectors<float, 1>(cells, [&](auto, auto whole, int64_t c) {
        put<whole>(take<whole>(from + c, cells - c), to + c, cells - c);
      });
    }
  }

  // Scales sums, adds bias and add, applies the activation and writes a vector of channels of some
  // pixels.
  void write(int64_t pixel, int64_t end, int64_t channel, const float* ranges,
             const Sum* sums) const {
    // Copied, since what is written could change arguments as far as the compiler knows.
    const int64_t count = a.out - channel, stride = a.out, first = pixel * stride + channel;
    const S* const add = a.add ? static_cast<const S*>(a.add) + first : nullptr;
    S* const y = static_cast<S*>(a.y) + first;
    const saccade_activation activation = a.activation;
    const auto finish = [&](auto whole) {
      const Floats bias = take<whole>(a.bias + channel, count);
      const Floats scale = IS_INT8 ? load(a.scales + channel) : Floats{};
      const Floats least = IS_INT8 ? load(a.scales + out + channel) : Floats{};
      for (int64_t i = 0; i < end; i++) {
        Floats value = bias;
        if constexpr (IS_INT8) {
          Ints products;
          memcpy(&products, sums + i * WIDTH, sizeof products);
          const Floats sum = __builtin_convertvector(products, Floats);
          value += sum * (scale * ranges[2 * i + 1]) + least * ranges[2 * i];
        } else {
          value += load(sums + i * WIDTH);
        }
        if (add) value += take<whole>(add + i * stride, count);
        value = activated(value, activation);
        if constexpr (whole && !std::is_same_v<P, float>) {
          put_rounded(value, y + i * stride);
        } else {
          put<whole>(value, y + i * stride, count);
        }
      }
    };
    count < L ? finish(std::false_type{}) : finish(std::true_type{});
  }

  // A NaN stays NaN.
  static Floats activated(Floats y, saccade_activation activation) {
    if (activation == SACCADE_RELU) return max<float>(Floats{}, y);
    return activation == SACCADE_GELU ? y * normal(y).cumulative : y;
  }

  const saccade_direct_conv2d& a;
  const int64_t cells, row, out, pixels;
};

}  // namespace

extern "C" int SACCADE_KERNEL(direct_conv2d_size)(saccade_direct_conv2d* a) {
  with_products(a->products, [&](auto weight) {
    a->packed_count = padded_row<decltype(weight)>(cells_of(*a)) * padded_columns(a->out);
  });
  a->scale_count = a->products == SACCADE_INT8_PRODUCTS ? 2 * padded_columns(a->out) : 0;
  return has_products(a->products) ? 0 : -2;
}

extern "C" int SACCADE_KERNEL(direct_conv2d_pack)(const saccade_direct_conv2d* a) {
  if (!saccade_direct_conv2d_is_sound(a)) return -1;
  with_products(a->products, [&](auto weight) { pack<decltype(weight)>(*a); });
  return 0;
}

extern "C" int SACCADE_KERNEL(direct_conv2d_forward)(const saccade_direct_conv2d* a) {
  if (!saccade_direct_conv2d_is_sound(a)) return -1;
  if (!has_products(a->products)) return -2;
  with_products(a->products, [&](auto weight) {
    using P = decltype(weight);
    a->type == SACCADE_FLOAT ? Convolution<float, P>(*a).run() : Convolution<BFloat16, P>(*a).run();
  });
  return 0;
}
