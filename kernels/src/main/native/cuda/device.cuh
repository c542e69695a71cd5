// What a GPU does by an instruction of its own, under one name each; the emulation has the same
// names.
#ifndef SACCADE_DEVICE_CUH
#define SACCADE_DEVICE_CUH

#include <stdint.h>

// The shared memory that a launch asks for.
__device__ __forceinline__ unsigned char* shared_memory() {
  extern __shared__ __align__(16) unsigned char memory[];
  return memory;
}

// Numbers of 16 bits, the first of a pair in the lower half.
__device__ __forceinline__ float half_to_float(uint16_t x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}

__device__ __forceinline__ uint16_t float_to_half(float x) {
  uint16_t y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ uint32_t floats_to_halves(float first, float second) {
  uint32_t y;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(second), "f"(first));
  return y;
}

__device__ __forceinline__ uint16_t float_to_bfloat16(float x) {
  uint16_t y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ uint32_t floats_to_bfloat16s(float first, float second) {
  uint32_t y;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(second), "f"(first));
  return y;
}

__device__ __forceinline__ float bits_to_float(uint32_t x) { return __uint_as_float(x); }

// Starts to copy 16 bytes to shared memory, or zeros where there is nothing to copy.
__device__ __forceinline__ void copy_async(void* shared, const void* global, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   static_cast<uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(global), "r"(there ? 16 : 0)
               : "memory");
}

// Closes a group of copies; waits until at most so many groups of this thread are under way.
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int GROUPS = 0>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
}

// Loads four squares of 8 x 8 numbers of 16 bits: lane 8 i + j names row j of square i, and gets
// the two numbers 2 (lane % 4) and the next of row lane / 4, of column lane / 4 where transposed.
__device__ __forceinline__ void load_squares(uint32_t (&to)[4], const void* shared) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared)))
               : "memory");
}

__device__ __forceinline__ void load_squares_transposed(uint32_t (&to)[4], const void* shared) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared)))
               : "memory");
}

// d += a b of 16 x 16 and 16 x 8 numbers that a warp holds as the instruction mma.m16n8k16 wants
// them.
__device__ __forceinline__ void multiply_halves(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                                uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void multiply_bfloat16s(float (&d)[4], const uint32_t (&a)[4],
                                                   uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ float exponential(float x) { return __expf(x); }
__device__ __forceinline__ double exponential(double x) { return exp(x); }

#endif
