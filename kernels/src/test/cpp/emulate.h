// Runs a kernel for GPUs on a processor: each thread of a block is a fiber, which goes on until it
// waits for others. A kernel's text is compiled after this one, which brings what a GPU's compiler
// knows.
#pragma once

#define SACCADE_DEVICE_CUH

#include <stdint.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#define __device__
#define __host__
#define __global__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __restrict__ __restrict

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
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

static dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulated {

asm(R"(
.text
.type emulated_switch, @function
emulated_switch:
  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
  ret
)");
extern "C" void emulated_switch(void** from, void* to);

// A place where some wait for all of them.
struct Barrier {
  int arrived = 0;
  unsigned round = 0;
};

struct Warp {
  std::map<unsigned, Barrier> barriers;  // by the lanes that meet
  alignas(16) unsigned char slots[32][64];
  bool votes[32];
};

struct Block {
  std::function<void()> body;
  std::vector<void*> stacks, tops;
  std::vector<bool> done;
  std::vector<Warp> warps;
  Barrier all;
  int alive = 0, current = 0;
  bool progress = false;
  void* scheduler = nullptr;
  unsigned char* shared = nullptr;
};
static Block block;

constexpr size_t STACK = 256 * 1024;

inline void yield() {
  const int me = block.current;
  const dim3 thread = threadIdx;
  emulated_switch(&block.tops[me], block.scheduler);
  threadIdx = thread;
}

inline void release(Barrier& b) {
  b.arrived = 0;
  b.round++;
  block.progress = true;
}

inline void wait(Barrier& b, int expected) {
  const unsigned round = b.round;
  if (++b.arrived == expected)
    release(b);
  else
    while (b.round == round) yield();
}

inline Warp& warp() { return block.warps[threadIdx.x / 32]; }
inline void meet(unsigned lanes) { wait(warp().barriers[lanes], __builtin_popcount(lanes)); }

inline void enter() {
  block.body();
  block.alive--;
  if (block.alive > 0 && block.all.arrived == block.alive) release(block.all);
  block.done[block.current] = true;
  block.progress = true;
  yield();
}

// Everybody's value, of those lanes that meet.
template <class T>
T exchange(unsigned lanes, T mine, int from) {
  Warp& w = warp();
  memcpy(w.slots[threadIdx.x % 32], &mine, sizeof mine);
  meet(lanes);
  T theirs;
  memcpy(&theirs, w.slots[from % 32], sizeof theirs);
  meet(lanes);
  return theirs;
}

// Everybody's value, of a whole warp.
template <class T>
void share(const T& mine, T (&all)[32]) {
  Warp& w = warp();
  memcpy(w.slots[threadIdx.x % 32], &mine, sizeof mine);
  meet(0xFFFFFFFF);
  for (int i = 0; i < 32; i++) memcpy(&all[i], w.slots[i], sizeof mine);
  meet(0xFFFFFFFF);
}

// Runs a block; its threads go on in an order that is drawn by lot, so that what needs a barrier
// and has none comes out wrong.
inline void run_block(int threads, std::mt19937& lots) {
  block.done.assign(threads, false);
  block.warps.assign((threads + 31) / 32, {});
  block.all = {};
  block.alive = threads;
  block.tops.resize(threads);
  while (static_cast<int>(block.stacks.size()) < threads)
    block.stacks.push_back(aligned_alloc(64, STACK));
  for (int i = 0; i < threads; i++) {
    void** top = reinterpret_cast<void**>(static_cast<char*>(block.stacks[i]) + STACK) - 8;
    memset(top, 0, 8 * sizeof(void*));
    top[6] = reinterpret_cast<void*>(&enter);
    block.tops[i] = top;
  }
  std::vector<int> order(threads);
  std::iota(order.begin(), order.end(), 0);
  while (block.alive > 0) {
    std::shuffle(order.begin(), order.end(), lots);
    block.progress = false;
    for (const int i : order) {
      if (block.done[i]) continue;
      block.current = i;
      threadIdx = {static_cast<unsigned>(i), 0, 0};
      emulated_switch(&block.scheduler, block.tops[i]);
    }
    if (!block.progress) {
      fprintf(stderr, "threads of block %u wait for others that never come\n", blockIdx.x);
      abort();
    }
  }
}

// Shared memory ends where memory that may not be touched begins.
inline unsigned char* guarded(size_t bytes) {
  const size_t page = 4096, whole = (bytes + page - 1) / page * page;
  unsigned char* memory = static_cast<unsigned char*>(
      mmap(nullptr, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory + whole, page, PROT_NONE);
  return memory + whole - (bytes + 15) / 16 * 16;
}

template <class... A, size_t... I>
void call(void (*kernel)(A...), void** arguments, std::index_sequence<I...>) {
  kernel(*static_cast<A*>(arguments[I])...);
}

template <class... A>
void run(void (*kernel)(A...), void** arguments, int64_t blocks, int threads, int64_t shared) {
  static std::mt19937 lots(1);
  gridDim = {static_cast<unsigned>(blocks), 1, 1};
  blockDim = {static_cast<unsigned>(threads), 1, 1};
  block.body = [=] { call(kernel, arguments, std::index_sequence_for<A...>()); };
  block.shared = guarded(shared);
  for (int64_t i = 0; i < blocks; i++) {
    memset(block.shared, 0xFF, shared);  // no number
    blockIdx = {static_cast<unsigned>(i), 0, 0};
    run_block(threads, lots);
  }
}

}  // namespace emulated

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
