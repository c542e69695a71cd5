// Norms of many tensors. Squares are added up block by block: the order of sums does not depend on
// the number of threads.

#include "common/blocks.h"
#include "norms/norms.h"

namespace {

constexpr int64_t RUN = 1 << 10;  // numbers added up as floats
constexpr int TOGETHER = 4;

double squares(const float* x, int64_t count) {
  double total = 0;
  for (int64_t start = 0; start < count; start += RUN) {
    const int64_t known = std::min(RUN, count - start);
    Vec<float> sums[TOGETHER] = {};
    by_vectors<float, TOGETHER>(known, [&](auto vectors, auto whole, int64_t i) {
      for (int k = 0; k < vectors; k++) {
        const int64_t at = i + k * LANES<float>;
        const Vec<float> v = take<whole()>(x + start + at, known - at);
        sums[k] += v * v;
      }
    });
    total += sum<float>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
  return total;
}

void norms(const saccade_norms& a) {
  const std::vector<Block> blocks = cut(a.tensors, a.size);
  const int64_t count = blocks.size();
  std::vector<double> found(count);
#pragma omp parallel for schedule(dynamic)
  for (int64_t b = 0; b < count; b++) {
    found[b] = squares(a.values[blocks[b].tensor] + blocks[b].start, blocks[b].count);
  }
  std::vector<double> of_tensor(a.tensors);
  double all = 0;
  for (int64_t b = 0; b < count; b++) of_tensor[blocks[b].tensor] += found[b];
  for (int64_t t = 0; t < a.tensors; t++) {
    all += of_tensor[t];
    a.out[1 + t] = static_cast<float>(std::sqrt(of_tensor[t]));
  }
  a.out[0] = static_cast<float>(std::sqrt(all));
}

}  // namespace

extern "C" int SACCADE_KERNEL(norms_forward)(const saccade_norms* a) {
  if (!saccade_norms_is_sound(a)) return -1;
  norms(*a);
  return 0;
}
