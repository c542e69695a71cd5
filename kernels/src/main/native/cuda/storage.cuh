// How numbers are stored, and what they are summed in: SACCADE_STORAGE is one of saccade_type.
#pragma once

#include "common/saccade.h"
#include "cuda/device.cuh"

constexpr int WARP = 32;
constexpr unsigned ALL = 0xFFFFFFFF;  // lanes of a warp

#if SACCADE_STORAGE == 1
typedef double Sum;
#else
typedef float Sum;
#endif

#if SACCADE_STORAGE == 0
typedef float Storage;
#elif SACCADE_STORAGE == 1
typedef double Storage;
#elif SACCADE_STORAGE == 2
struct Storage {
  uint16_t bits;
};
#elif SACCADE_STORAGE == 3
struct Storage {
  uint16_t bits;
};
#endif

__device__ __forceinline__ Sum widen(Storage x) {
#if SACCADE_STORAGE == 2
  return half_to_float(x.bits);
#elif SACCADE_STORAGE == 3
  return bits_to_float(static_cast<uint32_t>(x.bits) << 16);
#else
  return x;
#endif
}

__device__ __forceinline__ Storage narrow(Sum x) {
#if SACCADE_STORAGE == 2
  return {float_to_half(x)};
#elif SACCADE_STORAGE == 3
  return {float_to_bfloat16(x)};
#else
  return x;
#endif
}

__device__ __forceinline__ float infinity() { return bits_to_float(0x7F800000); }

// Neighbours in memory, read and written at once.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T at[N];
};

template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, N>*>(from);
}

template <int N, class T>
__device__ __forceinline__ void store_pack(T* to, const Pack<T, N>& x) {
  *reinterpret_cast<Pack<T, N>*>(to) = x;
}

// Two numbers side by side, widened and narrowed.
struct Pair {
  Sum x, y;
};

__device__ __forceinline__ Pair load_pair(const Storage* from) {
#if SACCADE_STORAGE == 3
  const uint32_t bits = *reinterpret_cast<const uint32_t*>(from);
  return {bits_to_float(bits << 16), bits_to_float(bits & 0xFFFF0000)};
#else
  const Pack<Storage, 2> both = load_pack<2>(from);
  return {widen(both.at[0]), widen(both.at[1])};
#endif
}

__device__ __forceinline__ void store_pair(Storage* to, Pair x) {
#if SACCADE_STORAGE == 2
  *reinterpret_cast<uint32_t*>(to) = floats_to_halves(x.x, x.y);
#elif SACCADE_STORAGE == 3
  *reinterpret_cast<uint32_t*>(to) = floats_to_bfloat16s(x.x, x.y);
#else
  store_pack<2>(to, {{x.x, x.y}});
#endif
}

#if SACCADE_STORAGE == 2
__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                         uint32_t b1) {
  multiply_halves(d, a, b0, b1);
}
__device__ __forceinline__ uint32_t narrow_pair(float first, float second) {
  return floats_to_halves(first, second);
}
#elif SACCADE_STORAGE == 3
__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                         uint32_t b1) {
  multiply_bfloat16s(d, a, b0, b1);
}
__device__ __forceinline__ uint32_t narrow_pair(float first, float second) {
  return floats_to_bfloat16s(first, second);
}
#endif

// The sum and the largest of a warp, in every lane.
template <class T>
__device__ __forceinline__ T warp_sum(T x) {
#pragma unroll
  for (int step = WARP / 2; step > 0; step /= 2) x += __shfl_xor_sync(ALL, x, step);
  return x;
}

template <class T>
__device__ __forceinline__ T warp_largest(T x) {
#pragma unroll
  for (int step = WARP / 2; step > 0; step /= 2) {
    const T other = __shfl_xor_sync(ALL, x, step);
    x = other > x ? other : x;
  }
  return x;
}
