// What the processor can do at best: multiply-adds held in registers, and copies of long arrays.

#include <chrono>

#include "common/simd.h"

namespace {

constexpr int CHAINS = 12;  // independent sums, enough to hide the latency of one
constexpr int64_t ROUNDS = 2000000;
constexpr int64_t COPIED = 64 << 20;
constexpr int REPEATS = 5;

template <class F>
double least_seconds(F body) {
  double least = 1e30;
  for (int i = 0; i < REPEATS; i++) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    least = std::min(least, taken.count());
  }
  return least;
}

double multiply_adds() {
  double lanes = 0;
  const double seconds = least_seconds([&] {
    lanes = 0;
#pragma omp parallel reduction(+ : lanes)
    {
      Vec<float> sums[CHAINS];
      for (int i = 0; i < CHAINS; i++) sums[i] = broadcast(0.1f * i);
      volatile float one = 0.999f, little = 0.001f;
      const Vec<float> x = broadcast<float>(one), y = broadcast<float>(little);
      for (int64_t round = 0; round < ROUNDS; round++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) sums[i] = sums[i] * x + y;
      }
      // As if somebody read them: without, nothing would be computed.
      for (int i = 0; i < CHAINS; i++) asm volatile("" : : SACCADE_VECTOR_REGISTER(sums[i]));
      lanes += LANES<float>;
    }
  });
  return 2 * lanes * CHAINS * ROUNDS / seconds;
}

double bytes_moved() {
  Buffer<float> from(COPIED / 4), to(COPIED / 4);
  constexpr int64_t BLOCK = 1 << 20;
  const double seconds = least_seconds([&] {
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < COPIED / 4; start += BLOCK / 4) {
      memcpy(to + start, from + start, BLOCK);
    }
  });
  return 2.0 * COPIED / seconds;
}

}  // namespace

extern "C" int SACCADE_KERNEL(ceilings)(saccade_ceilings_result* result) {
  result->operations = multiply_adds();
  result->bytes = bytes_moved();
  return 0;
}
