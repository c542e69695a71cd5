// Each thread takes some channels of some images: their gradients are its own, those of offsets and
// masks it sums over its channels, and those of weights over its images. What several threads give
// is added up in parts whose number follows from the sizes alone.

#include <memory>
#include <vector>

#include "deform_conv2d/deform_conv2d_samples.h"

namespace {

constexpr int64_t CHANNELS = 32;  // of a block: whole vectors of any type
constexpr int64_t ENOUGH = 16;    // blocks to share among threads

// The gradients of a sample: by its row, by its column and by its mask.
enum { DOWN, ACROSS, MASK, KINDS };

// Channels that are moved together.
struct Block {
  int64_t offset_group, first, count;
};

// What the channels of a block have in common with those of a group: a part of a block.
struct Piece {
  int64_t group, first, count;
};

std::vector<Block> blocks_of(const saccade_deform_conv2d& a) {
  std::vector<Block> blocks;
  const int64_t channels = a.channels / a.offset_groups;
  for (int64_t group = 0; group < a.offset_groups; group++) {
    for (int64_t c = 0; c < channels; c += CHANNELS) {
      blocks.push_back({group, group * channels + c, std::min(CHANNELS, channels - c)});
    }
  }
  return blocks;
}

// How the work is cut, whatever the threads, and the parts of the sums.
template <class T>
struct Plan {
  explicit Plan(const saccade_deform_conv2d& a)
      : outputs(a),
        blocks(blocks_of(a)),
        count(static_cast<int64_t>(blocks.size())),
        parts(std::max<int64_t>(1, std::min(a.n, ceil_div(ENOUGH, count)))),
        taps(a.kernel_h * a.kernel_w),
        size(a.rows * a.columns),
        weights(taps * a.channels / a.groups * a.out_channels),
        of_samples(new T[a.d_offset || a.d_mask ? count * a.n * taps * KINDS * size : 0]),
        of_weights(new T[a.d_weight && parts > 1 ? parts * weights : 0]) {}

  // The gradients of the samples of a tap, of one kind, as a block gives them.
  T* samples(int64_t block, int64_t n, int64_t tap, int64_t kind, int64_t images) const {
    return of_samples.get() + (((block * images + n) * taps + tap) * KINDS + kind) * size;
  }

  const Outputs<T> outputs;
  const std::vector<Block> blocks;
  const int64_t count, parts, taps, size, weights;
  const std::unique_ptr<T[]> of_samples, of_weights;
};

// The work of a thread.
template <class S>
class Worker {
 public:
  using T = SumOf<S>;
  static constexpr int L = LANES<T>;
  static constexpr int64_t REACH = CHANNELS + L;  // what vectors from the last channel on fill

  Worker(const saccade_deform_conv2d& a, const Plan<T>& plan)
      : a(a),
        plan(plan),
        depth(a.channels / a.groups),
        width(plan.outputs.panels * plan.outputs.panel),
        samples(a),
        weights(plan.taps * most_pieces() * plan.outputs.each * CHANNELS, Unset()),
        d_weights(plan.taps * CHANNELS * width, Unset()),
        d_out(most_pieces() * POSITIONS * width),
        sampled(POSITIONS * CHANNELS),
        d_sampled(POSITIONS * REACH) {}

  void run(int64_t index, int64_t part) {
    block = plan.blocks[index];
    cut();
    take_weights();
    std::fill(d_weights + 0, d_weights + plan.taps * CHANNELS * width, T(0));
    for (int64_t n = part * a.n / plan.parts; n < (part + 1) * a.n / plan.parts; n++) {
      for (int64_t first = 0; first < plan.size; first += POSITIONS) {
        samples.at(n, first, std::min(POSITIONS, plan.size - first));
        take_d_out(n, first);
        for (int64_t tap = 0; tap < plan.taps; tap++) {
          samples.find(block.offset_group, tap);
          multiply_back(tap);
          T* to[KINDS];
          for (int k = 0; k < KINDS; k++) to[k] = plan.samples(index, n, tap, k, a.n) + first;
          spread(to);
          if (a.d_weight != nullptr) add_weights(tap);
        }
      }
    }
    if (a.d_weight == nullptr) return;
    put_weights(plan.parts > 1 ? plan.of_weights.get() + part * plan.weights
                               : static_cast<T*>(a.d_weight));
  }

 private:
  // Groups that a block can lie in.
  int64_t most_pieces() const {
    const int64_t depth = a.channels / a.groups;
    return std::min(a.groups, (std::min(CHANNELS, a.channels) - 1) / depth + 2);
  }

  void cut() {
    pieces.clear();
    const int64_t end = block.first + block.count;
    for (int64_t c = block.first; c < end;) {
      const int64_t group = c / depth, next = std::min(end, (group + 1) * depth);
      pieces.push_back({group, c, next - c});
      c = next;
    }
  }

  // Weights as right factors: for each tap and piece, [outputs of the group, CHANNELS].
  T* weights_of(int64_t tap, int64_t piece) const {
    const int64_t count = static_cast<int64_t>(pieces.size());
    return weights + (tap * count + piece) * plan.outputs.each * CHANNELS;
  }

  void take_weights() const {
    for (size_t p = 0; p < pieces.size(); p++) {
      const int64_t count = pieces[p].count;
      const T* row = static_cast<const T*>(a.weight) + first_weight(pieces[p]);
      for (int64_t o = 0; o < plan.outputs.each; o++, row += depth * plan.taps) {
        for (int64_t tap = 0; tap < plan.taps; tap++) {
          T* to = weights_of(tap, p) + o * CHANNELS;
          for (int64_t c = 0; c < count; c++) to[c] = row[c * plan.taps + tap];
          std::fill(to + count, to + CHANNELS, T(0));
        }
      }
    }
  }

  // Where the weights of a piece begin: those of its first channel for the first output.
  int64_t first_weight(const Piece& piece) const {
    const int64_t channel = piece.first - piece.group * depth;
    return (piece.group * plan.outputs.each * depth + channel) * plan.taps;
  }

  // The gradients of the outputs of a piece, [panels, POSITIONS, outputs of a panel].
  T* d_out_of(int64_t piece, int64_t panel) const {
    return d_out + (piece * plan.outputs.panels + panel) * POSITIONS * plan.outputs.panel;
  }

  void take_d_out(int64_t n, int64_t first) const {
    const Outputs<T>& outputs = plan.outputs;
    for (size_t p = 0; p < pieces.size(); p++) {
      const S* from = static_cast<const S*>(a.d_out) + (n * plan.size + first) * a.out_channels +
                      pieces[p].group * outputs.each;
      for (int64_t j = 0; j < outputs.panels; j++, from += outputs.panel) {
        T* to = d_out_of(p, j);
        for (int64_t i = 0; i < samples.count; i++) {
          widen(from + i * a.out_channels, to + i * outputs.panel, outputs.count(j));
        }
      }
    }
  }

  // The gradients of samples times their masks. Vectors reach beyond a piece into the next one,
  // which comes later.
  void multiply_back(int64_t tap) const {
    const Outputs<T>& outputs = plan.outputs;
    for (size_t p = 0; p < pieces.size(); p++) {
      const Piece& piece = pieces[p];
      T* to = d_sampled + (piece.first - block.first);
      const int columns = static_cast<int>(ceil_div(piece.count, L) * L);
      for (int64_t j = 0; j < outputs.panels; j++) {
        const Rows<T> left = {d_out_of(p, j), outputs.panel};
        const T* right = weights_of(tap, p) + j * outputs.panel * CHANNELS;
        const int count = static_cast<int>(samples.count), steps = outputs.count(j);
        if (j == 0) {
          multiply<T>(count, columns, steps, left, right, CHANNELS, to, REACH);
        } else {
          multiply<T>(count, columns, steps, left, right, CHANNELS, to, REACH, GoOn<T>{to, REACH});
        }
      }
    }
  }

  // Takes the samples once more, gives their gradients to the cells that they are from, and sums up
  // the gradients of where they are.
  void spread(T* const* to) const {
    for (int64_t i = 0; i < samples.count; i += L) {
      const int64_t count = std::min<int64_t>(L, samples.count - i);
      Vec<T> sums[KINDS][L] = {};
      for (int64_t lane = 0; lane < count; lane++) spread(i + lane, lane, sums);
      if (a.d_offset == nullptr && a.d_mask == nullptr) continue;
      for (int k = 0; k < KINDS; k++) {
        const Vec<T> sum = sum_each<T>(sums[k]);
        put<false>(sum, to[k] + i, count);
      }
    }
  }

  void spread(int64_t i, int64_t lane, Vec<T> (*sums)[L]) const {
    int64_t at[4];
    samples.cells(i, at);
    const auto &y = samples.rows, &x = samples.columns;
    const T mask = samples.mask[i];
    T shares[4];
    for (int k = 0; k < 4; k++) shares[k] = y.share[k / 2][i] * x.share[k % 2][i] * mask;
    const T near = x.share[0][i], far = x.share[1][i], left = x.inside[0][i],
            right = x.inside[1][i];
    const S* map = static_cast<const S*>(a.x) + block.first;
    T* d_map = static_cast<T*>(a.d_x) + block.first;
    const T* d = d_sampled + i * REACH;
    T* to = sampled + i * CHANNELS;
    Vec<T> by_row = {}, by_column = {}, by_mask = {};
    by_vectors<T, 1>(block.count, [&](auto, auto whole, int64_t c) {
      const int64_t rest = block.count - c;
      const Vec<T> gradient = take<whole>(d + c, rest);
      Vec<T> v[4];
      for (int k = 0; k < 4; k++) v[k] = take<whole>(map + at[k] + c, rest);
      const Vec<T> top = near * v[0] + far * v[1], low = near * v[2] + far * v[3];
      const Vec<T> value = y.share[0][i] * top + y.share[1][i] * low;
      by_mask += gradient * value;
      by_row += gradient * (y.inside[1][i] * low - y.inside[0][i] * top);
      by_column += gradient * (y.share[0][i] * (right * v[1] - left * v[0]) +
                               y.share[1][i] * (right * v[3] - left * v[2]));
      store(to + c, mask * value);
      if (a.d_x == nullptr) return;
      for (int k = 0; k < 4; k++) {
        if (shares[k] == 0) continue;
        T* cell = d_map + at[k] + c;
        put<whole>(take<whole>(cell, rest) + shares[k] * gradient, cell, rest);
      }
    });
    sums[DOWN][lane] = mask * by_row;
    sums[ACROSS][lane] = mask * by_column;
    sums[MASK][lane] = by_mask;
  }

  void add_weights(int64_t tap) const {
    const Outputs<T>& outputs = plan.outputs;
    for (size_t p = 0; p < pieces.size(); p++) {
      const int64_t c = pieces[p].first - block.first;
      for (int64_t j = 0; j < outputs.panels; j++) {
        T* to = d_weights + (tap * CHANNELS + c) * width + j * outputs.panel;
        multiply<T>(pieces[p].count, outputs.columns(j), samples.count,
                    Columns<T>{sampled + c, CHANNELS}, d_out_of(p, j), outputs.panel, to, width,
                    GoOn<T>{to, width});
      }
    }
  }

  void put_weights(T* part) const {
    for (const Piece& piece : pieces) {
      const int64_t first = piece.first - block.first;
      T* to = part + first_weight(piece);
      transpose<T>(
          piece.count * plan.taps, plan.outputs.each,
          [&](int64_t i) {
            const int64_t tap = i % plan.taps, c = first + i / plan.taps;
            return d_weights + (tap * CHANNELS + c) * width;
          },
          [&](int64_t output) { return to + output * depth * plan.taps; });
    }
  }

  const saccade_deform_conv2d& a;
  const Plan<T>& plan;
  const int64_t depth, width;
  Block block = {};
  std::vector<Piece> pieces;
  Samples<T> samples;
  const Buffer<T> weights, d_weights, d_out, sampled, d_sampled;
};

// Adds up numbers of several arrays, which lie so many numbers apart.
template <class T>
void add_up(const T* from, int64_t arrays, int64_t apart, T* to, int64_t count) {
  std::copy(from, from + count, to);
  for (int64_t k = 1; k < arrays; k++) {
    for (int64_t i = 0; i < count; i++) to[i] += from[k * apart + i];
  }
}

template <class T>
void add_up_samples(const saccade_deform_conv2d& a, const Plan<T>& plan) {
  const int64_t blocks = plan.count / a.offset_groups, size = plan.size;
  const int64_t apart = a.n * plan.taps * KINDS * size;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < a.n * a.offset_groups * plan.taps; i++) {
    const int64_t tap = i % plan.taps, group = i / plan.taps % a.offset_groups;
    const int64_t n = i / plan.taps / a.offset_groups;
    const T* from = plan.samples(group * blocks, n, tap, 0, a.n);
    if (a.d_offset != nullptr) {
      add_up(from + DOWN * size, blocks, apart, static_cast<T*>(a.d_offset) + 2 * i * size,
             2 * size);
    }
    if (a.d_mask != nullptr) {
      add_up(from + MASK * size, blocks, apart, static_cast<T*>(a.d_mask) + i * size, size);
    }
  }
}

template <class S>
void backward(const saccade_deform_conv2d& a) {
  using T = SumOf<S>;
  const Plan<T> plan(a);
#pragma omp parallel
  {
    Worker<S> worker(a, plan);
#pragma omp for schedule(dynamic)
    for (int64_t i = 0; i < plan.count * plan.parts; i++) {
      worker.run(i % plan.count, i / plan.count);
    }
  }
  if (a.d_offset != nullptr || a.d_mask != nullptr) add_up_samples(a, plan);
  if (a.d_weight == nullptr || plan.parts == 1) return;
  const int64_t row = plan.weights / a.out_channels;
#pragma omp parallel for schedule(static)
  for (int64_t output = 0; output < a.out_channels; output++) {
    add_up(plan.of_weights.get() + output * row, plan.parts, plan.weights,
           static_cast<T*>(a.d_weight) + output * row, row);
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(deform_conv2d_backward)(const saccade_deform_conv2d* a) {
  if (!saccade_deform_conv2d_is_sound(a)) return -1;
  return with_type(a->type, [&](auto stored) { return backward<decltype(stored)>(*a), 0; });
}
