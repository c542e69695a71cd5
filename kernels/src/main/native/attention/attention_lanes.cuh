// Attention of QUERIES tokens to KEYS others for a place: a head of a window, which knows where
// rows of DEPTH channels lie, and what is added to scores. A query, or a key, is of one or more
// lanes of a warp.
#pragma once

#include "cuda/storage.cuh"

constexpr int LANES = SIZES.lanes();
constexpr int CHANNELS = SIZES.channels();
constexpr int CHUNK = SIZES.chunk();
constexpr int AT_ONCE = THREADS / LANES;  // queries or keys that a block works on at once
constexpr Sum ABSENT = -1e30f;

// Numbers that are read from memory at once.
constexpr int PACK = ALIGNED && DEPTH == LANES * CHANNELS && CHANNELS * sizeof(Storage) % 16 == 0
                         ? 16 / sizeof(Storage)
                         : 1;

__device__ __forceinline__ int lane() { return threadIdx.x % LANES; }

// The channels of a row that are a lane's.
struct Channels {
  Sum at[CHANNELS] = {};

  // Reads them; where there is no row, they are zeros.
  __device__ __forceinline__ Channels(const Storage* row, Sum factor) {
    if (row == nullptr) return;
#pragma unroll
    for (int i = 0; i < CHANNELS; i += PACK) {
      const int channel = lane() * CHANNELS + i;
      if (PACK == 1 && channel >= DEPTH) continue;
      const Pack<Storage, PACK> pack = load_pack<PACK>(row + channel);
#pragma unroll
      for (int j = 0; j < PACK; j++) at[i + j] = widen(pack.at[j]) * factor;
    }
  }

  __device__ __forceinline__ Channels() {}

  // Writes them times a factor, if there is a row.
  __device__ __forceinline__ void put(Storage* row, Sum factor) const {
    if (row == nullptr) return;
#pragma unroll
    for (int i = 0; i < CHANNELS; i += PACK) {
      const int channel = lane() * CHANNELS + i;
      if (PACK == 1 && channel >= DEPTH) continue;
      Pack<Storage, PACK> pack;
#pragma unroll
      for (int j = 0; j < PACK; j++) pack.at[j] = narrow(at[i + j] * factor);
      store_pack<PACK>(row + channel, pack);
    }
  }
};

// Two rows of each of some tokens, in shared memory.
struct Chunk {
  Sum* rows;  // [CHUNK][2][LANES][CHANNELS]

  // Reads rows from one on, up to the end; all threads of a block together.
  template <class First, class Second>
  __device__ __forceinline__ void fill(int from, int end, First first, Second second) const {
    __syncthreads();
    for (int row = threadIdx.x / LANES; row < CHUNK && from + row < end; row += AT_ONCE) {
      put(2 * row, first(from + row));
      put(2 * row + 1, second(from + row));
    }
    __syncthreads();
  }

  // Returns the product of a row with another.
  __device__ __forceinline__ Sum product(int row, int which, const Channels& other) const {
    const Sum* from = of(2 * row + which);
    Sum sum = 0;
#pragma unroll
    for (int i = 0; i < CHANNELS; i++) sum += from[i] * other.at[i];
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) sum += __shfl_xor_sync(ALL, sum, step);
    return sum;
  }

  // Adds a row, times a factor.
  __device__ __forceinline__ void add(int row, int which, Sum factor, Channels& to) const {
    const Sum* from = of(2 * row + which);
#pragma unroll
    for (int i = 0; i < CHANNELS; i++) to.at[i] += factor * from[i];
  }

 private:
  __device__ __forceinline__ Sum* of(int row) const {
    return rows + (row * LANES + lane()) * CHANNELS;
  }

  __device__ __forceinline__ void put(int row, const Channels& channels) const {
#pragma unroll
    for (int i = 0; i < CHANNELS; i++) of(row)[i] = channels.at[i];
  }
};

// Calls f with the rows of a chunk and their keys, for all keys.
template <class Place, class F>
__device__ __forceinline__ void for_keys(const Place& place, const Chunk& chunk, F f) {
  for (int from = 0; from < KEYS; from += CHUNK) {
    chunk.fill(
        from, KEYS, [&](int key) { return Channels(place.key(key), 1); },
        [&](int key) {
          const Storage* row = place.key(key);
          return Channels(row == nullptr ? nullptr : row + place.to_values(), 1);
        });
    for (int row = 0; row < CHUNK && from + row < KEYS; row++) f(row, from + row);
  }
}

template <class Place>
__device__ __forceinline__ void attend(const Place& place, unsigned char* memory) {
  const Chunk chunk = {reinterpret_cast<Sum*>(memory)};
  for (int first = 0; first < QUERIES; first += AT_ONCE) {
    const int query = first + threadIdx.x / LANES;
    const bool there = query < QUERIES;
    const auto bias = place.bias(there ? query : 0);
    const Channels q(there ? place.query(query) : nullptr, place.scale());
    Channels out;
    Sum high = ABSENT, total = 0;
    for_keys(place, chunk, [&](int row, int key) {
      const Sum score = chunk.product(row, 0, q) + bias(key);
      if (score > high) {
        const Sum share = exponential(high - score);
        high = score;
        total *= share;
#pragma unroll
        for (int i = 0; i < CHANNELS; i++) out.at[i] *= share;
      }
      const Sum weight = exponential(score - high);
      total += weight;
      chunk.add(row, 1, weight, out);
    });
    out.put(there ? place.out(query) : nullptr, 1 / total);
  }
}

// Makes all gradients of a place; those of scores it adds to those of others, [KEYS][QUERIES].
template <class Place>
__device__ __forceinline__ void backward(const Place& place, unsigned char* memory,
                                         Sum* d_score_sums, bool fresh) {
  const Chunk chunk = {reinterpret_cast<Sum*>(memory)};
  Sum* logs = chunk.rows + 2 * CHUNK * LANES * CHANNELS;  // of the sums of weights of each query
  Sum* means = logs + QUERIES;                            // of gradients of weights
  for (int first = 0; first < QUERIES; first += AT_ONCE) {
    const int query = first + threadIdx.x / LANES;
    const bool there = query < QUERIES;
    const auto bias = place.bias(there ? query : 0);
    const Channels q(there ? place.query(query) : nullptr, place.scale());
    const Channels d_out(there ? place.d_out(query) : nullptr, 1);
    Sum high = ABSENT, total = 0, product = 0;
    for_keys(place, chunk, [&](int row, int key) {
      const Sum score = chunk.product(row, 0, q) + bias(key);
      const Sum d_weight = chunk.product(row, 1, d_out);
      const Sum top = score > high ? score : high;
      const Sum share = exponential(high - top), weight = exponential(score - top);
      high = top;
      total = total * share + weight;
      product = product * share + weight * d_weight;
    });
    const Sum factor = 1 / total, mean = product * factor;
    Channels d_query;
    for_keys(place, chunk, [&](int row, int key) {
      const Sum weight = exponential(chunk.product(row, 0, q) + bias(key) - high) * factor;
      const Sum d_score = weight * (chunk.product(row, 1, d_out) - mean);
      chunk.add(row, 0, d_score, d_query);
      if (there && lane() == 0) {
        Sum* to = d_score_sums + static_cast<int64_t>(key) * QUERIES + query;
        *to = fresh ? d_score : *to + d_score;
      }
    });
    d_query.put(there ? place.d_query(query) : nullptr, place.scale());
    if (there && lane() == 0) {
      logs[query] = high - log(factor);
      means[query] = mean;
    }
  }
  for (int first = 0; first < KEYS; first += AT_ONCE) {
    const int key = first + threadIdx.x / LANES;
    const bool there = key < KEYS;
    const Storage* row_of_key = there ? place.key(key) : nullptr;
    const Channels k(row_of_key, 1),
        v(row_of_key == nullptr ? nullptr : row_of_key + place.to_values(), 1);
    Channels d_key, d_value;
    for (int from = 0; from < QUERIES; from += CHUNK) {
      chunk.fill(
          from, QUERIES, [&](int query) { return Channels(place.query(query), place.scale()); },
          [&](int query) { return Channels(place.d_out(query), 1); });
      for (int row = 0; row < CHUNK && from + row < QUERIES; row++) {
        const int query = from + row;
        const Sum score = chunk.product(row, 0, k) + place.bias(query)(there ? key : 0);
        const Sum weight = exponential(score - logs[query]);
        chunk.add(row, 1, weight, d_value);
        chunk.add(row, 0, weight * (chunk.product(row, 1, v) - means[query]), d_key);
      }
    }
    Storage* to = there ? place.d_key(key) : nullptr;
    d_key.put(to, 1);
    d_value.put(to == nullptr ? nullptr : to + place.to_d_values(), 1);
  }
}
