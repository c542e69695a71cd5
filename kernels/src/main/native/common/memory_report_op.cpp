// What tensors hold on GPUs, told by the allocator that hands out their memory.
//
// libtorch's allocator for CUDA can only be asked with CUDA's headers; but it reports all that it
// does to whoever listens in a thread, as PyTorch's profiler does.

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include "common/operators.h"

namespace saccade {
namespace {

constexpr size_t MOST_GPUS = 64;

struct Use {
  int64_t alive = 0;     // bytes of tensors
  int64_t peak = 0;      // the most of them so far
  int64_t reserved = 0;  // what the allocator has of the GPU
  int64_t refused = 0;   // the last request that it could not serve
};

class Listener final : public c10::MemoryReportingInfoBase {
 public:
  bool memoryProfilingEnabled() const override { return true; }

  void reportMemoryUsage(void*, int64_t, size_t allocated, size_t reserved,
                         c10::Device device) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    Use* const use = find(device);
    if (use == nullptr) return;
    use->alive = static_cast<int64_t>(allocated);
    use->peak = std::max(use->peak, use->alive);
    use->reserved = static_cast<int64_t>(reserved);
  }

  void reportOutOfMemory(int64_t bytes, size_t allocated, size_t reserved,
                         c10::Device device) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    Use* const use = find(device);
    if (use == nullptr) return;
    use->refused = bytes;
    use->alive = static_cast<int64_t>(allocated);
    use->reserved = static_cast<int64_t>(reserved);
  }

  Use use(int64_t gpu, bool restart) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Use& use = uses_.at(static_cast<size_t>(gpu));
    if (restart) {
      use.peak = use.alive;
      use.refused = 0;
    }
    return use;
  }

 private:
  Use* find(c10::Device device) {
    const auto index = static_cast<size_t>(device.index());
    return device.is_cuda() && index < MOST_GPUS ? &uses_[index] : nullptr;
  }

  std::mutex mutex_;
  std::array<Use, MOST_GPUS> uses_ = {};
};

const std::shared_ptr<Listener>& listener() {
  // Threads may outlive all static objects.
  static auto* const one = new std::shared_ptr<Listener>(std::make_shared<Listener>());
  return *one;
}

// Listens from now on to what this thread, and gradients that it asks for, take on GPUs, unless
// somebody else listens. Returns whether it did before: asked again, whether it does.
int64_t follow_memory() {
  const auto kind = c10::DebugInfoKind::PROFILER_STATE;
  const c10::DebugInfoBase* const listening = c10::ThreadLocalDebugInfo::get(kind);
  if (listening == nullptr) c10::ThreadLocalDebugInfo::_push(kind, listener());
  return listening == listener().get();
}

// What tensors hold on a GPU, [4]: bytes now, the most so far, what the allocator has of the GPU,
// and the last request that it refused. The most and the last are forgotten afterwards on request.
at::Tensor gpu_memory(int64_t gpu, bool restart) {
  const Use use = listener()->use(gpu, restart);
  return at::tensor({use.alive, use.peak, use.reserved, use.refused}, at::kLong);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("follow_memory() -> int", follow_memory);
  m.def("gpu_memory(int gpu, bool restart) -> Tensor", gpu_memory);
}

}  // namespace saccade
