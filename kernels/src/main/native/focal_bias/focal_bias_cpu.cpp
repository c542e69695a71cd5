// The bias of focal attention, a head at a time.

#include "focal_bias/focal_bias.h"

#include <vector>

#include "common/simd.h"

namespace {

// The bias of tokens that no copy of the map holds; it leaves nothing of them.
constexpr float ABSENT = -1e9f;

// Where the bias of a token of the ring is listed: once or, where two copies of the map hold it,
// twice; exponentials of both add up. -1 is nowhere.
struct Slots {
  int first = -1, second = -1;
};

// What a window sees of the map: itself and its ring, row by row.
class Surroundings {
 public:
  explicit Surroundings(const saccade_focal_bias& a)
      : window(static_cast<int>(a.window)),
        expand(static_cast<int>(a.expand)),
        across(window + 2 * expand),
        slots(across * across) {
    // Each copy of the map holds a corner of the ring and half of the two sides that meet there.
    const int beside = (window - expand) * expand, half = expand * window;
    const int right0 = 0, bottom0 = right0 + beside, left0 = bottom0 + half;
    const int bottom1 = left0 + beside, top0 = bottom1 + half, right1 = top0 + half;
    const int top1 = right1 + beside, left1 = top1 + half;
    neighbors = left1 + beside;
    for (int y = 0; y < expand; y++) {
      for (int x = 0; x < across; x++) {
        at(y, x) = along(top0, top1, y, x);
        at(expand + window + y, x) = along(bottom0, bottom1, y, x);
      }
    }
    for (int y = 0; y < window; y++) {
      for (int x = 0; x < expand; x++) {
        at(expand + y, x) = down(left0, left1, y, x);
        at(expand + y, expand + window + x) = down(right0, right1, y, x);
      }
    }
  }

  // Calls own(key, row, column) for the tokens of the window, and other(key, slots) for its ring.
  template <class Own, class Other>
  void each(Own own, Other other) const {
    for (int key = 0; key < across * across; key++) {
      const int row = key / across - expand, column = key % across - expand;
      if (row >= 0 && row < window && column >= 0 && column < window) {
        own(key, row, column);
      } else {
        other(key, slots[key]);
      }
    }
  }

  const int window, expand, across;
  int neighbors;

 private:
  Slots& at(int y, int x) { return slots[y * across + x]; }

  Slots along(int first, int second, int y, int x) const {
    return {x >= 2 * expand ? first + y * window + x - 2 * expand : -1,
            x < window ? second + y * window + x : -1};
  }

  Slots down(int first, int second, int y, int x) const {
    return {y >= expand ? first + (y - expand) * expand + x : -1,
            y < window - expand ? second + y * expand + x : -1};
  }

  std::vector<Slots> slots;
};

float listed(const float* biases, int slot) { return slot < 0 ? ABSENT : biases[slot]; }

// A head of the tables, and of the biases of a token.
class Head {
 public:
  Head(const saccade_focal_bias& a, const Surroundings& s, int64_t head)
      : a(a), around(s), head(head), keys(s.across * s.across) {
    for (int64_t level = 0; level < a.levels; level++) keys += a.cells[level] * a.cells[level];
  }

  void look_up() const {
    each_query([&](int64_t query, int y, int x) {
      float* bias = a.bias + (head * around.window * around.window + query) * keys;
      const float* list = neighbors(a.neighbors, query);
      around.each(
          [&](int key, int row, int column) { bias[key] = a.own[own(y - row, x - column)]; },
          [&](int key, const Slots& slots) {
            const float one = listed(list, slots.first), other = listed(list, slots.second);
            const float most = std::max(one, other), least = std::min(one, other);
            bias[key] = least == ABSENT ? most : most + std::log1p(std::exp(least - most));
          });
      each_cell(y, x, [&](int64_t key, int64_t level, int64_t at) {
        bias[key] = a.windows[level][at];
      });
    });
  }

  // Sets the gradients of the head.
  void add_up() const {
    for (int64_t i = 0; i < a.side * a.side; i++) a.d_own[i * a.heads + head] = 0;
    for (int64_t level = 0; level < a.levels; level++) {
      const int64_t size = area(level);
      std::fill_n(a.d_windows[level] + head * size, size, 0.f);
    }
    each_query([&](int64_t query, int y, int x) {
      const int64_t first = (head * around.window * around.window + query) * keys;
      const float *bias = a.bias + first, *d_bias = a.d_bias + first;
      const float* list = neighbors(a.neighbors, query);
      float* d_list = neighbors(a.d_neighbors, query);
      around.each(
          [&](int key, int row, int column) { a.d_own[own(y - row, x - column)] += d_bias[key]; },
          [&](int key, const Slots& slots) {
            for (int slot : {slots.first, slots.second}) {
              if (slot >= 0) d_list[slot] = d_bias[key] * std::exp(list[slot] - bias[key]);
            }
          });
      each_cell(y, x, [&](int64_t key, int64_t level, int64_t at) {
        a.d_windows[level][at] += d_bias[key];
      });
    });
  }

 private:
  template <class F>
  void each_query(F f) const {
    for (int query = 0; query < around.window * around.window; query++) {
      f(query, query / around.window, query % around.window);
    }
  }

  template <class F>
  void each_cell(int y, int x, F f) const {
    int64_t key = around.across * around.across;
    for (int64_t level = 0; level < a.levels; level++) {
      const int64_t cells = a.cells[level], side = a.window + cells - 1;
      for (int64_t v = 0; v < cells; v++) {
        for (int64_t u = 0; u < cells; u++) {
          f(key++, level, head * area(level) + (y - v + cells - 1) * side + x - u + cells - 1);
        }
      }
    }
  }

  template <class X>
  X* neighbors(X* tables, int64_t query) const {
    return tables + (head * around.window * around.window + query) * around.neighbors;
  }

  int64_t own(int down, int right) const {
    const int64_t center = (a.side - 1) / 2;
    return ((down + center) * a.side + right + center) * a.heads + head;
  }

  int64_t area(int64_t level) const {
    const int64_t side = a.window + a.cells[level] - 1;
    return side * side;
  }

  const saccade_focal_bias& a;
  const Surroundings& around;
  const int64_t head;
  int64_t keys;
};

}  // namespace

extern "C" int SACCADE_KERNEL(focal_bias_forward)(const saccade_focal_bias* a) {
  const Surroundings around(*a);
#pragma omp parallel for schedule(dynamic)
  for (int64_t head = 0; head < a->heads; head++) Head(*a, around, head).look_up();
  return 0;
}

extern "C" int SACCADE_KERNEL(focal_bias_backward)(const saccade_focal_bias* a) {
  const Surroundings around(*a);
#pragma omp parallel for schedule(dynamic)
  for (int64_t head = 0; head < a->heads; head++) Head(*a, around, head).add_up();
  return 0;
}
