// Lets the ranks of a group sum and gather what lies on GPUs, by NCCL. A library of its own, which
// nothing but libtorch for CUDA can load.

#define USE_C10D_NCCL
#include <torch/csrc/cuda/nccl.h>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/library.h>

#include <cstdlib>

namespace saccade {
namespace {

// Adds NCCL to a group that carries what lies on processors; all ranks do so at the same time.
at::Tensor& add_nccl(at::Tensor& token, const std::string& name, const std::string& host,
                     int64_t port, double seconds) {
  // Whoever waits is to be told in time that another rank is gone, by an error that can be caught;
  // by default NCCL's watchdog ends the process.
  setenv("TORCH_NCCL_BLOCKING_WAIT", "1", 0);
  const auto timeout = std::chrono::milliseconds(static_cast<int64_t>(1000 * seconds));
  const auto group = c10d::resolve_process_group(name);
  c10d::TCPStoreOptions at;
  at.port = static_cast<uint16_t>(port);
  at.waitWorkers = false;
  at.timeout = timeout;
  c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::TCPStore>(host, at);
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  auto backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(
      c10::make_intrusive<c10d::PrefixStore>("nccl", store), group->getRank(), group->getSize(),
      options);
  group->setBackend(c10::DeviceType::CUDA, c10d::ProcessGroup::BackendType::NCCL,
                    c10::intrusive_ptr<c10d::Backend>(backend));
  return token;
}

// 22602 is 2.26.2.
int64_t version() {
  const uint64_t parts = torch::cuda::nccl::version();
  return static_cast<int64_t>((parts >> 32) * 10000 + (parts >> 16 & 0xffff) * 100 +
                              (parts & 0xffff));
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "add_nccl(Tensor(a!) token, str name, str host, int port, float seconds) -> Tensor(a!)",
      add_nccl);
  m.def("nccl_version() -> int", version);
}

}  // namespace saccade
