// Greedy non-maximum suppression: each box, from the best on, is held against those of its group
// that stay, a few vectors of them at a time.

#include "common/simd.h"
#include "nms/nms.h"

namespace {

constexpr int L = LANES<float>;
constexpr int TOGETHER =
    4 * L;  // boxes that one is held against before it is asked whether it goes

struct Box {
  float x1, y1, x2, y2;

  float area() const { return (x2 - x1) * (y2 - y1); }
};

// Boxes that stay, coordinate by coordinate.
class Kept {
 public:
  explicit Kept(int64_t most)
      : room(ceil_div(most, TOGETHER) * TOGETHER),
        x1(room),
        y1(room),
        x2(room),
        y2(room),
        areas(room) {}

  void clear() { count = 0; }

  void add(const Box& box) {
    if (count % TOGETHER == 0) {
      // Behind the last box are some that overlap none.
      std::fill(x1 + count, x1 + count + TOGETHER, INFINITY);
      std::fill(x2 + count, x2 + count + TOGETHER, -INFINITY);
    }
    x1[count] = box.x1;
    y1[count] = box.y1;
    x2[count] = box.x2;
    y2[count] = box.y2;
    areas[count++] = box.area();
  }

  // Whether the IoU of a box with one of these exceeds a threshold. Products are rounded before
  // they are added up, because that decides close cases.
  bool overlap(const Box& box, float threshold) const {
    const Vec<float> zero = {};
    const Vec<float> left = broadcast(box.x1), top = broadcast(box.y1), right = broadcast(box.x2),
                     bottom = broadcast(box.y2), area = broadcast(box.area());
    for (int64_t i = 0; i < count; i += TOGETHER) {
      Vec<float> excess = zero;
#pragma GCC unroll 4
      for (int64_t j = i; j < i + TOGETHER; j += L) {
        Vec<float> w = min<float>(load(x2 + j), right) - max<float>(load(x1 + j), left);
        Vec<float> h = min<float>(load(y2 + j), bottom) - max<float>(load(y1 + j), top);
        Vec<float> shared = rounded(max<float>(w, zero) * max<float>(h, zero));
        // What is no number exceeds nothing.
        Vec<float> allowed = max<float>(zero, threshold * (load(areas + j) + area - shared));
        excess = max<float>(shared - allowed, excess);
      }
      if (largest<float>(excess) > 0) return true;
    }
    return false;
  }

 private:
  int64_t count = 0;
  const int64_t room;
  const Buffer<float> x1, y1, x2, y2, areas;
};

// Sorts positions by their keys, the least first; equal ones stay in their order.
void sort(const uint32_t* keys, int64_t n, int32_t* order) {
  Buffer<int32_t> spare(n);
  int32_t *from = order, *to = spare;
  for (int shift = 0; shift < 32; shift += 8) {
    int64_t starts[257] = {};
    for (int64_t i = 0; i < n; i++) starts[(keys[i] >> shift & 255) + 1]++;
    if (starts[(keys[0] >> shift & 255) + 1] == n) continue;
    for (int d = 0; d < 256; d++) starts[d + 1] += starts[d];
    for (int64_t i = 0; i < n; i++) to[starts[keys[from[i]] >> shift & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != order) std::copy(from, from + n, order);
}

// Ascends where scores descend; what is no number comes first.
uint32_t key(float score) {
  uint32_t bits;
  memcpy(&bits, &score, 4);
  if (score != score) bits = 0x7FC00000;
  return bits >> 31 ? bits : ~bits & 0x7FFFFFFF;
}

void suppress(const saccade_nms& a) {
  float least = 0, most = 0;
  for (int64_t i = 0; i < 4 * a.n; i++) {
    const float x = a.boxes[i];
    if (x < least || x != x) least = x;
    if (x > most || x != x) most = x;
  }
  Buffer<uint32_t> keys(a.n);
  Buffer<int32_t> order(a.n), members(a.n);
  for (int64_t i = 0; i < a.n; i++) {
    keys[i] = key(a.scores[i]);
    order[i] = static_cast<int32_t>(i);
  }
  sort(keys, a.n, order);
  std::copy<int32_t*, int32_t*>(order, order + a.n, members);

  // Where no coordinate is far below 0, groups that are moved apart cannot touch.
  Buffer<int64_t> starts(a.n + 1);
  int64_t parts = 1, largest = a.n;
  if (least > -1) {
    for (int64_t i = 0; i < a.n; i++) keys[i] = static_cast<uint32_t>(a.groups[i]);
    sort(keys, a.n, members);
    parts = largest = 0;
    for (int64_t k = 1; k <= a.n; k++) {
      if (k == a.n || keys[members[k]] != keys[members[k - 1]]) {
        starts[++parts] = k;
        largest = std::max(largest, k - starts[parts - 1]);
      }
    }
  } else {
    starts[1] = a.n;
  }

  Buffer<bool> stays(a.n), stay(a.n);
#pragma omp parallel if (parts > 1)
  {
    Kept kept(largest);
#pragma omp for schedule(dynamic)
    for (int64_t part = 0; part < parts; part++) {
      kept.clear();
      for (int64_t k = starts[part]; k < starts[part + 1]; k++) {
        const float* b = a.boxes + 4 * members[k];
        const float away = rounded(static_cast<float>(a.groups[members[k]]) * (most + 1));
        const Box box = {b[0] + away, b[1] + away, b[2] + away, b[3] + away};
        stays[k] = !kept.overlap(box, a.iou_threshold);
        if (stays[k]) kept.add(box);
      }
    }
  }
  for (int64_t k = 0; k < a.n; k++) stay[members[k]] = stays[k];
  for (int64_t k = 0; k < a.n; k++) {
    if (stay[order[k]]) a.keep[(*a.kept)++] = order[k];
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(nms_forward)(const saccade_nms* a) {
  if (!saccade_nms_is_sound(a)) return -1;
  const bool inside =
      std::all_of(a->groups, a->groups + a->n, [](int64_t g) { return g >= 0 && g <= INT32_MAX; });
  *a->kept = inside ? 0 : -1;
  if (inside && a->n > 0) suppress(*a);
  return 0;
}
