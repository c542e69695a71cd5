// Threads compute keys, which have the order of the best logits. A histogram of their upper bits
// tells which rows may be among the best; only these are sorted.

#include <limits>
#include <vector>

#include "common/simd.h"
#include "top_anchors/top_anchors.h"

namespace {

constexpr int L = LANES<float>;
constexpr int SHIFT = 20;  // bits of a key below those of the histogram
constexpr int BINS = 1 << (32 - SHIFT);

typedef int32_t Ints __attribute__((vector_size(SACCADE_VECTOR_BYTES)));

constexpr int32_t NOT_A_NUMBER = std::numeric_limits<int32_t>::max();

// As an integer, has the order of the number; NaN is the largest.
inline int32_t key(float x) {
  int32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return x != x ? NOT_A_NUMBER : bits ^ (bits >> 31 & NOT_A_NUMBER);
}

inline Ints keys(Vec<float> x) {
  const Ints bits = reinterpret_cast<Ints>(x);
  return x != x ? Ints{} + NOT_A_NUMBER : bits ^ (bits >> 31 & NOT_A_NUMBER);
}

// Returns the largest key of a row.
template <class S>
int32_t best(const S* row, int64_t count) {
  int32_t most = std::numeric_limits<int32_t>::min();
  int64_t c = 0;
  if (count >= L) {
    Ints all = Ints{} + most;
    for (; c + L <= count; c += L) {
      const Ints some = keys(take<true>(row + c, L));
      all = some > all ? some : all;
    }
    for (int i = 0; i < L; i++) most = std::max(most, all[i]);
  }
  for (; c < count; c++) most = std::max(most, key(widen(row[c])));
  return most;
}

inline int64_t bin(int32_t key) { return (static_cast<int64_t>(key) >> SHIFT) + BINS / 2; }

// Returns the positions of the largest keys in their order.
std::vector<int32_t> largest_keys(const int32_t* keys, int64_t count, int64_t most) {
  std::vector<int32_t> histogram(BINS);
  for (int64_t i = 0; i < count; i++) histogram[bin(keys[i])]++;
  int64_t last = BINS - 1;
  for (int64_t above = histogram[last]; above < most && last > 0; above += histogram[last]) last--;
  // Of equal keys, the first comes first.
  std::vector<uint64_t> found;
  for (int64_t i = 0; i < count; i++) {
    if (bin(keys[i]) < last) continue;
    found.push_back(static_cast<uint64_t>(NOT_A_NUMBER - static_cast<int64_t>(keys[i])) << 32 | i);
  }
  if (static_cast<int64_t>(found.size()) > most) {
    std::nth_element(found.begin(), found.begin() + most, found.end());
  }
  std::sort(found.begin(), found.begin() + most);
  return std::vector<int32_t>(found.begin(), found.begin() + most);
}

// The sigmoid of numbers, in the same way at every place of a row.
void to_sigmoid(float* x, int64_t count) {
  by_vectors<float, 1>(count, [&](auto, auto whole, int64_t c) {
    const Vec<float> v = take<whole>(x + c, count - c), zero = {};
    const Vec<float> power = exponential(v > zero ? -v : v);
    const Vec<float> up = v > zero ? zero + 1.f : power;
    put<whole>(up / (power + 1.f), x + c, count - c);
  });
}

template <class S>
void select(const saccade_top_anchors& a) {
  const int64_t count = a.h * a.w * a.anchors;
  const Buffer<int32_t> keys(count, Unset());
  for (int64_t image = 0; image < a.n; image++) {
    const S* logits = static_cast<const S*>(a.logits) + image * count * a.classes;
    const S* deltas = static_cast<const S*>(a.deltas) + image * count * 4;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) keys[i] = best(logits + i * a.classes, a.classes);
    const std::vector<int32_t> top = largest_keys(keys, count, a.most);
    for (int64_t k = 0; k < a.most; k++) {
      const int64_t i = top[k], to = image * a.rows + a.first + k;
      widen(logits + i * a.classes, a.top_scores + to * a.classes, a.classes);
      to_sigmoid(a.top_scores + to * a.classes, a.classes);
      widen(deltas + i * 4, a.top_deltas + to * 4, 4);
      const int64_t cell = i / a.anchors;
      const float x = static_cast<float>(cell % a.w * a.stride);
      const float y = static_cast<float>(cell / a.w * a.stride);
      const float* corners = a.corners + i % a.anchors * 4;
      for (int c = 0; c < 4; c++) {
        a.top_anchors[to * 4 + c] = corners[c] + (c % 2 == 0 ? x : y);
      }
    }
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(top_anchors_forward)(const saccade_top_anchors* a) {
  if (!saccade_top_anchors_is_sound(a)) return -1;
  a->type == SACCADE_FLOAT ? select<float>(*a) : select<BFloat16>(*a);
  return 0;
}
