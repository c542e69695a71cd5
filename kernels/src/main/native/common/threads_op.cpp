// How many OpenMP threads operators use that this thread calls.

#include <ATen/Parallel.h>
#include <omp.h>

#include "common/operators.h"

namespace saccade {
namespace {

// Sets the number for this thread and returns the previous one. at::set_num_threads would also set
// it for threads that have not called libtorch yet. Scripts drop operators that change no input.
at::Tensor& set_threads(at::Tensor& number, int64_t threads) {
  const int previous = at::get_num_threads();
  omp_set_num_threads(static_cast<int>(threads));
  return number.fill_(previous);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("set_threads(Tensor(a!) number, int threads) -> Tensor(a!)", set_threads);
}

}  // namespace saccade
