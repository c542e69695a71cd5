// Focal attention of windows of WINDOW^2 tokens to KEYS rows of a list: a block for a head of a
// window and, where gradients are made, of one window after another.

constexpr int QUERIES = WINDOW * WINDOW;

#include "attention/attention.cuh"
#include "focal_attention/focal_attention.h"

// A head of a window of an image.
struct Place {
  const saccade_focal_attention& a;
  int n, window, head;
  Storage* aside;  // gradients of keys and values, [KEYS][2][heads][DEPTH]

  struct Bias {
    const Sum *bias, *mask;

    __device__ __forceinline__ Sum operator()(int key) const { return bias[key] + mask[key]; }
    __device__ __forceinline__ Pair pair(int key) const {
#if ALIGNED
      if constexpr (KEYS % 2 == 0) {
        const Pack<Sum, 2> one = load_pack<2>(bias + key), other = load_pack<2>(mask + key);
        return {one.at[0] + other.at[0], one.at[1] + other.at[1]};
      }
#endif
      return {(*this)(key), (*this)(key + 1)};
    }
  };

  __device__ __forceinline__ Bias bias(int query) const {
    return {
        static_cast<const Sum*>(a.bias) + (static_cast<int64_t>(head) * QUERIES + query) * KEYS,
        static_cast<const Sum*>(a.mask) + (window * a.masks + (a.masks == 1 ? 0 : query)) * KEYS};
  }
  __device__ __forceinline__ Sum scale() const { return 1 / sqrt(static_cast<Sum>(DEPTH)); }

  __device__ __forceinline__ const Storage* query(int token) const {
    return static_cast<const Storage*>(a.qkv) + 3 * at(token) + head * DEPTH;
  }
  __device__ __forceinline__ const Storage* key(int key) const {
    const int row = a.index[static_cast<int64_t>(window) * KEYS + key] - 1;
    const int tokens = static_cast<int>(a.h * a.w), cells = static_cast<int>(a.cells);
    if (row < 0 || row >= tokens + cells) return nullptr;
    const Storage* rows =
        row < tokens
            ? static_cast<const Storage*>(a.qkv) + static_cast<int64_t>(n) * tokens * 3 * channels()
            : static_cast<const Storage*>(a.pooled) +
                  (static_cast<int64_t>(n) * cells - tokens) * 3 * channels();
    return rows + (static_cast<int64_t>(row) * 3 + 1) * channels() + head * DEPTH;
  }
  __device__ __forceinline__ int64_t to_values() const { return channels(); }
  __device__ __forceinline__ Storage* out(int token) const {
    return static_cast<Storage*>(a.out) + at(token) + head * DEPTH;
  }
  __device__ __forceinline__ const Storage* d_out(int token) const {
    return static_cast<const Storage*>(a.d_out) + at(token) + head * DEPTH;
  }
  __device__ __forceinline__ Storage* d_query(int token) const {
    return static_cast<Storage*>(a.d_qkv) + 3 * at(token) + head * DEPTH;
  }
  __device__ __forceinline__ Storage* d_key(int key) const {
    return aside + key * 2 * channels() + head * DEPTH;
  }
  __device__ __forceinline__ int64_t to_d_values() const { return channels(); }
  __device__ __forceinline__ const Storage* anything() const {
    return static_cast<const Storage*>(a.qkv);
  }

 private:
  __device__ __forceinline__ int64_t channels() const { return a.heads * DEPTH; }

  // Returns where the channels of a token of the window start.
  __device__ __forceinline__ int64_t at(int token) const {
    const int across = static_cast<int>(a.w) / WINDOW;
    const int64_t y = window / across * WINDOW + token / WINDOW,
                  x = window % across * WINDOW + token % WINDOW;
    return ((n * a.h + y) * a.w + x) * channels();
  }
};

#if !BACKWARD

// Blocks: windows of all images, head by head.
extern "C" __global__ void __launch_bounds__(THREADS)
    focal_attention_forward(saccade_focal_attention a) {
  const int windows = static_cast<int>(a.h / WINDOW * (a.w / WINDOW)),
            all = static_cast<int>(a.n) * windows;
  const int head = blockIdx.x / all, window = blockIdx.x % all;
  const Place place = {a, window / windows, window % windows, head, nullptr};
  attend(place, shared_memory());
}

#else

// Blocks: parts of the windows of some images, head by head. Gradients of keys and
// values are put aside, [images][windows][KEYS][2][heads][DEPTH]; those of scores are added up,
// [parts][heads][KEYS][QUERIES].
extern "C" __global__ void __launch_bounds__(THREADS)
    focal_attention_backward(saccade_focal_attention a, int parts, int first, int images,
                             Storage* aside, Sum* sums) {
  const int windows = static_cast<int>(a.h / WINDOW * (a.w / WINDOW));
  const int head = static_cast<int>(blockIdx.x) / parts,
            part = static_cast<int>(blockIdx.x) % parts;
  const Range range(part, parts, images * windows);
  Sum* d_score_sums = sums + (part * a.heads + head) * KEYS * QUERIES;
  for (int window = range.start; window < range.end; window++) {
    const Place place = {a, first + window / windows, window % windows, head,
                         aside + static_cast<int64_t>(window) * KEYS * 2 * a.heads * DEPTH};
    __syncthreads();
#if TILED
    backward(place, shared_memory(), window == range.start);
#else
    backward(place, shared_memory(), d_score_sums, first == 0 && window == range.start);
#endif
  }
#if TILED
  if (range.start < range.end) put_d_score_sums(shared_memory(), d_score_sums, first == 0);
#endif
}

// Adds up, for every token and cell, what was put aside for it: the places that list it lie between
// two of starts. Blocks are over keys and values.
extern "C" __global__ void focal_attention_gather(saccade_focal_attention a, int64_t first,
                                                  int64_t images, const Storage* aside,
                                                  const int32_t* starts, const int32_t* places) {
  constexpr int PACK = ALIGNED ? 16 / sizeof(Storage) : 1;
  const int64_t channels = a.heads * DEPTH, packs = 2 * channels / PACK, tokens = a.h * a.w,
                rows = tokens + a.cells;
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i >= images * rows * packs) return;
  const int64_t image = i / packs / rows, row = i / packs % rows, channel = i % packs * PACK;
  const int64_t listed = a.h / WINDOW * (a.w / WINDOW) * KEYS;
  const Storage* from = aside + image * listed * 2 * channels + channel;
  Sum sums[PACK] = {};
#pragma unroll 4
  for (int32_t place = starts[row]; place < starts[row + 1]; place++) {
    const Pack<Storage, PACK> pack = load_pack<PACK>(from + places[place] * 2 * channels);
#pragma unroll
    for (int j = 0; j < PACK; j++) sums[j] += widen(pack.at[j]);
  }
  Pack<Storage, PACK> pack;
#pragma unroll
  for (int j = 0; j < PACK; j++) pack.at[j] = narrow(sums[j]);
  Storage* to = row < tokens ? static_cast<Storage*>(a.d_qkv) +
                                   ((first + image) * tokens + row) * 3 * channels
                             : static_cast<Storage*>(a.d_pooled) +
                                   ((first + image) * a.cells + row - tokens) * 3 * channels;
  store_pack<PACK>(to + channels + channel, pack);
  if (row >= tokens && channel < channels) store_pack<PACK>(to + channel, Pack<Storage, PACK>{});
}

// Makes the gradient of the bias of those of scores, [heads][KEYS][QUERIES].
extern "C" __global__ void focal_attention_bias(saccade_focal_attention a, const Sum* total) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i >= a.heads * QUERIES * KEYS) return;
  const int64_t head = i / (QUERIES * KEYS), query = i / KEYS % QUERIES, key = i % KEYS;
  static_cast<Sum*>(a.d_bias)[i] = total[(head * KEYS + key) * QUERIES + query];
}

#endif
