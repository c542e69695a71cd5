// RoIAlign on a GPU. The share of a cell in the mean of a bin is that of its row times that of its
// column. Forward: a block sums bins of one region, each cell once a bin however many points are
// near it. Backward: a block sums up what a square of cells receives from the regions near it, in
// their order, so that nothing is added up at random.

#include "cuda/vector.cuh"
#include "roi_align/points.cuh"
#include "roi_align/roi_align.h"

namespace {

constexpr int TILE = 8;  // cells along the side of a square

__device__ inline const Sum* roi(const saccade_roi_align& a, int64_t region) {
  return static_cast<const Sum*>(a.rois) + 5 * region;
}

// The image of a region by its level, as one number; -1 where there is no such image or level.
__device__ inline int map_of(const saccade_roi_align& a, int64_t region) {
  const Sum image = roi(a, region)[0];
  const int64_t level = a.level_of[region];
  if (!(image > -1 && image < a.n && level >= 0 && level < a.levels)) return -1;
  return static_cast<int>(level * a.n) + static_cast<int>(image);
}

// The points of a region along one axis: 0 for the rows of cells, 1 for the columns.
__device__ inline Points<Sum> points_of(const saccade_roi_align& a, int64_t region, int axis) {
  const saccade_level& level = a.level[a.level_of[region]];
  const Sum* corners = roi(a, region) + (axis == 0 ? 2 : 1);
  return {corners[0],
          corners[2],
          static_cast<Sum>(level.scale),
          a.aligned != 0,
          a.sampling_ratio,
          axis == 0 ? a.height : a.width,
          axis == 0 ? level.h : level.w};
}

// Whether any point may be near cells from first on, as many as a tile has.
__device__ inline bool are_near(const Points<Sum>& points, int first) {
  const Sum end = points.start + points.size * points.bins;
  const Sum slack = 2 + Sum(1e-5) * (fabs(points.start) + fabs(end));
  return fmin(points.start, end) - slack <= first + TILE &&
         fmax(points.start, end) + slack >= first;
}

// Calls f(cell, share) once for each cell near a bin along one axis: rows of bins come first, then
// columns. The shares of rows are those in a mean.
template <class F>
__device__ void each_cell(const saccade_roi_align& a, int64_t region, int i, F f) {
  const int height = static_cast<int>(a.height), axis = i < height ? 0 : 1;
  const Points<Sum> points = points_of(a, region, axis);
  const int64_t count =
      static_cast<int64_t>(points.per_bin) * points_of(a, region, 1 - axis).per_bin;
  const Sum weight = axis == 0 && count > 1 ? Sum(1) / count : Sum(1);
  int cell = -2;
  Sum here = 0, next = 0;  // the shares of the cell and of the one after it
  points.each(axis == 0 ? i : i - height, [&](int low, Sum near, Sum far) {
    if (low == cell + 1) {
      if (here != 0) f(cell, here);
      here = next;
      next = 0;
    } else if (low == cell - 1) {
      if (next != 0) f(cell + 1, next);
      next = here;
      here = 0;
    } else if (low != cell) {
      if (here != 0) f(cell, here);
      if (next != 0) f(cell + 1, next);
      here = next = 0;
    }
    cell = low;
    here += product(near, weight);
    next += product(far, weight);
  });
  if (here != 0) f(cell, here);
  if (next != 0) f(cell + 1, next);
}

// Where a cell is in its row or column, in numbers, and its share.
struct Cell {
  int at;
  Sum share;
};

}  // namespace

// A block for one of the parts of a region's bins; room is how many cells all its bins may be near,
// along both axes.
extern "C" __global__ void __launch_bounds__(256, 4)
    roi_align_forward(saccade_roi_align a, int parts, int room) {
  Cell* cells = reinterpret_cast<Cell*>(shared_memory());
  int* counts =
      reinterpret_cast<int*>(cells + room);  // of the cells of each row and column of bins
  int* starts = counts + a.height + a.width;

  const int64_t region = blockIdx.x / parts;
  const int height = static_cast<int>(a.height), width = static_cast<int>(a.width);
  const int bins = height * width, vectors = static_cast<int>(a.channels / VECTOR);
  const int part = blockIdx.x % parts, some = (bins + parts - 1) / parts;
  const int begin = some * part * vectors, end = min(some * (part + 1), bins) * vectors;
  Storage* out = static_cast<Storage*>(a.out) + region * bins * a.channels;
  const int map = map_of(a, region);
  if (map < 0) {
    Vector none;
    for (int v = 0; v < VECTOR; v++) none.at[v] = nan("");
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x)
      store_vector(out + i * VECTOR, none);
    return;
  }

  const saccade_level& level = a.level[a.level_of[region]];
  for (int i = threadIdx.x; i < height + width; i += blockDim.x) {
    int count = 0;
    each_cell(a, region, i, [&](int, Sum) { count++; });
    counts[i] = count;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < height + width; i += blockDim.x) {
    int start = 0;
    for (int j = 0; j < i; j++) start += counts[j];
    starts[i] = start;
    Cell* to = cells + start;
    const int step = static_cast<int>(i < height ? level.w * a.channels : a.channels);
    each_cell(a, region, i, [&](int cell, Sum share) { *to++ = {cell * step, share}; });
  }
  __syncthreads();

  const Storage* image =
      static_cast<const Storage*>(level.map) + map % a.n * level.h * level.w * a.channels;
  for (int i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const int bin = i / vectors, row = bin / width, column = height + bin % width;
    const Storage* channels = image + (i - bin * vectors) * VECTOR;
    const Cell *rows = cells + starts[row], *columns = cells + starts[column];
    Vector sums = {};
    for (int j = 0; j < counts[row]; j++) {
      const Cell across = rows[j];
      const int count = counts[column];
#pragma unroll 4
      for (int k = 0; k < count; k++) {
        const Cell cell = columns[k];
        add(sums, across.share * cell.share, load_vector(channels + across.at + cell.at));
      }
    }
    store_vector(out + i * VECTOR, sums);
  }
}

// Lists the regions of every map in their order: those of map m from starts[m] to before starts[m]
// + counts[m]. A block for each map.
extern "C" __global__ void __launch_bounds__(256)
    roi_align_list(saccade_roi_align a, int* list, int* starts, int* counts) {
  __shared__ int votes[8], before;
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, map = blockIdx.x;
  if (threadIdx.x == 0) before = 0;
  __syncthreads();
  int mine = 0;
  for (int64_t r = threadIdx.x; r < a.regions; r += 256) {
    const int other = map_of(a, r);
    mine += other >= 0 && other < map;
  }
  atomicAdd(&before, mine);
  __syncthreads();
  int place = before;
  for (int64_t first = 0; first < a.regions; first += 256) {
    const int64_t r = first + threadIdx.x;
    const bool here = r < a.regions && map_of(a, r) == map;
    const unsigned ballot = __ballot_sync(ALL, here);
    if (lane == 0) votes[warp] = __popc(ballot);
    __syncthreads();
    int to = place + __popc(ballot & ((1u << lane) - 1));
    for (int w = 0; w < 8; w++) {
      to += w < warp ? votes[w] : 0;
      place += votes[w];
    }
    if (here) list[to] = static_cast<int>(r);
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    starts[map] = before;
    counts[map] = place - before;
  }
}

namespace {

// A square of cells of a map.
struct Square {
  int level, image, top, left;
};

// The squares of the maps whose gradients are wanted, the coarsest first: those have most to add.
__device__ Square square_of(const saccade_roi_align& a, int i) {
  for (int l = static_cast<int>(a.levels) - 1;; l--) {
    if (a.level[l].d_map == nullptr) continue;
    const int down = static_cast<int>((a.level[l].h + TILE - 1) / TILE);
    const int across = static_cast<int>((a.level[l].w + TILE - 1) / TILE),
              count = static_cast<int>(a.n) * down * across;
    if (i < count) return {l, i / (down * across), i / across % down * TILE, i % across * TILE};
    i -= count;
  }
}

// The vector at p, or zeros.
__device__ inline Vector vector_if(bool there, const Storage* p) {
  if (there) return load_vector(p);
  return {};
}

// The lowest bit that is set, and takes it away; -1 where there is none.
__device__ inline int take_bit(unsigned& bits) {
  const int bit = __ffs(bits) - 1;
  bits &= bits - 1;
  return bit;
}

// Adds what a region gives to a row of a square, to the vector of channels at d_out. Shares are
// those of its rows and then of its columns of bins, [height + width, TILE].
__device__ void gather(const saccade_roi_align& a, const Sum* shares, int row, const Storage* d_out,
                       bool live, Vector* sums) {
  const int height = static_cast<int>(a.height), width = static_cast<int>(a.width);
  const int channels = static_cast<int>(a.channels), lane = threadIdx.x % WARP;
  const Sum *of_rows = shares + row, *of_columns = shares + height * TILE;
  for (int above = 0; above < height; above += 32) {
    const unsigned rows =
        __ballot_sync(ALL, above + lane < height && of_rows[(above + lane) * TILE] != 0);
    if (rows == 0) continue;
    for (int before = 0; before < width; before += 32) {
      bool sees = false;
      for (int x = 0; before + lane < width && x < TILE; x++)
        sees |= of_columns[(before + lane) * TILE + x] != 0;
      unsigned columns = __ballot_sync(ALL, sees);
      while (columns != 0) {
        const int i = before + take_bit(columns), next = before + take_bit(columns);
        const bool two = next >= before;
        Vector here = {}, there = {};
        for (unsigned bits = rows; bits != 0;) {
          const int j = above + take_bit(bits), below = above + take_bit(bits);
          const bool both = below >= above;
          const Storage *from = d_out + j * width * channels,
                        *under = d_out + below * width * channels;
          const Vector v = vector_if(live, from + i * channels);
          const Vector right = vector_if(live && two, from + next * channels);
          const Vector down = vector_if(live && both, under + i * channels);
          const Vector across = vector_if(live && both && two, under + next * channels);
          const Sum share = of_rows[j * TILE], other = both ? of_rows[below * TILE] : Sum(0);
          add(here, share, v);
          add(there, share, right);
          add(here, other, down);
          add(there, other, across);
        }
#pragma unroll
        for (int x = 0; x < TILE; x++) {
          add(sums[x], of_columns[i * TILE + x], here);
          if (two) add(sums[x], of_columns[next * TILE + x], there);
        }
      }
    }
  }
}

}  // namespace

// A block for the rows of a square, a warp each, and one of the parts of their channels, a vector a
// lane; it lays out the shares of so many regions together.
extern "C" __global__ void __launch_bounds__(256, 2)
    roi_align_backward(saccade_roi_align a, const int* list, const int* starts, const int* counts,
                       int parts, int together) {
  Sum* shares = reinterpret_cast<Sum*>(shared_memory());  // [together, height + width, TILE]
  __shared__ int near[256], votes[8];
  const int thread = threadIdx.x, lane = thread % WARP, row = thread / WARP;
  const int height = static_cast<int>(a.height), width = static_cast<int>(a.width),
            bins = height + width;
  const int vector = blockIdx.x % parts * WARP + lane;
  const bool live = vector < a.channels / VECTOR;
  const Square square = square_of(a, blockIdx.x / parts);
  const int map = square.level * static_cast<int>(a.n) + square.image;
  const int end = starts[map] + counts[map];

  Vector sums[TILE] = {};
  for (int first = starts[map]; first < end; first += 256) {
    const int region = first + thread < end ? list[first + thread] : -1;
    const bool here = region >= 0 && are_near(points_of(a, region, 0), square.top) &&
                      are_near(points_of(a, region, 1), square.left);
    const unsigned ballot = __ballot_sync(ALL, here);
    if (lane == 0) votes[row] = __popc(ballot);
    __syncthreads();
    int total = 0, to = __popc(ballot & ((1u << lane) - 1));
    for (int w = 0; w < 8; w++) {
      to += w < row ? votes[w] : 0;
      total += votes[w];
    }
    if (here) near[to] = region;
    __syncthreads();

    for (int done = 0; done < total; done += together) {
      const int some = min(together, total - done);
      for (int i = thread; i < some * bins; i += 256) {
        Sum* to = shares + i * TILE;
        for (int c = 0; c < TILE; c++) to[c] = 0;
        const int edge = i % bins < height ? square.top : square.left;
        each_cell(a, near[done + i / bins], i % bins, [&](int cell, Sum share) {
          if (cell >= edge && cell < edge + TILE) to[cell - edge] = share;
        });
      }
      __syncthreads();
      for (int k = 0; k < some; k++) {
        const Storage* d_out = static_cast<const Storage*>(a.d_out) +
                               near[done + k] * a.height * a.width * a.channels + vector * VECTOR;
        gather(a, shares + k * bins * TILE, row, d_out, live, sums);
      }
      __syncthreads();
    }
  }

  const saccade_level& level = a.level[square.level];
  const int y = square.top + row;
  if (!live || y >= level.h) return;
  Storage* to = static_cast<Storage*>(level.d_map) +
                ((square.image * level.h + y) * level.w + square.left) * a.channels +
                vector * VECTOR;
#pragma unroll
  for (int x = 0; x < TILE; x++) {
    if (square.left + x < level.w) store_vector(to + x * a.channels, sums[x]);
  }
}
