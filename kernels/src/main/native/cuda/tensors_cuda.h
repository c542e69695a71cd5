// Lists of tensors cut into launches.
#pragma once

#include <algorithm>

#include "cuda/cuda.h"
#include "cuda/tensors.h"

namespace saccade::cuda {

// Calls f(tensors, first, blocks) for as many tensors at a time as fit, with the number of the
// first and that of their blocks, until it returns anything but 0; describe(t) tells what is known
// of a tensor.
template <class List, class Describe, class F>
int each_launch(int64_t tensors, const int64_t* size, Describe describe, F f) {
  int status = 0;
  for (int64_t first = 0; first < tensors && status == 0; first += List::MOST) {
    List list = {};
    list.count = static_cast<int>(std::min<int64_t>(List::MOST, tensors - first));
    for (int t = 0; t < list.count; t++) {
      list.of[t] = describe(first + t);
      list.size[t] = size[first + t];
      list.first[t + 1] = list.first[t] + static_cast<int>(ceil_div(list.size[t], List::CHUNK));
    }
    status = f(list, first, list.first[list.count]);
  }
  return status;
}

}  // namespace saccade::cuda
