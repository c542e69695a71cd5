// How often torch itself looks at the values of a tensor, for which it would wait for a GPU.

#include <ATen/record_function.h>

#include <cstring>
#include <memory>

#include "common/operators.h"

namespace saccade {
namespace {

thread_local int64_t reads = 0;
thread_local at::CallbackHandle listening = at::INVALID_CALLBACK_HANDLE;

// The operators whose result's size, or number, is known only when the values are.
constexpr const char* READING[] = {"aten::_local_scalar_dense", "aten::nonzero",
                                   "aten::masked_select",       "aten::equal",
                                   "aten::_unique2",            "aten::unique_dim"};

std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& function) {
  for (const char* name : READING) reads += std::strcmp(function.name(), name) == 0;
  return nullptr;
}

// Begins or ends to count in this thread. Scripts leave out what changes none of its inputs.
at::Tensor& count_reads(at::Tensor& token, bool on) {
  if (listening != at::INVALID_CALLBACK_HANDLE) at::removeCallback(listening);
  listening = at::INVALID_CALLBACK_HANDLE;
  if (on) {
    reads = 0;
    listening = at::addThreadLocalCallback(
        at::RecordFunctionCallback(count).scopes({at::RecordScope::FUNCTION}));
  }
  return token;
}

// Gives how often since it was asked last.
at::Tensor& counted_reads(at::Tensor& number) {
  number.fill_(reads);
  reads = 0;
  return number;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("count_reads(Tensor(a!) token, bool on) -> Tensor(a!)", count_reads);
  m.def("counted_reads(Tensor(a!) number) -> Tensor(a!)", counted_reads);
}

}  // namespace saccade
