// The threads of a block as fibers on a processor: each goes on until it waits for others.
#pragma once

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

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

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
