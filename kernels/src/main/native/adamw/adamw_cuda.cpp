// One step of AdamW for many tensors on a GPU.

#include "adamw/adamw.h"
#include "adamw/adamw_tensors.h"
#include "cuda/tensors_cuda.h"

using namespace saccade::cuda;

extern "C" int saccade_adamw_step_cuda(const saccade_adamw* arguments, const saccade_cuda* cuda) {
  const saccade_adamw& a = *arguments;
  if (!saccade_adamw_is_sound(&a)) return -1;
  auto describe = [&](int64_t t) {
    AdamwTensor tensor = {};
    tensor.weight = a.weight[t];
    tensor.gradient = a.gradient[t];
    tensor.mean = a.mean[t];
    tensor.square = a.square[t];
    tensor.average = a.average == nullptr ? nullptr : a.average[t];
    tensor.step = a.step[t];
    tensor.rate = a.rate[t];
    tensor.decay = a.decay[t];
    return tensor;
  };
  return each_launch<AdamwTensors>(
      a.tensors, a.size, describe, [&](const AdamwTensors& tensors, int64_t, int blocks) {
        void* factors = cuda->allocate(cuda->context, AdamwTensors::MOST * 9 * sizeof(float));
        if (factors == nullptr) return -1;
        const int status = launch(*cuda, {"adamw/adamw.cu", "adamw_factors", ""}, {1, 256}, tensors,
                                  a.beta1, a.beta2, a.epsilon, a.scale, a.average_decay, factors);
        return status != 0 ? status
                           : launch(*cuda, {"adamw/adamw.cu", "adamw_step", ""}, {blocks, 256},
                                    tensors, factors);
      });
}
