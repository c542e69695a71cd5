// One step of AdamW for many tensors, with the roundings of PyTorch.

#include "adamw/adamw.h"
#include "common/blocks.h"

namespace {

// What all numbers of a tensor share.
struct Factors {
  float scale, decay, mean, square, new_square, root, step, epsilon, average;
};

Factors factors(const saccade_adamw& a, int64_t t) {
  const double step = *a.step[t] += 1;
  Factors f;
  f.scale = static_cast<float>(a.scale);
  f.decay = static_cast<float>(1 - a.rate[t] * a.decay[t]);
  f.mean = static_cast<float>(1 - a.beta1);
  f.square = static_cast<float>(a.beta2);
  f.new_square = static_cast<float>(1 - a.beta2);
  f.root = static_cast<float>(std::sqrt(1 - std::pow(a.beta2, step)));
  f.step = static_cast<float>(-(a.rate[t] / (1 - std::pow(a.beta1, step))));
  f.epsilon = static_cast<float>(a.epsilon);
  f.average = static_cast<float>(1 - a.average_decay);
  return f;
}

// Between a and b, nearer to b the larger the weight.
inline float lerp(float a, float b, float weight) {
  return weight < 0.5f ? std::fma(weight, b - a, a) : std::fma(weight - 1, b - a, b);
}

// What is not written as a fused product is not to be one.
__attribute__((optimize("fp-contract=off"))) void update(const Factors& given, int64_t count,
                                                         float* __restrict weight,
                                                         const float* __restrict gradient,
                                                         float* __restrict mean,
                                                         float* __restrict square) {
  const Factors f = given;
  for (int64_t i = 0; i < count; i++) {
    const float g = gradient[i] * f.scale;
    const float m = lerp(mean[i], g, f.mean);
    const float s = std::fma(f.new_square * g, g, square[i] * f.square);
    mean[i] = m;
    square[i] = s;
    weight[i] = weight[i] * f.decay + f.step * m / (std::sqrt(s) / f.root + f.epsilon);
  }
}

void update_average(float share, int64_t count, float* __restrict average,
                    const float* __restrict weight) {
  for (int64_t i = 0; i < count; i++) average[i] = lerp(average[i], weight[i], share);
}

void step(const saccade_adamw& a) {
  std::vector<Factors> of_tensor;
  for (int64_t t = 0; t < a.tensors; t++) of_tensor.push_back(factors(a, t));
  const std::vector<Block> blocks = cut(a.tensors, a.size);
  const int64_t count = blocks.size();
#pragma omp parallel for schedule(dynamic)
  for (int64_t b = 0; b < count; b++) {
    const auto [t, start, numbers] = blocks[b];
    float* weight = a.weight[t] + start;
    update(of_tensor[t], numbers, weight, a.gradient[t] + start, a.mean[t] + start,
           a.square[t] + start);
    if (a.average != nullptr)
      update_average(of_tensor[t].average, numbers, a.average[t] + start, weight);
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(adamw_step)(const saccade_adamw* a) {
  if (!saccade_adamw_is_sound(a)) return -1;
  step(*a);
  return 0;
}
