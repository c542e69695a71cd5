// Vectors of the instruction set that a file is compiled for, without naming any instruction.
#pragma once

#if defined(__aarch64__)
#include <arm_neon.h>
#else
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include "common/saccade.h"

#if defined(__AVX512F__)
#define SACCADE_VECTOR_BYTES 64
#define SACCADE_REGISTERS 32
#define SACCADE_VECTOR_REGISTER "v"
#define SACCADE_KERNEL(name) saccade_##name##_avx512
#elif defined(__AVX2__)
#define SACCADE_VECTOR_BYTES 32
#define SACCADE_REGISTERS 16
#define SACCADE_VECTOR_REGISTER "v"
#define SACCADE_KERNEL(name) saccade_##name##_avx2
#else
#define SACCADE_VECTOR_BYTES 16
#define SACCADE_REGISTERS 32
#define SACCADE_VECTOR_REGISTER "w"
#define SACCADE_KERNEL(name) saccade_##name##_neon
#endif

// Each file is compiled once for every instruction set; nothing of it may be shared.
namespace {

template <class T>
constexpr int LANES = SACCADE_VECTOR_BYTES / sizeof(T);

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float type __attribute__((vector_size(SACCADE_VECTOR_BYTES)));
  typedef float loose __attribute__((vector_size(SACCADE_VECTOR_BYTES), aligned(4), may_alias));
};
template <>
struct VectorOf<double> {
  typedef double type __attribute__((vector_size(SACCADE_VECTOR_BYTES)));
  typedef double loose __attribute__((vector_size(SACCADE_VECTOR_BYTES), aligned(8), may_alias));
};
template <class T>
using Vec = typename VectorOf<T>::type;

template <class T>
inline Vec<T> load(const T* p) {
  return *reinterpret_cast<const typename VectorOf<T>::loose*>(p);
}

template <class T>
inline void store(T* p, Vec<T> v) {
  *reinterpret_cast<typename VectorOf<T>::loose*>(p) = v;
}

template <class T>
inline Vec<T> broadcast(T x) {
  return x - Vec<T>{};
}

// Lane i of the result is lane i + S of v, round and round.
template <class T, int S>
inline Vec<T> rotate(Vec<T> v) {
  typedef std::conditional_t<sizeof(T) == 4, int32_t, int64_t> Int;
  typedef Int Ints __attribute__((vector_size(SACCADE_VECTOR_BYTES)));
  Ints lanes;
  for (int i = 0; i < LANES<T>; i++) lanes[i] = (i + S) % LANES<T>;
  return __builtin_shuffle(v, lanes);
}

template <class T, int S = LANES<T> / 2>
inline T sum(Vec<T> v) {
  v += rotate<T, S>(v);
  if constexpr (S > 1) return sum<T, S / 2>(v);
  return v[0];
}

template <class T, int S = LANES<T> / 2>
inline T largest(Vec<T> v) {
  Vec<T> other = rotate<T, S>(v);
  v = v > other ? v : other;
  if constexpr (S > 1) return largest<T, S / 2>(v);
  return v[0];
}

// Exchanges every other block of STEP lanes of a for those before them of b.
template <class T, int STEP>
inline void exchange(Vec<T>& a, Vec<T>& b) {
  typedef std::conditional_t<sizeof(T) == 4, int32_t, int64_t> Int;
  typedef Int Ints __attribute__((vector_size(SACCADE_VECTOR_BYTES)));
  Ints low, high;
  for (int i = 0; i < LANES<T>; i++) {
    int block = i / STEP;
    low[i] = (block % 2) * LANES<T> + block / 2 * 2 * STEP + i % STEP;
    high[i] = low[i] + STEP;
  }
  Vec<T> first = __builtin_shuffle(a, b, low);
  b = __builtin_shuffle(a, b, high);
  a = first;
}

// Puts the sums of 2 STEP lanes of a and of b each in the place of STEP, by turns.
template <class T, int STEP>
inline Vec<T> fold(Vec<T> a, Vec<T> b) {
  exchange<T, STEP>(a, b);
  return a + b;
}

// Lane i of the result is the sum of the lanes of v[i], of as many vectors as lanes; spoils v.
template <class T, int STEP = LANES<T> / 2>
inline Vec<T> sum_each(Vec<T>* v) {
  for (int i = 0; i < STEP; i++) v[i] = fold<T, STEP>(v[i], v[i + STEP]);
  if constexpr (STEP > 1) return sum_each<T, STEP / 2>(v);
  return v[0];
}

// Transposes a square of as many vectors as lanes.
template <class T, int STEP = LANES<T> / 2>
inline void transpose(Vec<T>* v) {
  for (int i = 0; i < LANES<T>; i += 2 * STEP) {
    for (int j = i; j < i + STEP; j++) exchange<T, STEP>(v[j], v[j + STEP]);
  }
  if constexpr (STEP > 1) transpose<T, STEP / 2>(v);
}

// Of two where one is no number, the second.
template <class T>
inline Vec<T> max(Vec<T> a, Vec<T> b) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) return _mm512_maskz_max_ps(0xFFFF, a, b);
#endif
  return a > b ? a : b;
}

template <class T>
inline Vec<T> min(Vec<T> a, Vec<T> b) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) return _mm512_maskz_min_ps(0xFFFF, a, b);
#endif
  return a < b ? a : b;
}

// e^x to the last place or two, for x <= 0.
inline Vec<float> exponential(Vec<float> x) {
  typedef int32_t Ints __attribute__((vector_size(SACCADE_VECTOR_BYTES)));
  const Vec<float> least = broadcast(-87.3f);
  x = x < least ? least : x;
  Vec<float> scaled = x * 1.44269504088896341f;
  const Vec<float> magic = broadcast(12582912.f);  // 1.5 * 2^23: what is added loses its fraction
  Vec<float> n = (scaled + magic) - magic;
  Vec<float> r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  Vec<float> y = r * 1.9875691500e-4f + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * (r * r) + (r + 1.f);
  Ints power = (__builtin_convertvector(n, Ints) + 127) << 23;
  Vec<float> two;
  memcpy(&two, &power, sizeof two);
  return y * two;
}

inline Vec<double> exponential(Vec<double> x) {
  for (int i = 0; i < LANES<double>; i++) x[i] = std::exp(x[i]);
  return x;
}

// How a number is stored, and what it is summed in.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
#if defined(__aarch64__)
typedef __fp16 HalfNumber;
#else
typedef _Float16 HalfNumber;
#endif

inline float widen(float x) { return x; }
inline double widen(double x) { return x; }
inline float widen(Half x) {
  HalfNumber h;
  memcpy(&h, &x, 2);
  return static_cast<float>(h);
}
inline float widen(BFloat16 x) {
  uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

inline void narrow(float x, float& out) { out = x; }
inline void narrow(double x, double& out) { out = x; }
inline void narrow(float x, Half& out) {
  HalfNumber h = static_cast<HalfNumber>(x);
  memcpy(&out, &h, 2);
}
inline void narrow(float x, BFloat16& out) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  bool nan = x != x;
  out.bits = nan ? 0x7FC0 : static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// A whole vector of them, by instructions where the compiler would take a number at a time.
typedef uint16_t Shorts __attribute__((vector_size(SACCADE_VECTOR_BYTES / 2)));
typedef uint32_t Words __attribute__((vector_size(SACCADE_VECTOR_BYTES)));

inline Vec<float> widen_all(const BFloat16* from) {
#if defined(__aarch64__)
  return reinterpret_cast<Vec<float>>(vshll_n_u16(vld1_u16(&from->bits), 16));
#elif defined(__AVX512F__)
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  const __m512i words = _mm512_maskz_cvtepu16_epi32(0xFFFF, bits);
  return reinterpret_cast<Vec<float>>(reinterpret_cast<Words>(words) << 16);
#else
  Shorts bits;
  memcpy(&bits, from, sizeof bits);
  return reinterpret_cast<Vec<float>>(__builtin_convertvector(bits, Words) << 16);
#endif
}
inline void narrow_all(Vec<float> x, BFloat16* out) {
  Words bits = reinterpret_cast<Words>(x);
  bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const Shorts rounded = __builtin_convertvector(x == x ? bits : Words{} + 0x7FC0, Shorts);
  memcpy(out, &rounded, sizeof rounded);
}

inline Vec<float> widen_all(const Half* from) {
#if defined(__aarch64__)
  return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(&from->bits)));
#elif defined(__AVX512F__)
  return _mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#else
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#endif
}
inline void narrow_all(Vec<float> x, Half* out) {
#if defined(__aarch64__)
  vst1_u16(&out->bits, vreinterpret_u16_f16(vcvt_f16_f32(x)));
#elif defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                      _mm512_maskz_cvtps_ph(0xFFFF, x, _MM_FROUND_TO_NEAREST_INT));
#else
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
#endif
}

template <class S>
using SumOf = decltype(widen(S{}));

template <class S, class T>
inline void widen(const S* from, T* to, int64_t count) {
  int64_t i = 0;
  if constexpr (sizeof(S) == 2) {
    for (; i + LANES<T> <= count; i += LANES<T>) store(to + i, widen_all(from + i));
  }
  for (; i < count; i++) to[i] = widen(from[i]);
}

template <class S, class T>
inline void narrow(const T* from, S* to, int64_t count) {
  int64_t i = 0;
  if constexpr (sizeof(S) == 2) {
    for (; i + LANES<T> <= count; i += LANES<T>) narrow_all(load(from + i), to + i);
  }
  for (; i < count; i++) narrow(from[i], to[i]);
}

// Loads or stores a vector of channels; of those at the end of a row, so many as there are.
template <bool WHOLE, class S>
inline Vec<SumOf<S>> take(const S* from, int64_t count) {
  using T = SumOf<S>;
  if constexpr (WHOLE && std::is_same_v<S, T>) {
    return load(from);
  } else if constexpr (WHOLE && sizeof(S) == 2) {
    return widen_all(from);
  } else {
    T lanes[LANES<T>] = {};
    widen(from, lanes, WHOLE ? LANES<T> : count);
    return load(lanes);
  }
}

template <bool WHOLE, class S>
inline void put(Vec<SumOf<S>> v, S* to, int64_t count) {
  using T = SumOf<S>;
  if constexpr (WHOLE && std::is_same_v<S, T>) {
    store(to, v);
  } else if constexpr (WHOLE && sizeof(S) == 2) {
    narrow_all(v, to);
  } else {
    T lanes[LANES<T>];
    store(lanes, v);
    narrow(lanes, to, WHOLE ? LANES<T> : count);
  }
}

// Calls f(vectors, whole, channel) for channels a few vectors at a time, with constants for the
// number of vectors and whether they are whole; only the last one may not be.
template <class T, int V, class F>
inline void by_vectors(int64_t channels, F f, int64_t channel = 0) {
  for (; channel + V * LANES<T> <= channels; channel += V * LANES<T>) {
    f(std::integral_constant<int, V>{}, std::true_type{}, channel);
  }
  if (channel == channels) return;
  if constexpr (V > 1) {
    by_vectors<T, V / 2>(channels, f, channel);
  } else {
    f(std::integral_constant<int, 1>{}, std::false_type{}, channel);
  }
}

// A number that is not fused with a sum: rounded as where originals are not compiled to do so.
template <class T>
inline T rounded(T x) {
  asm("" : "+" SACCADE_VECTOR_REGISTER(x));
  return x;
}

// Calls f with a value of the type of storage.
template <class F>
inline int with_type(saccade_type type, F f) {
  switch (type) {
    case SACCADE_FLOAT:
      return f(float{});
    case SACCADE_DOUBLE:
      return f(double{});
    case SACCADE_HALF:
      return f(Half{});
    case SACCADE_BFLOAT16:
      return f(BFloat16{});
  }
  return -1;
}

// Softmax of count numbers in place.
template <class T>
inline void softmax(T* x, int count) {
  constexpr int L = LANES<T>;
  int whole = count / L * L;
  T m = x[0];
  if (whole > 0) {
    Vec<T> high = load(x);
    for (int i = L; i < whole; i += L) high = max<T>(high, load(x + i));
    m = largest<T>(high);
  }
  for (int i = whole; i < count; i++) m = x[i] > m ? x[i] : m;
  Vec<T> total = {};
  for (int i = 0; i < whole; i += L) {
    Vec<T> e = exponential(load(x + i) - m);
    total += e;
    store(x + i, e);
  }
  T s = sum<T>(total);
  if (whole < count) {
    T rest[L];
    for (int i = 0; i < L; i++) rest[i] = whole + i < count ? x[whole + i] - m : -1;
    Vec<T> e = exponential(load(rest));
    for (int i = 0; whole + i < count; i++) s += x[whole + i] = e[i];
  }
  T r = 1 / s;
  for (int i = 0; i < count; i++) x[i] *= r;
}

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Memory for vectors: zeros, or what happens to be there.
struct Unset {};

template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t count) : Buffer(count, Unset()) {
    std::fill(memory, memory + count, T());
  }
  Buffer(int64_t count, Unset)
      : memory(static_cast<T*>(::operator new(sizeof(T) * count, std::align_val_t(64)))) {}
  ~Buffer() { ::operator delete(memory, std::align_val_t(64)); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  operator T*() const { return memory; }

 private:
  T* memory;
};

}  // namespace
