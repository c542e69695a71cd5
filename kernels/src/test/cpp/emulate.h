// Runs a kernel for GPUs on a processor. A kernel's text is compiled after this one, which brings
// what a GPU's compiler knows.
#pragma once

#define SACCADE_DEVICE_CUH

#include "fibers.h"

#define __device__
#define __host__
#define __global__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __restrict__ __restrict

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

inline void __syncthreads() { emulated::wait(emulated::block.all, emulated::block.alive); }
inline void __syncwarp(unsigned lanes = 0xFFFFFFFF) { emulated::meet(lanes); }
inline void __threadfence() {}
inline int __syncthreads_or(int x) {
  static int any, round;
  __syncthreads();
  any = 0;
  __syncthreads();
  any |= x;
  __syncthreads();
  (void)round;
  return any;
}
inline int __syncthreads_and(int x) { return !__syncthreads_or(!x); }

template <class T>
T __shfl_sync(unsigned lanes, T x, int from, int width = 32) {
  return emulated::exchange(lanes, x, threadIdx.x % 32 / width * width + from % width);
}
template <class T>
T __shfl_xor_sync(unsigned lanes, T x, int with, int = 32) {
  return emulated::exchange(lanes, x, (threadIdx.x % 32) ^ with);
}
template <class T>
T __shfl_down_sync(unsigned lanes, T x, int by, int width = 32) {
  const int lane = threadIdx.x % 32;
  return emulated::exchange(lanes, x, lane % width + by < width ? lane + by : lane);
}
template <class T>
T __shfl_up_sync(unsigned lanes, T x, int by, int width = 32) {
  const int lane = threadIdx.x % 32;
  return emulated::exchange(lanes, x, lane % width >= by ? lane - by : lane);
}
inline unsigned __ballot_sync(unsigned lanes, int x) {
  emulated::Warp& w = emulated::warp();
  w.votes[threadIdx.x % 32] = x != 0;
  emulated::meet(lanes);
  unsigned bits = 0;
  for (int i = 0; i < 32; i++) bits |= (lanes >> i & 1 && w.votes[i]) ? 1u << i : 0;
  emulated::meet(lanes);
  return bits;
}
inline bool __any_sync(unsigned lanes, int x) { return __ballot_sync(lanes, x) != 0; }
inline bool __all_sync(unsigned lanes, int x) { return __ballot_sync(lanes, x) == lanes; }

template <class T>
T atomicAdd(T* to, T x) {
  const T old = *to;
  *to += x;
  return old;
}
template <class T>
T atomicMax(T* to, T x) {
  const T old = *to;
  *to = std::max(old, x);
  return old;
}
template <class T>
T atomicOr(T* to, T x) {
  const T old = *to;
  *to |= x;
  return old;
}

template <class T>
T __ldg(const T* from) {
  return *from;
}
template <class A, class B>
auto min(A a, B b) -> decltype(a + b) {
  return a < b ? a : b;
}
template <class A, class B>
auto max(A a, B b) -> decltype(a + b) {
  return a > b ? a : b;
}
using std::isinf;
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float __fdividef(float a, float b) { return a / b; }
// Not fused with a sum.
template <class T>
T emulated_product(T a, T b) {
  T product = a * b;
  asm("" : "+x"(product));
  return product;
}
inline float __fmul_rn(float a, float b) { return emulated_product(a, b); }
inline double __dmul_rn(double a, double b) { return emulated_product(a, b); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline float __uint_as_float(unsigned x) {
  float y;
  memcpy(&y, &x, 4);
  return y;
}
inline unsigned __float_as_uint(float x) {
  unsigned y;
  memcpy(&y, &x, 4);
  return y;
}
inline int __float_as_int(float x) { return static_cast<int>(__float_as_uint(x)); }

// What device.cuh has.
inline unsigned char* shared_memory() { return emulated::block.shared; }

inline float half_to_float(uint16_t x) {
  _Float16 y;
  memcpy(&y, &x, 2);
  return static_cast<float>(y);
}
inline uint16_t float_to_half(float x) {
  const _Float16 y = static_cast<_Float16>(x);
  uint16_t bits;
  memcpy(&bits, &y, 2);
  return bits;
}
inline uint16_t float_to_bfloat16(float x) {
  const uint32_t bits = __float_as_uint(x);
  return x != x ? 0x7FFF : static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
inline uint32_t floats_to_halves(float first, float second) {
  return float_to_half(first) | static_cast<uint32_t>(float_to_half(second)) << 16;
}
inline uint32_t floats_to_bfloat16s(float first, float second) {
  return float_to_bfloat16(first) | static_cast<uint32_t>(float_to_bfloat16(second)) << 16;
}
inline float bits_to_float(uint32_t x) { return __uint_as_float(x); }

inline void copy_async(void* shared, const void* global, bool there) {
  if ((reinterpret_cast<uintptr_t>(shared) | reinterpret_cast<uintptr_t>(global)) % 16 != 0) {
    fprintf(stderr, "a copy of 16 bytes between addresses that are no multiples of it\n");
    abort();
  }
  if (there)
    memcpy(shared, global, 16);
  else
    memset(shared, 0, 16);
}
inline void commit_copies() {}
template <int GROUPS = 0>
void wait_copies() {}

inline void load_squares_of(uint32_t (&to)[4], const void* shared, bool transposed) {
  const void* rows[32];
  emulated::share(shared, rows);
  const int lane = threadIdx.x % 32;
  for (int square = 0; square < 4; square++) {
    uint16_t both[2];
    for (int i = 0; i < 2; i++) {
      const int row = transposed ? lane % 4 * 2 + i : lane / 4,
                column = transposed ? lane / 4 : lane % 4 * 2 + i;
      both[i] = static_cast<const uint16_t*>(rows[square * 8 + row])[column];
    }
    memcpy(&to[square], both, 4);
  }
}
inline void load_squares(uint32_t (&to)[4], const void* shared) {
  load_squares_of(to, shared, false);
}
inline void load_squares_transposed(uint32_t (&to)[4], const void* shared) {
  load_squares_of(to, shared, true);
}

template <class Widen>
void multiply_by_warp(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                      Widen widen) {
  struct Operands {
    uint32_t a[4], b[2];
  } mine = {{a[0], a[1], a[2], a[3]}, {b0, b1}}, all[32];
  emulated::share(mine, all);
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 4; i++) {
    const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    float sum = 0;
    for (int k = 0; k < 16; k++) {
      const uint32_t x = all[row % 8 * 4 + k % 8 / 2].a[row / 8 + k / 8 * 2];
      const uint32_t y = all[column * 4 + k % 8 / 2].b[k / 8];
      sum += widen(x >> k % 2 * 16) * widen(y >> k % 2 * 16);
    }
    d[i] += sum;
  }
}
inline void multiply_halves(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  multiply_by_warp(d, a, b0, b1,
                   [](uint32_t x) { return half_to_float(static_cast<uint16_t>(x)); });
}
inline void multiply_bfloat16s(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  multiply_by_warp(d, a, b0, b1, [](uint32_t x) { return bits_to_float(x << 16); });
}

inline float exponential(float x) { return expf(x); }
inline double exponential(double x) { return exp(x); }
