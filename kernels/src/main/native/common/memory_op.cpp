// Memory of large tensors, kept when they die for those that follow.
//
// The system hands out memory a page at a time, each cleared, when it is first touched: much of the
// time of a step, where every tensor is new memory. Here tensors share one range of addresses whose
// pages stay. It is given back above the most that was ever alive at a time, and something to
// spare.

#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unordered_map>

#include "common/operators.h"

namespace saccade {
namespace {

// Smaller tensors are left to the C library, which keeps them itself.
constexpr size_t LARGE = size_t{1} << 16;
constexpr size_t PAGE = size_t{1} << 12;
constexpr size_t SPARE = size_t{64} << 20;

class Range {
 public:
  Range() {
    size_ = 2 * static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
            static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* start = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
      size_ = 0;
      return;
    }
    start_ = static_cast<char*>(start);
    free_.emplace(0, size_);
  }

  bool exists() const { return size_ > 0; }

  // Returns null where there is no room.
  void* take(size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const size_t size = (bytes + PAGE - 1) / PAGE * PAGE;
    const auto gap = smallest(size);
    if (gap == free_.end()) return nullptr;
    const auto [at, room] = *gap;
    free_.erase(gap);
    if (room > size) free_.emplace(at + size, room - size);
    taken_.emplace(at, size);
    touched_ = std::max(touched_, at + size);
    alive_ += size;
    most_ = std::max(most_, alive_);
    peak_ = std::max(peak_, alive_);
    return start_ + at;
  }

  // Returns whether the memory was of this range.
  bool give(void* memory) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = taken_.find(static_cast<size_t>(static_cast<char*>(memory) - start_));
    if (found == taken_.end()) return false;
    size_t at = found->first, size = found->second;
    taken_.erase(found);
    alive_ -= size;
    auto next = free_.lower_bound(at);
    if (next != free_.end() && next->first == at + size) {
      size += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == at) {
        at = before->first;
        size += before->second;
        free_.erase(before);
      }
    }
    free_.emplace(at, size);
    if (at + size == size_) trim(at);
    return true;
  }

  // Bytes that are taken now, and the most so far, or since the peak was last asked for anew.
  std::pair<size_t, size_t> use(bool restart) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::pair<size_t, size_t> use(alive_, peak_);
    if (restart) peak_ = alive_;
    return use;
  }

 private:
  // The smallest gap that is large enough, of equal ones the first; the last one of all has no end.
  std::map<size_t, size_t>::iterator smallest(size_t size) {
    auto best = free_.end();
    for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
      if (gap->second >= size && (best == free_.end() || gap->second < best->second)) best = gap;
    }
    return best;
  }

  // Gives back what was touched behind the last that is taken.
  void trim(size_t taken) {
    const size_t keep = std::max(taken, most_ + SPARE);
    if (touched_ <= keep) return;
    madvise(start_ + keep, touched_ - keep, MADV_DONTNEED);
    touched_ = keep;
  }

  std::mutex mutex_;
  char* start_ = nullptr;
  size_t size_ = 0;
  std::map<size_t, size_t> free_;             // gaps: where, and how large
  std::unordered_map<size_t, size_t> taken_;  // the same of what is taken
  size_t touched_ = 0, alive_ = 0, most_ = 0, peak_ = 0;
};

Range& range() {
  // Tensors may outlive all static objects.
  static auto* one = new Range();
  return *one;
}

void give(void* memory) {
  if (!range().give(memory)) c10::GetDefaultCPUAllocator()->raw_deleter()(memory);
}

class Keeping final : public c10::Allocator {
 public:
  at::DataPtr allocate(size_t bytes) override {
    void* memory = bytes < LARGE ? nullptr : range().take(bytes);
    if (memory == nullptr) return c10::GetDefaultCPUAllocator()->allocate(bytes);
    return {memory, memory, &give, at::Device(at::kCPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &give; }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

// How many forms of its operators oneDNN keeps, one for each shape, where the user does not say. It
// would keep 1,024, which with images of ever other sizes are hundreds of megabytes.
constexpr const char* KEPT_FORMS = "256";

// Keeps the memory of tensors from now on. Returns from how many bytes, or 0 where the system does
// not let it; scripts leave out what has no result.
int64_t keep_memory() {
  setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", KEPT_FORMS, /*replace=*/0);
  if (!range().exists()) return 0;
  static auto* keeping = new Keeping();
  c10::SetCPUAllocator(keeping, /*priority=*/1);
  return LARGE;
}

// What large tensors hold, [2]: bytes now, and the most so far, which is counted anew on request.
at::Tensor processor_memory(bool restart) {
  const auto [alive, peak] = range().use(restart);
  return at::tensor({static_cast<int64_t>(alive), static_cast<int64_t>(peak)}, at::kLong);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("keep_memory() -> int", keep_memory);
  m.def("processor_memory(bool restart) -> Tensor", processor_memory);
}

}  // namespace saccade
