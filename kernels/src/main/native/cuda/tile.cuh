// A map of rows of channels cut into tiles, each copied to shared memory with what a filter of
// KERNEL x KERNEL, 3, 5 or 7, sees around it. ALIGNED is 1 where rows of channels begin at
// multiples of 16 bytes.
#pragma once

#include "cuda/storage.cuh"

constexpr int THREADS = 256;
constexpr int REACH = KERNEL / 2;
constexpr int TAPS = KERNEL * KERNEL;
constexpr int ROWS = 8, COLUMNS = 16;  // of a tile
constexpr int PIXELS = ROWS * COLUMNS;
constexpr int CHANNELS = 32;  // worked on together
constexpr int ACCESS = 16 / sizeof(Storage);

// Each thread sums two channels of so many pixels of a row.
constexpr int RUN = 8;
constexpr int PAIRS = CHANNELS / 2;
static_assert(PIXELS / RUN * PAIRS == THREADS);

// A tile with so much around it, in shared memory: rows apart by an odd number of pixels, so that
// pixels below each other lie in different banks.
template <int AROUND, int PADDING = 0, int ACROSS = COLUMNS + 2 * AROUND>
struct Field {
  static constexpr int HEIGHT = ROWS + 2 * AROUND, WIDTH = ACROSS;
  static constexpr int PITCH = CHANNELS + PADDING;  // of pixels
  static constexpr int STRIDE = WIDTH + 1;          // of rows, in pixels
  static constexpr int BYTES = HEIGHT * STRIDE * PITCH * sizeof(Storage);

  Storage* memory;

  __device__ Storage* at(int y, int x) const { return memory + (y * STRIDE + x) * PITCH; }
};

struct Place {
  int64_t n;
  int top, left;

  __device__ Place(int64_t tile, int64_t h, int64_t w) {
    const int64_t across = (w + COLUMNS - 1) / COLUMNS, down = (h + ROWS - 1) / ROWS;
    n = tile / (across * down);
    top = static_cast<int>(tile / across % down) * ROWS;
    left = static_cast<int>(tile % across) * COLUMNS;
  }
};

// Copies some of the channels of a map around a tile, zeros where there are none; finish()
// completes it.
template <class F>
__device__ __forceinline__ void copy(const F& field, const void* map, int64_t h, int64_t w,
                                     int64_t channels, const Place& place, int64_t first, int known,
                                     int around) {
  const Storage* from = static_cast<const Storage*>(map) + place.n * h * w * channels + first;
  constexpr int EACH = ALIGNED ? ACCESS : 1, PARTS = CHANNELS / EACH;
  for (int i = threadIdx.x; i < F::HEIGHT * F::WIDTH * PARTS; i += THREADS) {
    const int part = i % PARTS, x = i / PARTS % F::WIDTH, y = i / PARTS / F::WIDTH;
    const int row = place.top + y - around, column = place.left + x - around;
    const bool there = row >= 0 && row < h && column >= 0 && column < w && part * EACH < known;
    const Storage* source = from + (there ? (row * w + column) * channels + part * EACH : 0);
    Storage* to = field.at(y, x) + part * EACH;
    if constexpr (ALIGNED) {
      copy_async(to, source, there);
    } else {
      *to = there ? *source : Storage{};
    }
  }
}

__device__ __forceinline__ void finish() {
  if constexpr (ALIGNED) {
    commit_copies();
    wait_copies();
  }
}

// Which pair of channels and which run of pixels a thread sums: the halves of a warp are so many
// rows apart, 1 or 4, that they read from different banks.
template <int SPACING = 1>
struct Share {
  int channel, y, x;

  __device__ explicit Share(int thread) : channel(thread % PAIRS * 2) {
    const int run = thread / PAIRS;
    y = run % 2 * SPACING + run / 4 * (SPACING == 1 ? 2 : 1);
    x = run / 2 % 2 * RUN;
  }
};

// Writes what a thread has summed, for those of its channels and pixels that are there.
template <class S>
__device__ __forceinline__ void write_run(void* map, int64_t h, int64_t w, int64_t channels,
                                          const Place& place, const S& share, int64_t first,
                                          int known, const Pair (&sums)[RUN]) {
  const int row = place.top + share.y;
  if (row >= h || share.channel >= known) return;
  Storage* to = static_cast<Storage*>(map) +
                ((place.n * h + row) * w + place.left + share.x) * channels + first + share.channel;
#pragma unroll
  for (int i = 0; i < RUN; i++, to += channels) {
    if (place.left + share.x + i >= w) return;
    if constexpr (ALIGNED) {
      store_pair(to, sums[i]);
    } else {
      to[0] = narrow(sums[i].x);
      if (share.channel + 1 < known) to[1] = narrow(sums[i].y);
    }
  }
}
