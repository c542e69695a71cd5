// Which object each box should learn, by IoU. Boxes are taken in blocks of neighbors in the list:
// most anchors are far from a given object, and so are those beside them.

#include <vector>

#include "common/simd.h"
#include "max_iou_assign/max_iou_assign.h"

namespace {

constexpr int64_t BLOCK = 64;
constexpr int L = LANES<float>;
typedef int32_t Ints __attribute__((vector_size(SACCADE_VECTOR_BYTES)));

struct Box {
  float x1, y1, x2, y2;

  explicit Box(const float* b) : x1(b[0]), y1(b[1]), x2(b[2]), y2(b[3]) {}
  float area() const { return rounded((x2 - x1) * (y2 - y1)); }
};

// Some boxes side by side, coordinate by coordinate; those behind the last touch nothing.
class Block {
 public:
  Block(const saccade_max_iou_assign& a, int64_t block)
      : first(block * BLOCK), count(std::min(BLOCK, a.n - first)) {
    for (int64_t i = 0; i < BLOCK; i++) {
      const float* b = a.boxes + 4 * (first + i);
      const bool there = i < count;
      x1[i] = there ? b[0] : INFINITY;
      y1[i] = there ? b[1] : INFINITY;
      x2[i] = there ? b[2] : -INFINITY;
      y2[i] = there ? b[3] : -INFINITY;
      areas[i] = there ? Box(b).area() : 0;
      looked[i] = there && !(a.skip && a.skip[first + i]) ? -1 : 0;
    }
    for (int64_t i = 0; i < count; i++) {
      left = lesser(left, x1[i]);
      top = lesser(top, y1[i]);
      right = greater(right, x2[i]);
      bottom = greater(bottom, y2[i]);
    }
  }

  // Whether a box of the block may share area with another; written so that what is no number is
  // looked at.
  bool may_touch(const Box& o) const {
    return !(left >= o.x2 || top >= o.y2 || right <= o.x1 || bottom <= o.y1);
  }

  // The IoU of boxes from i on with another.
  Vec<float> iou(int64_t i, const Box& o, float area) const {
    const Vec<float> zero = {};
    const Vec<float> ox1 = broadcast(o.x1), oy1 = broadcast(o.y1), ox2 = broadcast(o.x2),
                     oy2 = broadcast(o.y2), least = broadcast(1e-6f);
    const Vec<float> w = lesser_of(ox2, load(x2 + i)) - greater_of(ox1, load(x1 + i));
    const Vec<float> h = lesser_of(oy2, load(y2 + i)) - greater_of(oy1, load(y1 + i));
    const Vec<float> shared = rounded(w * h);
    Vec<float> whole = broadcast(area) + load(areas + i) - shared;
    whole = whole < least ? least : whole;
    const Vec<float> share = shared / whole;
    return (w <= zero) | (h <= zero) | (shared == zero) ? zero : share;
  }

  Ints looked_at(int64_t i) const {
    Ints mask;
    memcpy(&mask, looked + i, sizeof mask);
    return mask;
  }

  const int64_t first, count;

 private:
  // The smaller and the larger, or what is no number.
  static float lesser(float a, float b) { return a < b || a != a ? a : b; }
  static float greater(float a, float b) { return a > b || a != a ? a : b; }
  static Vec<float> lesser_of(Vec<float> a, Vec<float> b) { return (a < b) | (a != a) ? a : b; }
  static Vec<float> greater_of(Vec<float> a, Vec<float> b) { return (a > b) | (a != a) ? a : b; }

  alignas(64) float x1[BLOCK], y1[BLOCK], x2[BLOCK], y2[BLOCK], areas[BLOCK];
  alignas(64) int32_t looked[BLOCK];
  float left = INFINITY, top = INFINITY, right = -INFINITY, bottom = -INFINITY;
};

class Assigner {
 public:
  explicit Assigner(const saccade_max_iou_assign& arguments)
      : a(arguments), blocks(ceil_div(a.n, BLOCK)), best_of(blocks * a.k), most(a.k, 0.f) {
    for (int64_t g = 0; g < a.k; g++) {
      objects.emplace_back(a.objects + 4 * g);
      areas.push_back(objects.back().area());
    }
  }

  void assign() {
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) overlaps(b);
    if (!a.match_low_quality) return;
    for (int64_t b = 0; b < blocks; b++) {
      for (int64_t g = 0; g < a.k; g++) most[g] = std::max(most[g], best_of[b * a.k + g]);
    }
    if (a.gt_max_assign_all) {
#pragma omp parallel for schedule(static)
      for (int64_t b = 0; b < blocks; b++) match(b);
    } else {
      for (int64_t g = 0; g < a.k; g++) match_first(g);
    }
  }

 private:
  // The best object of each box, and the best IoU that each object has in the block.
  void overlaps(int64_t b) {
    const Block block(a, b);
    alignas(64) float best[BLOCK];
    alignas(64) int32_t of[BLOCK] = {};
    for (int64_t i = 0; i < BLOCK; i++) {
      best[i] = i < block.count && a.skip && a.skip[block.first + i] ? -1 : 0;
    }
    for (int64_t g = 0; g < a.k; g++) {
      if (!block.may_touch(objects[g])) continue;
      Vec<float> high = {};
      const Ints number = static_cast<int32_t>(g) - Ints{};
      for (int64_t i = 0; i < BLOCK; i += L) {
        Vec<float> iou = block.iou(i, objects[g], areas[g]);
        const Vec<float> none = broadcast(-1.f);
        iou = block.looked_at(i) ? iou : none;
        const Vec<float> old = load(best + i);
        const Ints better = iou > old;
        store(best + i, better ? iou : old);
        Ints winner;
        memcpy(&winner, of + i, sizeof winner);
        winner = better ? number : winner;
        memcpy(of + i, &winner, sizeof winner);
        high = iou > high ? iou : high;
      }
      best_of[b * a.k + g] = largest<float>(high);
    }
    for (int64_t i = 0; i < block.count; i++) {
      const bool background = best[i] >= 0 && best[i] < a.neg_iou;
      a.gt_inds[block.first + i] = best[i] >= a.pos_iou ? of[i] + 1 : background ? 0 : -1;
      a.max_overlaps[block.first + i] = best[i];
    }
  }

  // Gives the boxes of a block to the objects whose best they are.
  void match(int64_t b) const {
    bool any = false;
    for (int64_t g = 0; g < a.k && !any; g++) any = takes(b, g);
    if (!any) return;
    const Block block(a, b);
    for (int64_t g = 0; g < a.k; g++) {
      if (!takes(b, g)) continue;
      const Vec<float> wanted = broadcast(most[g]);
      for (int64_t i = 0; i < block.count; i += L) {
        const Ints same = (block.iou(i, objects[g], areas[g]) == wanted) & block.looked_at(i);
        for (int64_t j = 0; j < L; j++) {
          if (same[j]) a.gt_inds[block.first + i + j] = g + 1;
        }
      }
    }
  }

  // Whether an object may take a box of a block; one that overlaps nothing takes what does not
  // overlap it.
  bool takes(int64_t b, int64_t g) const {
    return most[g] >= a.min_pos_iou && (most[g] == 0 || best_of[b * a.k + g] == most[g]);
  }

  // Gives an object the first of its best boxes, or the first of all where it overlaps none.
  void match_first(int64_t g) const {
    for (int64_t b = 0; b < blocks && most[g] >= a.min_pos_iou; b++) {
      if (!takes(b, g)) continue;
      const Block block(a, b);
      for (int64_t i = 0; i < block.count; i++) {
        const Vec<float> iou = block.iou(i / L * L, objects[g], areas[g]);
        const bool best = most[g] == 0 || iou[i % L] == most[g];
        if (best && block.looked_at(i / L * L)[i % L]) {
          a.gt_inds[block.first + i] = g + 1;
          return;
        }
      }
    }
  }

  const saccade_max_iou_assign& a;
  const int64_t blocks;
  std::vector<Box> objects;
  std::vector<float> areas;
  const Buffer<float> best_of;  // [blocks, k]
  std::vector<float> most;      // [k]
};

}  // namespace

extern "C" int SACCADE_KERNEL(max_iou_assign_forward)(const saccade_max_iou_assign* a) {
  if (!saccade_max_iou_assign_is_sound(a)) return -1;
  Assigner(*a).assign();
  return 0;
}
