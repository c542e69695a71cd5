// A thread gathers the inputs of a block of output pixels as rows, quantizes each row, and
// multiplies the rows by the packed weights. Needs AVX-512 VNNI.

#include "common/simd.h"
#include "int8_conv2d/int8_conv2d.h"

namespace {

constexpr int L = LANES<float>;
constexpr int FOUR = 4;                       // products that an instruction adds
constexpr int V = 2;                          // vectors of output channels of a product
constexpr int R = SACCADE_REGISTERS / 2 - V;  // pixels of a product
constexpr int WIDTH = V * L;                  // output channels of a block of weights
constexpr int PIXELS = 4 * R;                 // pixels of a block
constexpr int MAX_WEIGHT = 127, MAX_INPUT = 255;

typedef Vec<float> Floats;
typedef int32_t Ints __attribute__((vector_size(SACCADE_VECTOR_BYTES)));

int64_t padded_out(int64_t channels) { return ceil_div(channels, L) * L; }

int64_t padded_row(const saccade_int8_conv2d& a) {
  return ceil_div(a.kernel * a.kernel * a.in, FOUR) * FOUR;
}

// Packs weights as [blocks of WIDTH output channels][kernel, kernel, in / FOUR][outputs][FOUR].
void pack(const saccade_int8_conv2d& a) {
  const int64_t area = a.kernel * a.kernel, out = padded_out(a.out), row = padded_row(a);
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < out; k++) {
    const int64_t block = k / WIDTH, width = std::min<int64_t>(WIDTH, out - block * WIDTH);
    int8_t* to = a.packed + block * row * WIDTH + k % WIDTH * FOUR;
    const float* from = a.weight + std::min(k, a.out - 1) * a.in * area;
    float largest = 0;
    for (int64_t i = 0; i < a.in * area; i++) largest = std::max(largest, std::abs(from[i]));
    const float scale = k < a.out ? largest / MAX_WEIGHT : 0;
    int64_t sum = 0;
    for (int64_t i = 0; i < row; i++) {
      const int64_t cell = i / a.in, c = i % a.in;
      const bool inside = scale > 0 && cell < area;
      const float value = inside ? from[c * area + cell] / scale : 0;
      const int8_t rounded = static_cast<int8_t>(std::nearbyint(value));
      to[i / FOUR * FOUR * width + i % FOUR] = rounded;
      sum += rounded;
    }
    a.scales[k] = scale;
    a.scales[out + k] = scale * static_cast<float>(sum);
  }
}

typedef uint32_t Loose __attribute__((vector_size(SACCADE_VECTOR_BYTES), aligned(1), may_alias));

#if defined(__AVX512F__)
bool has_products() {
  return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16");
}

// out = left right, for R rows of left and right, [row / FOUR, VECTORS * L, FOUR].
template <int VECTORS>
__attribute__((target("avx512vnni"))) inline void multiply(int64_t row, const uint8_t* left,
                                                           const int8_t* right, int32_t* out) {
  Words sums[R][VECTORS] = {};
  for (int64_t c = 0; c < row; c += FOUR, left += FOUR, right += FOUR * VECTORS * L) {
    Words near[VECTORS];
    for (int v = 0; v < VECTORS; v++) near[v] = *(reinterpret_cast<const Loose*>(right) + v);
#pragma GCC unroll 14
    for (int i = 0; i < R; i++) {
      uint32_t four;
      memcpy(&four, left + i * row, sizeof four);
      const Words factor = four - Words{};
      for (int v = 0; v < VECTORS; v++) {
        sums[i][v] = reinterpret_cast<Words>(_mm512_dpbusd_epi32(
            reinterpret_cast<__m512i>(sums[i][v]), reinterpret_cast<__m512i>(factor),
            reinterpret_cast<__m512i>(near[v])));
      }
    }
  }
  for (int i = 0; i < R; i++) {
    for (int v = 0; v < VECTORS; v++) {
      *reinterpret_cast<Loose*>(out + i * WIDTH + v * L) = sums[i][v];
    }
  }
}

// Rounds to the nearest integer, ties to even, and stores 8 bits of each.
inline void store_bytes(Floats v, uint8_t* to) {
  const __m512i rounded = _mm512_maskz_cvtps_epi32(0xFFFF, v);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_maskz_cvtusepi32_epi8(0xFFFF, rounded));
}

// Rounds to bfloat16 with an instruction.
__attribute__((target("avx512bf16"))) inline void put_vector(Floats v, BFloat16* to) {
  const __m256bh rounded = _mm512_cvtneps_pbh(v);
  memcpy(to, &rounded, sizeof rounded);
}
#else
bool has_products() { return false; }

template <int VECTORS>
void multiply(int64_t, const uint8_t*, const int8_t*, int32_t*) {}

inline void store_bytes(Floats, uint8_t*) {}

inline void put_vector(Floats v, BFloat16* to) { narrow_all(v, to); }
#endif

inline void put_vector(Floats v, float* to) { store(to, v); }

template <class S>
class Convolution {
 public:
  explicit Convolution(const saccade_int8_conv2d& arguments)
      : a(arguments),
        row(padded_row(a)),
        cells(a.kernel * a.kernel * a.in),
        out(padded_out(a.out)),
        pixels(a.n * a.out_h * a.out_w) {}

  void run() const {
#pragma omp parallel
    {
      const Buffer<S> gathered(row);
      const Buffer<S> zeros(a.in);
      const Buffer<uint8_t> rows(PIXELS * row);
      const Buffer<float> ranges(PIXELS * 2);
      const Buffer<int32_t> sums(R * WIDTH);
#pragma omp for schedule(dynamic)
      for (int64_t first = 0; first < pixels; first += PIXELS) {
        const int64_t count = std::min<int64_t>(PIXELS, pixels - first);
        for (int64_t i = 0; i < count; i++) {
          quantize(gather(first + i, zeros, gathered), rows + i * row, ranges + 2 * i);
        }
        for (int64_t k = 0; k < out; k += WIDTH) {
          const int vectors = std::min<int64_t>(V, (out - k) / L);
          const int8_t* weights = a.packed + k * row;
          for (int64_t i = 0; i < count; i += R) {
            vectors == V ? multiply<V>(row, rows + i * row, weights, sums)
                         : multiply<1>(row, rows + i * row, weights, sums);
            const int64_t end = std::min<int64_t>(R, count - i);
            for (int v = 0; v < vectors; v++) {
              write(first + i, end, k + v * L, ranges + 2 * i, sums + v * L);
            }
          }
        }
      }
    }
  }

 private:
  // Returns the inputs of an output pixel, [kernel, kernel, in]; copies them unless kernel is 1.
  const S* gather(int64_t pixel, const S* zeros, S* to) const {
    const int64_t image = pixel / (a.out_h * a.out_w);
    const int64_t top = pixel / a.out_w % a.out_h * a.stride - a.padding;
    const int64_t left = pixel % a.out_w * a.stride - a.padding;
    const S* x = static_cast<const S*>(a.x) + image * a.h * a.w * a.in;
    for (int64_t i = 0; i < a.kernel; i++) {
      for (int64_t j = 0; j < a.kernel; j++) {
        const int64_t h = top + i * a.dilation, w = left + j * a.dilation;
        const bool inside = h >= 0 && h < a.h && w >= 0 && w < a.w;
        const S* from = inside ? x + (h * a.w + w) * a.in : zeros;
        if (a.kernel == 1) return from;
        memcpy(to + (i * a.kernel + j) * a.in, from, a.in * sizeof(S));
      }
    }
    return to;
  }

  // Maps the values of a row to 0 to 255; the range is the least value and the step.
  void quantize(const S* from, uint8_t* to, float* range) const {
    const Floats first = broadcast(widen(from[0]));
    Floats low = first, high = first, invalid = {};
    by_vectors<float, 1>(cells, [&](auto, auto whole, int64_t c) {
      if constexpr (whole) {
        const Floats v = take<true>(from + c, L);
        low = v < low ? v : low;
        high = v > high ? v : high;
        invalid += v * 0.f;
      } else {
        for (int64_t i = c; i < cells; i++) {
          low = min<float>(low, broadcast(widen(from[i])));
          high = max<float>(high, broadcast(widen(from[i])));
          invalid += broadcast(widen(from[i])) * 0.f;
        }
      }
    });
    // NaN if any input is NaN or infinite: then so are all outputs of the pixel.
    const float least = -largest<float>(-low) + sum<float>(invalid), most = largest<float>(high);
    const float step = (most - least) / MAX_INPUT;
    const float factor = step > 0 ? 1 / step : 0;
    range[0] = least;
    range[1] = step;
    by_vectors<float, 1>(cells, [&](auto, auto whole, int64_t c) {
      const Floats v = (take<whole>(from + c, cells - c) - least) * factor;
      if constexpr (whole) {
        store_bytes(v, to + c);
      } else {
        uint8_t bytes[L];
        store_bytes(v, bytes);
        std::copy(bytes, bytes + (cells - c), to + c);
      }
    });
  }

  // Scales sums, adds bias and add, applies ReLU and writes a vector of channels of some pixels.
  void write(int64_t pixel, int64_t end, int64_t channel, const float* ranges,
             const int32_t* sums) const {
    const int64_t count = a.out - channel;
    const Floats scale = load(a.scales + channel), offset = load(a.scales + out + channel);
    const auto finish = [&](auto whole) {
      const Floats bias = take<whole>(a.bias + channel, count);
      for (int64_t i = 0; i < end; i++) {
        const int64_t index = (pixel + i) * a.out + channel;
        Ints products;
        memcpy(&products, sums + i * WIDTH, sizeof products);
        Floats y = __builtin_convertvector(products, Floats) * (scale * ranges[2 * i + 1]) +
                   offset * ranges[2 * i] + bias;
        if (a.add) y += take<whole>(static_cast<const S*>(a.add) + index, count);
        y = rectified(y);
        if constexpr (whole) {
          put_vector(y, static_cast<S*>(a.y) + index);
        } else {
          put<false>(y, static_cast<S*>(a.y) + index, count);
        }
      }
    };
    count < L ? finish(std::false_type{}) : finish(std::true_type{});
  }

  // A NaN stays NaN.
  Floats rectified(Floats y) const { return a.relu ? (y < Floats{} ? Floats{} : y) : y; }

  const saccade_int8_conv2d& a;
  const int64_t row, cells, out, pixels;
};

}  // namespace

extern "C" int SACCADE_KERNEL(int8_conv2d_size)(saccade_int8_conv2d* a) {
  a->packed_count = padded_row(*a) * padded_out(a->out);
  a->scale_count = 2 * padded_out(a->out);
  return has_products() ? 0 : -2;
}

extern "C" int SACCADE_KERNEL(int8_conv2d_pack)(const saccade_int8_conv2d* a) {
  if (!saccade_int8_conv2d_is_sound(a)) return -1;
  pack(*a);
  return 0;
}

extern "C" int SACCADE_KERNEL(int8_conv2d_forward)(const saccade_int8_conv2d* a) {
  if (!saccade_int8_conv2d_is_sound(a)) return -1;
  if (!has_products()) return -2;
  a->type == SACCADE_FLOAT ? Convolution<float>(*a).run() : Convolution<BFloat16>(*a).run();
  return 0;
}
