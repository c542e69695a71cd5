// Norms of many tensors on a GPU.

#include "cuda/tensors_cuda.h"
#include "norms/norms.h"
#include "norms/norms_tensors.h"

using namespace saccade::cuda;

extern "C" int saccade_norms_forward_cuda(const saccade_norms* arguments,
                                          const saccade_cuda* cuda) {
  const saccade_norms& a = *arguments;
  if (!saccade_norms_is_sound(&a)) return -1;
  double* squares =
      static_cast<double*>(cuda->allocate(cuda->context, (a.tensors + 1) * sizeof(double)));
  if (squares == nullptr) return -1;
  auto describe = [&](int64_t t) { return NormTensor{a.values[t]}; };
  auto run = [&](const NormTensors& tensors, int64_t first, int blocks) {
    void* found = cuda->allocate(cuda->context, (blocks + 1) * sizeof(double));
    if (found == nullptr) return -1;
    const int status =
        launch(*cuda, {"norms/norms.cu", "norms_blocks", ""}, {blocks, 256}, tensors, found);
    return status != 0
               ? status
               : launch(*cuda, {"norms/norms.cu", "norms_tensors", ""}, {tensors.count, 256},
                        tensors, found, squares + first, a.out + 1 + first);
  };
  const int status = each_launch<NormTensors>(a.tensors, a.size, describe, run);
  return status != 0 ? status
                     : launch(*cuda, {"norms/norms.cu", "norms_all", ""}, {1, 256}, squares,
                              static_cast<int>(a.tensors), a.out);
}
