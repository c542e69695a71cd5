// RoIAlign (He et al. 2017): the points of a bin form a grid, so that the share of a cell in their
// mean is that of its row times that of its column. The shares of all regions are laid out first;
// then whole vectors of channels are summed, each cell once a bin however many points are near it.

#include "roi_align/points.h"
#include "roi_align/roi_align.h"

namespace {

// Vectors of channels that are summed in registers.
constexpr int V = SACCADE_REGISTERS / 2;

// Gradients are added up in bands of rows of a map, of so many bytes that they stay in the cache. A
// band is the work of one thread, which takes the regions in their order: the sums do not depend on
// the number of threads.
constexpr int64_t BAND = 1 << 19;

// The cells that the points of a bin are near, along one axis, and where their shares are.
struct Bin {
  int64_t first, count, shares;
};

// Where all regions take their values from.
template <class S>
class Plan {
 public:
  using T = SumOf<S>;

  explicit Plan(const saccade_roi_align& a)
      : a(a), bins(a.regions * (a.height + a.width)), shares(lay_out()) {
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < a.regions; r++) {
      const Points<T> y = points(r, 0), x = points(r, 1);
      const T weight = 1 / static_cast<T>(std::max<int64_t>(1, y.per_bin * x.per_bin));
      for (int64_t i = 0; i < a.height; i++) add_shares(y, i, row(r, i), weight);
      for (int64_t i = 0; i < a.width; i++) add_shares(x, i, column(r, i), 1);
    }
  }

  const saccade_level& level(int64_t r) const { return a.level[a.level_of[r]]; }

  int64_t image(int64_t r) const { return static_cast<int64_t>(roi(r)[0]); }

  Bin& row(int64_t r, int64_t i) const { return bins[r * (a.height + a.width) + i]; }

  Bin& column(int64_t r, int64_t i) const { return row(r, a.height + i); }

  // Whether a row of cells has a share in any bin.
  bool sees(int64_t r, int64_t y) const {
    for (int64_t i = 0; i < a.height; i++) {
      if (share(row(r, i), y) != 0) return true;
    }
    return false;
  }

  // The share of a cell in the mean of a bin along one axis.
  T share(const Bin& bin, int64_t cell) const {
    const int64_t i = cell - bin.first;
    return i >= 0 && i < bin.count ? shares[bin.shares + i] : T(0);
  }

 private:
  const T* roi(int64_t r) const { return static_cast<const T*>(a.rois) + 5 * r; }

  Points<T> points(int64_t r, int axis) const {
    const T* corners = roi(r) + (axis == 0 ? 2 : 1);
    const saccade_level& l = level(r);
    return {corners[0],           corners[2],       static_cast<T>(l.scale),
            a.aligned != 0,       a.sampling_ratio, axis == 0 ? a.height : a.width,
            axis == 0 ? l.h : l.w};
  }

  static void find_cells(const Points<T>& points, int64_t i, Bin& bin) {
    int64_t first = INT64_MAX, last = -1;
    points.each(i, [&](int64_t low, int64_t high, T, T) {
      first = std::min(first, low);
      last = std::max(last, high);
    });
    bin = last < 0 ? Bin{} : Bin{first, last - first + 1, 0};
  }

  void add_shares(const Points<T>& points, int64_t i, const Bin& bin, T weight) {
    T* to = shares + bin.shares;
    points.each(i, [&](int64_t low, int64_t high, T near, T far) {
      to[low - bin.first] += near * weight;
      to[high - bin.first] += far * weight;
    });
  }

  // Finds the cells of all bins and gives them room; returns how much.
  int64_t lay_out() {
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < a.regions; r++) {
      const Points<T> y = points(r, 0), x = points(r, 1);
      for (int64_t i = 0; i < a.height; i++) find_cells(y, i, row(r, i));
      for (int64_t i = 0; i < a.width; i++) find_cells(x, i, column(r, i));
    }
    int64_t total = 0;
    for (int64_t i = 0; i < a.regions * (a.height + a.width); i++) {
      bins[i].shares = total;
      total += bins[i].count;
    }
    return total;
  }

  const saccade_roi_align& a;
  Buffer<Bin> bins;

 public:
  Buffer<T> shares;
};

template <class S>
void forward(const saccade_roi_align& a) {
  using T = SumOf<S>;
  const Plan<S> plan(a);
#pragma omp parallel for schedule(dynamic)
  for (int64_t r = 0; r < a.regions; r++) {
    const saccade_level& level = plan.level(r);
    const S* map =
        static_cast<const S*>(level.map) + plan.image(r) * level.h * level.w * a.channels;
    for (int64_t bin = 0; bin < a.height * a.width; bin++) {
      const Bin rows = plan.row(r, bin / a.width), columns = plan.column(r, bin % a.width);
      S* out = static_cast<S*>(a.out) + (r * a.height * a.width + bin) * a.channels;
      by_vectors<T, V>(a.channels, [&](auto vectors, auto whole, int64_t c) {
        Vec<T> sums[vectors] = {};
        for (int64_t y = 0; y < rows.count; y++) {
          const S* cell = map + ((rows.first + y) * level.w + columns.first) * a.channels + c;
          for (int64_t x = 0; x < columns.count; x++, cell += a.channels) {
            const T share = plan.shares[rows.shares + y] * plan.shares[columns.shares + x];
            if (share == 0) continue;
            for (int v = 0; v < vectors; v++) {
              sums[v] += share * take<whole>(cell + v * LANES<T>, a.channels - c);
            }
          }
        }
        for (int v = 0; v < vectors; v++)
          put<whole>(sums[v], out + c + v * LANES<T>, a.channels - c);
      });
    }
  }
}

// Rows of a map of one image.
struct Band {
  int64_t level, image, top, bottom;
};

// The maps whose gradients are wanted, cut into bands.
class Bands {
 public:
  Bands(const saccade_roi_align& a, int64_t bytes) : a(a), bytes(bytes) {
    for (int64_t l = 0; l < a.levels; l++) {
      count += of_level(l);
      largest = std::max(largest, rows(l) * a.level[l].w * a.channels);
    }
  }

  Band operator[](int64_t i) const {
    int64_t level = 0;
    for (; i >= of_level(level); level++) i -= of_level(level);
    const int64_t down = of_level(level) / a.n, top = i % down * rows(level);
    return {level, i / down, top, std::min(top + rows(level), a.level[level].h)};
  }

 private:
  int64_t rows(int64_t level) const {
    return std::max<int64_t>(1, BAND / std::max<int64_t>(1, a.level[level].w * a.channels * bytes));
  }

  int64_t of_level(int64_t level) const {
    return a.level[level].d_map == nullptr ? 0 : a.n * ceil_div(a.level[level].h, rows(level));
  }

  const saccade_roi_align& a;
  const int64_t bytes;

 public:
  int64_t count = 0, largest = 0;
};

// Adds what a region gives to the gradients of a row of cells, [w, channels].
template <class S>
void spread(const saccade_roi_align& a, const Plan<S>& plan, int64_t r, int64_t y,
            SumOf<S>* d_row) {
  using T = SumOf<S>;
  for (int64_t i = 0; i < a.width; i++) {
    const Bin columns = plan.column(r, i);
    by_vectors<T, V>(a.channels, [&](auto vectors, auto whole, int64_t c) {
      Vec<T> sums[vectors] = {};
      for (int64_t j = 0; j < a.height; j++) {
        const T share = plan.share(plan.row(r, j), y);
        if (share == 0) continue;
        const S* from =
            static_cast<const S*>(a.d_out) + ((r * a.height + j) * a.width + i) * a.channels + c;
        for (int v = 0; v < vectors; v++) {
          sums[v] += share * take<whole>(from + v * LANES<T>, a.channels - c);
        }
      }
      for (int64_t x = 0; x < columns.count; x++) {
        const T share = plan.shares[columns.shares + x];
        if (share == 0) continue;
        T* to = d_row + (columns.first + x) * a.channels + c;
        for (int v = 0; v < vectors; v++, to += LANES<T>) {
          put<whole>(take<whole>(to, a.channels - c) + share * sums[v], to, a.channels - c);
        }
      }
    });
  }
}

template <class S>
void backward(const saccade_roi_align& a) {
  using T = SumOf<S>;
  constexpr bool IN_PLACE = std::is_same_v<S, T>;
  const Plan<S> plan(a);
  const Bands bands(a, sizeof(T));
#pragma omp parallel
  {
    Buffer<T> sums(IN_PLACE ? 0 : bands.largest);
#pragma omp for schedule(dynamic)
    for (int64_t i = 0; i < bands.count; i++) {
      const Band band = bands[i];
      const saccade_level& level = a.level[band.level];
      const int64_t row = level.w * a.channels, size = (band.bottom - band.top) * row;
      S* out = static_cast<S*>(level.d_map) + (band.image * level.h + band.top) * row;
      T* d_map = sums;
      if constexpr (IN_PLACE) d_map = out;
      std::fill(d_map, d_map + size, T(0));
      for (int64_t r = 0; r < a.regions; r++) {
        if (a.level_of[r] != band.level || plan.image(r) != band.image) continue;
        for (int64_t y = band.top; y < band.bottom; y++) {
          if (plan.sees(r, y)) spread(a, plan, r, y, d_map + (y - band.top) * row);
        }
      }
      if constexpr (!IN_PLACE) narrow(d_map, out, size);
    }
  }
}

// Whether every region has a level.
bool are_inside(const saccade_roi_align& a) {
  return std::all_of(a.level_of, a.level_of + a.regions,
                     [&](int64_t level) { return level >= 0 && level < a.levels; });
}

}  // namespace

extern "C" int SACCADE_KERNEL(roi_align_forward)(const saccade_roi_align* a) {
  if (!saccade_roi_align_is_sound(a) || !are_inside(*a)) return -1;
  return with_type(a->type, [&](auto stored) { return forward<decltype(stored)>(*a), 0; });
}

extern "C" int SACCADE_KERNEL(roi_align_backward)(const saccade_roi_align* a) {
  if (!saccade_roi_align_is_sound(a) || !are_inside(*a)) return -1;
  return with_type(a->type, [&](auto stored) { return backward<decltype(stored)>(*a), 0; });
}
