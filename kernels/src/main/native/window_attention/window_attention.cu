// Attention within windows of WINDOW_ROWS by WINDOW_COLUMNS tokens, with a table of SIDE^2 biases,
// 0 for none: a block for a head of a window and, where gradients are made, of one window after
// another.

constexpr int QUERIES = WINDOW_ROWS * WINDOW_COLUMNS;
constexpr int KEYS = QUERIES;

#include "attention/attention.cuh"
#include "window_attention/window_attention.h"

constexpr int UNSEEN = -100;  // on the scores of keys from the other side of the map

// A token of a window.
struct Token {
  int pixel;   // where it is in its image, or -1 for padding
  int place;   // in the square of the table
  int region;  // tokens of one see each other
};

// A head of a window.
struct Place {
  const saccade_window_attention& a;
  const Token* tokens;
  const Sum* table;
  Storage* padded;  // gradients of padded tokens, [QUERIES][3][heads][DEPTH]
  int head, image;

  struct Bias {
    const Place& of;
    int place, region;  // of a query

    __device__ __forceinline__ Sum operator()(int key) const {
      const Token& other = of.tokens[key];
      const Sum bias = SIDE == 0 ? Sum(0) : of.table[place - other.place + SIDE * SIDE / 2];
      return region == other.region ? bias : bias + UNSEEN;
    }
    __device__ __forceinline__ Pair pair(int key) const { return {(*this)(key), (*this)(key + 1)}; }
  };

  __device__ __forceinline__ Bias bias(int query) const {
    return {*this, tokens[query].place, tokens[query].region};
  }
  __device__ __forceinline__ Sum scale() const { return static_cast<Sum>(a.scale); }
  __device__ __forceinline__ int64_t channels() const { return a.heads * DEPTH; }

  __device__ __forceinline__ const Storage* query(int token) const {
    return packed(token, a.queries);
  }
  __device__ __forceinline__ const Storage* key(int token) const { return packed(token, a.keys); }
  __device__ __forceinline__ int64_t to_values() const { return (a.values - a.keys) * channels(); }
  __device__ __forceinline__ Storage* out(int token) const {
    return map(static_cast<Storage*>(a.out), token);
  }
  __device__ __forceinline__ const Storage* d_out(int token) const {
    return map(static_cast<const Storage*>(a.d_out), token);
  }
  __device__ __forceinline__ Storage* d_query(int token) const {
    return d_packed(token, a.queries);
  }
  __device__ __forceinline__ Storage* d_key(int token) const { return d_packed(token, a.keys); }
  __device__ __forceinline__ int64_t to_d_values() const { return to_values(); }
  __device__ __forceinline__ const Storage* anything() const {
    return static_cast<const Storage*>(a.packed);
  }

 private:
  __device__ __forceinline__ int64_t pixel(int token) const {
    return image * a.h * a.w + tokens[token].pixel;
  }

  __device__ __forceinline__ const Storage* packed(int token, int64_t third) const {
    const int64_t channel = third * channels() + head * DEPTH;
    return tokens[token].pixel < 0
               ? static_cast<const Storage*>(a.padding) + channel
               : static_cast<const Storage*>(a.packed) + pixel(token) * 3 * channels() + channel;
  }

  __device__ __forceinline__ Storage* d_packed(int token, int64_t third) const {
    const int64_t channel = third * channels() + head * DEPTH;
    return tokens[token].pixel < 0
               ? padded + token * 3 * channels() + channel
               : static_cast<Storage*>(a.d_packed) + pixel(token) * 3 * channels() + channel;
  }

  template <class T>
  __device__ __forceinline__ T* map(T* first, int token) const {
    return tokens[token].pixel < 0 ? nullptr : first + pixel(token) * channels() + head * DEPTH;
  }
};

__device__ __forceinline__ int windows_down(const saccade_window_attention& a) {
  return static_cast<int>(a.h + WINDOW_ROWS - 1) / WINDOW_ROWS;
}

__device__ __forceinline__ int windows_across(const saccade_window_attention& a) {
  return static_cast<int>(a.w + WINDOW_COLUMNS - 1) / WINDOW_COLUMNS;
}

// Returns where a row or column of the padded and rolled map comes from, or -1 for padding.
__device__ __forceinline__ int source(const saccade_window_attention& a, int i, int size,
                                      int padded, int shift) {
  if (a.pads_first) i = (i + shift) % padded;
  if (i >= size) return -1;
  return a.pads_first ? i : (i + shift) % size;
}

// Finds the tokens of a window of an image.
__device__ __forceinline__ void locate(const saccade_window_attention& a, int window,
                                       Token* tokens) {
  const int height = windows_down(a) * WINDOW_ROWS;
  const int width = windows_across(a) * WINDOW_COLUMNS;
  for (int token = threadIdx.x; token < QUERIES; token += THREADS) {
    const int y = window / windows_across(a) * WINDOW_ROWS + token / WINDOW_COLUMNS;
    const int x = window % windows_across(a) * WINDOW_COLUMNS + token % WINDOW_COLUMNS;
    const int row = source(a, y, static_cast<int>(a.h), height, static_cast<int>(a.down));
    const int column = source(a, x, static_cast<int>(a.w), width, static_cast<int>(a.right));
    tokens[token] = {row < 0 || column < 0 ? -1 : row * static_cast<int>(a.w) + column,
                     token / WINDOW_COLUMNS * SIDE + token % WINDOW_COLUMNS,
                     2 * (y >= height - a.down) + (x >= width - a.right)};
  }
}

// What a block has in shared memory beside what attention needs.
struct Memory {
  Token* tokens = reinterpret_cast<Token*>(shared_memory() + MEMORY);
  Sum* table =
      reinterpret_cast<Sum*>(shared_memory() + MEMORY + SIZES.up(QUERIES * sizeof(Token), 16));

  __device__ __forceinline__ void read_table(const saccade_window_attention& a, int head) const {
    for (int i = threadIdx.x; i < SIDE * SIDE; i += THREADS) {
      table[i] = static_cast<const Sum*>(a.table)[i * a.heads + head];
    }
  }
};

#if !BACKWARD

// Blocks: windows of all images, head by head.
extern "C" __global__ void __launch_bounds__(THREADS)
    window_attention_forward(saccade_window_attention a) {
  const Memory memory;
  const int windows = windows_down(a) * windows_across(a), all = static_cast<int>(a.n) * windows;
  const int head = blockIdx.x / all, window = blockIdx.x % all;
  locate(a, window % windows, memory.tokens);
  memory.read_table(a, head);
  __syncthreads();
  const Place place = {a, memory.tokens, memory.table, nullptr, head, window / windows};
  attend(place, shared_memory());
}

#else

// Blocks: parts of the windows of all images, head by head. The gradients of scores of a part,
// [heads][KEYS][QUERIES], and of padded tokens, [3][heads][DEPTH], is a row of sums.
extern "C" __global__ void __launch_bounds__(THREADS, THREADS < 512 ? 512 / THREADS : 1)
    window_attention_backward(saccade_window_attention a, int parts, Sum* sums, Storage* padded) {
  const Memory memory;
  const int windows = windows_down(a) * windows_across(a);
  const int head = static_cast<int>(blockIdx.x) / parts,
            part = static_cast<int>(blockIdx.x) % parts;
  const Range range(part, parts, static_cast<int>(a.n) * windows);
  const int64_t channels = a.heads * DEPTH, pairs = a.heads * KEYS * QUERIES;
  Sum* d_score_sums =
      sums + static_cast<int64_t>(part) * (pairs + 3 * channels) + head * KEYS * QUERIES;
  Sum* d_padding =
      sums + static_cast<int64_t>(part) * (pairs + 3 * channels) + pairs + head * DEPTH;
  padded += static_cast<int64_t>(part) * QUERIES * 3 * channels;
  memory.read_table(a, head);
  for (int window = range.start; window < range.end; window++) {
    __syncthreads();
    locate(a, window % windows, memory.tokens);
    __syncthreads();
    const Place place = {a, memory.tokens, memory.table, padded, head, window / windows};
#if TILED
    backward(place, shared_memory(), window == range.start);
#else
    backward(place, shared_memory(), d_score_sums, window == range.start);
#endif
    __syncthreads();
    for (int c = threadIdx.x; c < 3 * DEPTH; c += THREADS) {
      const int64_t channel = c / DEPTH * channels + c % DEPTH;
      Sum sum = window == range.start ? Sum(0) : d_padding[channel];
      for (int token = 0; token < QUERIES; token++) {
        if (memory.tokens[token].pixel < 0)
          sum += widen(padded[token * 3 * channels + head * DEPTH + channel]);
      }
      d_padding[channel] = sum;
    }
  }
#if TILED
  put_d_score_sums(shared_memory(), d_score_sums, true);
#endif
}

// Makes the gradients of table and padding of the sums of all parts.
extern "C" __global__ void window_attention_parameters(saccade_window_attention a,
                                                       const Sum* total) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  const int64_t pairs = a.heads * KEYS * QUERIES;
  if (i < 3 * a.heads * DEPTH) static_cast<Sum*>(a.d_padding)[i] = total[pairs + i];
  if (a.d_table == nullptr || i >= SIDE * SIDE * a.heads) return;
  const int place = static_cast<int>(i / a.heads);
  const int down = place / (SIDE > 0 ? SIDE : 1) - SIDE / 2,
            right = place % (SIDE > 0 ? SIDE : 1) - SIDE / 2;
  const Sum* of = total + i % a.heads * KEYS * QUERIES;
  Sum sum = 0;
  for (int y = down > 0 ? down : 0; y < WINDOW_ROWS && y - down < WINDOW_ROWS; y++) {
    for (int x = right > 0 ? right : 0; x < WINDOW_COLUMNS && x - right < WINDOW_COLUMNS; x++) {
      sum += of[((y - down) * WINDOW_COLUMNS + x - right) * QUERIES + y * WINDOW_COLUMNS + x];
    }
  }
  static_cast<Sum*>(a.d_table)[i] = sum;
}

#endif
