// The samples of a tap at a tile of positions are the left factor of a product with the weights of
// the tap; both lie in the cache, as do the sums over the taps.

#include "deform_conv2d/deform_conv2d_samples.h"

namespace {

constexpr int64_t LEAST_POSITIONS = 12;
constexpr int64_t ENOUGH = 16;  // tiles to share among threads

// Weights of an output that are rearranged at a time.
constexpr int64_t SLICE = 256;

// Vectors of channels that are sampled in registers.
constexpr int V = SACCADE_REGISTERS / 8;

// The weights as right factors: [groups, panels, taps, channels of a group, outputs of a panel].
template <class T>
class Weights {
 public:
  Weights(const saccade_deform_conv2d& a, const Outputs<T>& outputs)
      : outputs(outputs),
        taps(a.kernel_h * a.kernel_w),
        depth(a.channels / a.groups),
        panels(a.groups * outputs.panels * taps * depth * outputs.panel, Unset()) {
    const int64_t each = taps * depth, slices = ceil_div(each, SLICE);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < a.groups * outputs.panels * slices; i++) {
      const int64_t panel = i / slices, first = i % slices * SLICE;
      const int64_t group = panel / outputs.panels, j = panel % outputs.panels;
      const int64_t output = group * outputs.each + j * outputs.panel;
      take(static_cast<const T*>(a.weight) + output * each, j, first, std::min(SLICE, each - first),
           panels + panel * each * outputs.panel);
    }
  }

  const T* at(int64_t group, int64_t j, int64_t tap, int64_t channel) const {
    const int64_t row = ((group * outputs.panels + j) * taps + tap) * depth + channel;
    return panels + row * outputs.panel;
  }

 private:
  // Rearranges a slice of the weights of a panel. What fills up its last vector is the last output
  // once more, which is not looked at.
  void take(const T* weight, int64_t j, int64_t first, int64_t count, T* panel) const {
    const int64_t last = outputs.count(j) - 1;
    T* rows[SLICE];
    for (int64_t i = 0; i < count; i++) {
      const int64_t k = first + i;
      rows[i] = panel + (k % taps * depth + k / taps) * outputs.panel;
    }
    transpose<T>(
        outputs.columns(j), count,
        [&](int64_t output) { return weight + std::min(output, last) * taps * depth + first; },
        [&](int64_t i) { return rows[i]; });
  }

  const Outputs<T>& outputs;
  const int64_t taps, depth;
  const Buffer<T> panels;
};

// The output at a tile of positions of an image.
template <class S>
class Tile {
 public:
  using T = SumOf<S>;

  Tile(const saccade_deform_conv2d& a, const Outputs<T>& outputs, const Weights<T>& weights,
       int64_t positions)
      : a(a),
        outputs(outputs),
        weights(weights),
        width(a.groups * outputs.whole),
        samples(a),
        sampled(positions * a.channels),
        sums(positions * width),
        products(positions * PANEL) {}

  void fill(int64_t n, int64_t first, int64_t count) {
    start(count);
    samples.at(n, first, count);
    for (int64_t tap = 0; tap < a.kernel_h * a.kernel_w; tap++) {
      for (int64_t group = 0; group < a.offset_groups; group++) sample(group, tap);
      for (int64_t group = 0; group < a.groups; group++) add(group, tap);
    }
    S* out = static_cast<S*>(a.out) + (n * a.rows * a.columns + first) * a.out_channels;
    for (int64_t i = 0; i < count * a.groups; i++) {
      narrow(sums + i * outputs.whole, out + i * outputs.each, outputs.each);
    }
  }

 private:
  void start(int64_t count) const {
    const T* bias = static_cast<const T*>(a.bias);
    for (int64_t i = 0; i < count * a.groups; i++) {
      T* to = sums + i * outputs.whole;
      const T* from = bias + i % a.groups * outputs.each;
      bias == nullptr ? std::fill(to, to + outputs.each, T(0))
                      : (void)std::copy(from, from + outputs.each, to);
    }
  }

  void sample(int64_t group, int64_t tap) {
    samples.find(group, tap);
    const int64_t channels = a.channels / a.offset_groups;
    const S* map = static_cast<const S*>(a.x) + group * channels;
    for (int64_t i = 0; i < samples.count; i++) {
      int64_t cells[4];
      samples.cells(i, cells);
      T shares[4];
      for (int k = 0; k < 4; k++) {
        shares[k] = samples.rows.share[k / 2][i] * samples.columns.share[k % 2][i];
        shares[k] *= samples.mask[i];
      }
      T* to = sampled + i * a.channels + group * channels;
      by_vectors<T, V>(channels, [&](auto vectors, auto whole, int64_t c) {
        for (int v = 0; v < vectors; v++, c += LANES<T>) {
          Vec<T> sum = {};
          for (int k = 0; k < 4; k++) {
            sum += shares[k] * take<whole>(map + cells[k] + c, channels - c);
          }
          put<whole>(sum, to + c, channels - c);
        }
      });
    }
  }

  // Sums of stretches are added to one another: they are more precise than one sum of all.
  void add(int64_t group, int64_t tap) const {
    const int64_t depth = a.channels / a.groups;
    for (int64_t c = 0; c < depth; c += STRETCH) {
      const Rows<T> left = {sampled + group * depth + c, a.channels};
      for (int64_t j = 0; j < outputs.panels; j++) {
        const int64_t columns = outputs.columns(j);
        multiply<T>(samples.count, columns, std::min(STRETCH, depth - c), left,
                    weights.at(group, j, tap, c), outputs.panel, products, PANEL);
        T* to = sums + group * outputs.whole + j * outputs.panel;
        for (int64_t i = 0; i < samples.count; i++) {
          for (int64_t o = 0; o < columns; o++) to[i * width + o] += products[i * PANEL + o];
        }
      }
    }
  }

  const saccade_deform_conv2d& a;
  const Outputs<T>& outputs;
  const Weights<T>& weights;
  const int64_t width;
  Samples<T> samples;
  const Buffer<T> sampled, sums, products;
};

template <class S>
void forward(const saccade_deform_conv2d& a) {
  using T = SumOf<S>;
  const Outputs<T> outputs(a);
  const Weights<T> weights(a, outputs);
  const int64_t size = a.rows * a.columns;
  const int64_t positions = std::clamp(ceil_div(a.n * size, ENOUGH), LEAST_POSITIONS, POSITIONS);
  const int64_t tiles = ceil_div(size, positions);
#pragma omp parallel
  {
    Tile<S> tile(a, outputs, weights, positions);
#pragma omp for schedule(dynamic)
    for (int64_t i = 0; i < a.n * tiles; i++) {
      const int64_t first = i % tiles * positions;
      tile.fill(i / tiles, first, std::min(positions, size - first));
    }
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(deform_conv2d_forward)(const saccade_deform_conv2d* a) {
  if (!saccade_deform_conv2d_is_sound(a)) return -1;
  return with_type(a->type, [&](auto stored) { return forward<decltype(stored)>(*a), 0; });
}
