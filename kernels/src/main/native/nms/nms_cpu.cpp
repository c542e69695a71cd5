// Greedy non-maximum suppression: each box, from the best on, is held against those of its group
// that stay, a few vectors of them at a time.

#include <vector>

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

  int64_t size() const { return count; }

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

// Ascends where scores descend.
uint32_t key(float score) {
  uint32_t bits;
  memcpy(&bits, &score, 4);
  return bits >> 31 ? bits : ~bits & 0x7FFFFFFF;
}

// A box whose score is looked at.
struct Candidate {
  Box box;
  float score;
  int64_t group, position;
};

// The boxes of an image whose scores are looked at, in their order.
std::vector<Candidate> candidates(const saccade_nms& a, int64_t image) {
  const int64_t pairs = a.rows * a.classes;
  const float* scores = a.scores + image * pairs;
  const float* boxes = a.boxes + image * (a.per_class ? pairs : a.rows) * 4;
  std::vector<Candidate> found;
  for (int64_t row = 0; row < a.rows; row++) {
    for (int64_t c = 0; c < a.classes; c++) {
      const int64_t i = row * a.classes + c;
      if (!(scores[i] > a.score_threshold)) continue;
      const float* b = boxes + 4 * (a.per_class ? i : row);
      found.push_back({{b[0], b[1], b[2], b[3]}, scores[i], a.groups[row] * a.classes + c, i});
    }
  }
  return found;
}

void suppress(const saccade_nms& a, int64_t image) {
  const std::vector<Candidate> all = candidates(a, image);
  const int64_t n = static_cast<int64_t>(all.size());
  if (n == 0) return;
  float least = 0, most = 0;
  Buffer<uint32_t> keys(n);
  Buffer<int32_t> order(n), members(n);
  for (int64_t i = 0; i < n; i++) {
    const Box& b = all[i].box;
    for (float x : {b.x1, b.y1, b.x2, b.y2}) {
      if (x < least || x != x) least = x;
      if (x > most || x != x) most = x;
    }
    keys[i] = key(all[i].score);
    order[i] = static_cast<int32_t>(i);
  }
  sort(keys, n, order);
  std::copy<int32_t*, int32_t*>(order, order + n, members);

  // Where no coordinate is far below 0, groups that are moved apart cannot touch.
  Buffer<int64_t> starts(n + 1);
  int64_t parts = 1, largest = n;
  if (least > -1) {
    for (int64_t i = 0; i < n; i++) keys[i] = static_cast<uint32_t>(all[i].group);
    sort(keys, n, members);
    parts = largest = 0;
    for (int64_t k = 1; k <= n; k++) {
      if (k == n || keys[members[k]] != keys[members[k - 1]]) {
        starts[++parts] = k;
        largest = std::max(largest, k - starts[parts - 1]);
      }
    }
  } else {
    starts[1] = n;
  }

  Buffer<bool> stays(n), stay(n);
#pragma omp parallel if (parts > 1)
  {
    Kept kept(largest);
#pragma omp for schedule(dynamic)
    for (int64_t part = 0; part < parts; part++) {
      kept.clear();
      for (int64_t k = starts[part]; k < starts[part + 1]; k++) {
        const Candidate& c = all[members[k]];
        const float away = rounded(static_cast<float>(c.group) * (most + 1));
        const Box box = {c.box.x1 + away, c.box.y1 + away, c.box.x2 + away, c.box.y2 + away};
        // Those behind the most that stay of a group are behind the most of all.
        stays[k] = kept.size() < a.max && !kept.overlap(box, a.iou_threshold);
        if (stays[k]) kept.add(box);
      }
    }
  }
  for (int64_t k = 0; k < n; k++) stay[members[k]] = stays[k];
  int64_t* keep = a.keep + image * a.max;
  int64_t& count = a.counts[image];
  for (int64_t k = 0; k < n && count < a.max; k++) {
    if (stay[order[k]]) keep[count++] = all[order[k]].position;
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(nms_forward)(const saccade_nms* a) {
  if (!saccade_nms_is_sound(a)) return -1;
  const bool inside = std::all_of(a->groups, a->groups + a->rows, [&](int64_t g) {
    return g >= 0 && g <= INT32_MAX / a->classes - 1;
  });
  for (int64_t image = 0; image < a->images; image++) {
    a->counts[image] = inside ? 0 : -1;
    if (inside) suppress(*a, image);
  }
  return 0;
}
