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
  // The last items may be smaller; all together are as much work as a number of whole ones.
  Items(int64_t items, int64_t whole_items)
      : count(items), whole(whole_items), threads(omp_get_max_threads()), ranges(threads) {
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

  const int64_t count, whole;
  const int threads;
  std::vector<Range> ranges;
};

}  // namespace
