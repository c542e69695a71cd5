// Work items of a parallel region. Each thread takes those of its own range first: their inputs are
// likely in its cache, because the operator before shared its results in the same way.
#pragma once

#include <omp.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace {

class Items {
 public:
  // Items are blocks of pixels or tiles, each in some parts. The last block may be smaller.
  Items(int64_t size, int64_t block, int64_t parts)
      : count((size + block - 1) / block * parts),
        whole(count > parts ? size * parts / block : count),
        threads(omp_get_max_threads()),
        ranges(threads) {
    for (int r = 0; r < threads; r++) ranges[r].next = start(r);
  }

  // Calls f with items until none is left; every thread of the region calls this.
  template <class F>
  void run(F f) {
    for (int k = 0; k < threads; k++) {
      const int r = (omp_get_thread_num() + k) % threads;
      const int64_t end = start(r + 1);
      for (int64_t i; (i = ranges[r].next.fetch_add(1, std::memory_order_relaxed)) < end;) f(i);
    }
  }

 private:
  struct alignas(64) Range {
    std::atomic<int64_t> next;
  };

  int64_t start(int range) const { return range == threads ? count : range * whole / threads; }

  const int64_t count, whole;  // all items, and as how many whole ones they count
  const int threads;
  std::vector<Range> ranges;
};

}  // namespace
