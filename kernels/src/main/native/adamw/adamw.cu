// One step of AdamW for many tensors on a GPU, four numbers a thread.

#include "adamw/adamw_tensors.h"
#include "cuda/tensors.cuh"

namespace {

constexpr int THREADS = 256;

// What all numbers of a tensor share.
struct Factors {
  float scale, decay, mean, square, new_square, root, step, epsilon, average;
};

// Between a and b, nearer to b the larger the weight.
__device__ float lerp(float a, float b, float weight) {
  return weight < 0.5f ? fmaf(weight, b - a, a) : fmaf(weight - 1, b - a, b);
}

// A number of a tensor, and what is known of it.
struct Number {
  float weight, mean, square, average;

  __device__ void update(const Factors& f, float gradient) {
    const float g = gradient * f.scale;
    mean = lerp(mean, g, f.mean);
    square = fmaf(f.new_square * g, g, __fmul_rn(square, f.square));
    weight =
        __fmul_rn(weight, f.decay) + __fmul_rn(f.step, mean) / (sqrtf(square) / f.root + f.epsilon);
    average = lerp(average, weight, f.average);
  }
};

__device__ bool is_aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }

}  // namespace

// Counts the step of every tensor, and works out its factors.
extern "C" __global__ void __launch_bounds__(THREADS)
    adamw_factors(AdamwTensors tensors, double beta1, double beta2, double epsilon, double scale,
                  double average_decay, Factors* factors) {
  const int t = threadIdx.x;
  if (t >= tensors.count) return;
  const AdamwTensor& of = tensors.of[t];
  const double step = *of.step += 1;
  Factors f;
  f.scale = static_cast<float>(scale);
  f.decay = static_cast<float>(1 - of.rate * of.decay);
  f.mean = static_cast<float>(1 - beta1);
  f.square = static_cast<float>(beta2);
  f.new_square = static_cast<float>(1 - beta2);
  f.root = static_cast<float>(sqrt(1 - pow(beta2, step)));
  f.step = static_cast<float>(-(of.rate / (1 - pow(beta1, step))));
  f.epsilon = static_cast<float>(epsilon);
  f.average = static_cast<float>(1 - average_decay);
  factors[t] = f;
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    adamw_step(AdamwTensors tensors, const Factors* factors) {
  const Chunk chunk = chunk_of_block(tensors);
  const AdamwTensor& of = tensors.of[chunk.tensor];
  const Factors f = factors[chunk.tensor];
  const bool has_average = of.average != nullptr;
  float *weight = of.weight + chunk.start, *mean = of.mean + chunk.start,
        *square = of.square + chunk.start;
  float* average = has_average ? of.average + chunk.start : nullptr;
  const float* gradient = of.gradient + chunk.start;
  const bool whole = is_aligned(weight) && is_aligned(mean) && is_aligned(square) &&
                     is_aligned(gradient) && is_aligned(average) &&
                     chunk.count == AdamwTensors::CHUNK;
  if (!whole) {
    for (int i = threadIdx.x; i < chunk.count; i += THREADS) {
      Number x = {weight[i], mean[i], square[i], has_average ? average[i] : 0};
      x.update(f, gradient[i]);
      weight[i] = x.weight;
      mean[i] = x.mean;
      square[i] = x.square;
      if (has_average) average[i] = x.average;
    }
    return;
  }
  auto at = [](float* p) -> float4& { return reinterpret_cast<float4*>(p)[threadIdx.x]; };
  const float4 w = at(weight), m = at(mean), s = at(square),
               g = reinterpret_cast<const float4*>(gradient)[threadIdx.x];
  const float4 e = has_average ? at(average) : float4{0, 0, 0, 0};
  Number x[4] = {
      {w.x, m.x, s.x, e.x}, {w.y, m.y, s.y, e.y}, {w.z, m.z, s.z, e.z}, {w.w, m.w, s.w, e.w}};
  x[0].update(f, g.x);
  x[1].update(f, g.y);
  x[2].update(f, g.z);
  x[3].update(f, g.w);
  at(weight) = {x[0].weight, x[1].weight, x[2].weight, x[3].weight};
  at(mean) = {x[0].mean, x[1].mean, x[2].mean, x[3].mean};
  at(square) = {x[0].square, x[1].square, x[2].square, x[3].square};
  if (has_average) at(average) = {x[0].average, x[1].average, x[2].average, x[3].average};
}
