// The mean of the tokens of an image by what is salient to a head, on a GPU. A block takes a part
// of the tokens and HEADS of the heads: GROUP lanes work out the logits of a token, then each
// thread sums a vector of channels over some of the tokens. Parts are added up in their order.

#include "cuda/vector.cuh"
#include "key_only_attention/salient_mean.h"

namespace {

constexpr int THREADS = 256;
constexpr int BLOCKS = sizeof(Sum) == 8 || HEADS > 4 ? 1 : 2;  // of a multiprocessor, at least
constexpr int PART = 128;                                      // tokens

// The sum over the lanes of a group.
__device__ Sum sum_group(Sum x) {
#pragma unroll
  for (int step = GROUP / 2; step > 0; step /= 2) x += __shfl_xor_sync(ALL, x, step);
  return x;
}

__device__ Sum dot(const Vector& a, const Vector& b) {
  Sum sum = 0;
#pragma unroll
  for (int i = 0; i < VECTOR; i++) sum += a.at[i] * b.at[i];
  return sum;
}

// Part of the tokens of an image.
struct Part {
  int image, part, first, count, channels;
  const Storage* x;

  __device__ Part(const saccade_salient_mean& a, int parts)
      : image(blockIdx.x / parts),
        part(blockIdx.x % parts),
        first(part * PART),
        count(min(PART, static_cast<int>(a.tokens) - first)),
        channels(static_cast<int>(a.channels)),
        x(static_cast<const Storage*>(a.x) + offset(a)) {}

  __device__ int64_t offset(const saccade_salient_mean& a) const {
    return (image * a.tokens + first) * a.channels;
  }

  // The products of every token with rows of numbers: out[row, token].
  template <int ROWS>
  __device__ void products(const Sum* rows, Sum* out) const {
    const int lane = threadIdx.x % GROUP;
    for (int base = 0; base < PART; base += THREADS / GROUP) {
      const int token = base + threadIdx.x / GROUP;
      Sum sums[ROWS] = {};
      for (int c = lane * VECTOR; token < count && c < channels; c += GROUP * VECTOR) {
        const Vector v = load_vector(x + static_cast<int64_t>(token) * channels + c);
#pragma unroll
        for (int row = 0; row < ROWS; row++)
          sums[row] += dot(v, load_vector_of_sums(rows + row * channels + c));
      }
#pragma unroll
      for (int row = 0; row < ROWS; row++) {
        const Sum sum = sum_group(sums[row]);
        if (lane == 0 && token < count) out[row * PART + token] = sum;
      }
    }
  }

  // Calls f(vector, c, lane) for every vector of channels in as many threads as there is room for;
  // then adds up what they have summed, and writes it to to[head, c].
  template <class F>
  __device__ void each_vector(Sum* spare, Sum* to, F f) const {
    const int vectors = channels / VECTOR, across = min(vectors, THREADS),
              groups = THREADS / across;
    const int group = threadIdx.x / across;
    for (int base = 0; base < vectors; base += across) {
      const int c = (base + threadIdx.x % across) * VECTOR;
      const bool here = group < groups && c < channels;
      Vector sums[HEADS] = {};
      if (here) {
        for (int token = group; token < count; token += groups) f(token, c, sums);
      }
#pragma unroll
      for (int head = 0; head < HEADS; head++) {
        __syncthreads();
        if (here) {
#pragma unroll
          for (int i = 0; i < VECTOR; i++)
            spare[(group * across + threadIdx.x % across) * VECTOR + i] = sums[head].at[i];
        }
        __syncthreads();
        for (int i = threadIdx.x; i < across * VECTOR && base * VECTOR + i < channels;
             i += THREADS) {
          Sum total = 0;
          for (int g = 0; g < groups; g++) total += spare[g * across * VECTOR + i];
          to[head * channels + base * VECTOR + i] = total;
        }
      }
    }
  }
};

// Rows of numbers that all threads read.
__device__ void copy_rows(const void* from, int count, Sum* to) {
  for (int i = threadIdx.x; i < count; i += THREADS) to[i] = static_cast<const Sum*>(from)[i];
}

}  // namespace

// sums: [n, parts, HEADS, channels] and highs and totals [n, parts, HEADS] of the heads from first
// on.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    salient_mean_forward(saccade_salient_mean a, int first, int parts, Sum* sums, Sum* highs,
                         Sum* totals) {
  const Part part(a, parts);
  Sum* saliency = reinterpret_cast<Sum*>(shared_memory());  // [HEADS, channels]
  Sum* weights = saliency + HEADS * part.channels;          // [HEADS, PART]
  Sum* spare = weights + HEADS * PART;                      // [THREADS * VECTOR]
  copy_rows(static_cast<const Sum*>(a.saliency) + first * a.channels, HEADS * part.channels,
            saliency);
  __syncthreads();
  part.products<HEADS>(saliency, weights);
  __syncthreads();
  for (int head = threadIdx.x / WARP; head < HEADS; head += THREADS / WARP) {
    Sum* w = weights + head * PART;
    Sum high = w[0], total = 0;
    for (int i = threadIdx.x % WARP; i < part.count; i += WARP) high = w[i] > high ? w[i] : high;
    high = warp_largest(high);
    for (int i = threadIdx.x % WARP; i < part.count; i += WARP) {
      w[i] = exponential(w[i] - high);
      total += w[i];
    }
    total = warp_sum(total);
    if (threadIdx.x % WARP == 0) {
      highs[blockIdx.x * HEADS + head] = high;
      totals[blockIdx.x * HEADS + head] = total;
    }
  }
  __syncthreads();
  part.each_vector(spare, sums + static_cast<int64_t>(blockIdx.x) * HEADS * part.channels,
                   [&](int token, int c, Vector* sums) {
                     const Vector v =
                         load_vector(part.x + static_cast<int64_t>(token) * part.channels + c);
#pragma unroll
                     for (int head = 0; head < HEADS; head++)
                       add(sums[head], weights[head * PART + token], v);
                   });
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    salient_mean_backward(saccade_salient_mean a, int first, int parts, Sum* sums) {
  const Part part(a, parts);
  const int size = HEADS * part.channels;
  Sum* saliency = reinterpret_cast<Sum*>(shared_memory());  // [HEADS, channels]
  Sum* d_mean = saliency + size;                            // the same
  Sum* weights = d_mean + size;                             // [HEADS, PART]
  Sum* d_logits = weights + HEADS * PART;                   // the same
  Sum* spare = d_logits + HEADS * PART;                     // [THREADS * VECTOR]
  __shared__ Sum of_means[HEADS];
  const int64_t heads = part.image * a.heads + first;
  copy_rows(static_cast<const Sum*>(a.saliency) + first * a.channels, size, saliency);
  copy_rows(static_cast<const Sum*>(a.d_mean) + heads * a.channels, size, d_mean);
  __syncthreads();
  for (int head = threadIdx.x / WARP; head < HEADS; head += THREADS / WARP) {
    const Sum* mean = static_cast<const Sum*>(a.mean) + (heads + head) * a.channels;
    Sum sum = 0;
    for (int c = threadIdx.x % WARP; c < part.channels; c += WARP)
      sum += mean[c] * d_mean[head * part.channels + c];
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) of_means[head] = sum;
  }
  constexpr int ROWS = HEADS > 4 ? HEADS : 2 * HEADS;  // at once
  for (int row = 0; row < 2 * HEADS; row += ROWS) {
    part.products<ROWS>(saliency + row * part.channels, weights + row * PART);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < HEADS * PART; i += THREADS) {
    const int head = i / PART;
    if (i % PART >= part.count) continue;
    weights[i] = exponential(weights[i] - static_cast<const Sum*>(a.level)[heads + head]);
    d_logits[i] = weights[i] * (d_logits[i] - of_means[head]);
  }
  __syncthreads();
  Storage* d_x = static_cast<Storage*>(a.d_x) + part.offset(a);
  part.each_vector(
      spare, sums + static_cast<int64_t>(blockIdx.x) * size, [&](int token, int c, Vector* sums) {
        const int64_t at = static_cast<int64_t>(token) * part.channels + c;
        const Vector v = load_vector(part.x + at);
        Vector d = load_vector(d_x + at);
#pragma unroll
        for (int head = 0; head < HEADS; head++) {
          const Sum weight = weights[head * PART + token], d_logit = d_logits[head * PART + token];
          add(sums[head], d_logit, v);
          add(d, d_logit, load_vector_of_sums(saliency + head * part.channels + c));
          add(d, weight, load_vector_of_sums(d_mean + head * part.channels + c));
        }
        store_vector(d_x + at, d);
      });
}

namespace {

// The sum over the parts of an image of share(part) sums[part, head, c], for 32 channels of a block
// of 8 warps; in the first warp.
template <class F>
__device__ Sum add_parts(const Sum* sums, int parts, int channels, int head, int c, F share) {
  __shared__ Sum of_warps[8][WARP];
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  Sum total = 0;
  for (int part = warp; c < channels && part < parts; part += 8) {
    total += share(part) * sums[(static_cast<int64_t>(part) * HEADS + head) * channels + c];
  }
  of_warps[warp][lane] = total;
  __syncthreads();
  total = 0;
  for (int w = 0; w < 8; w++) total += of_warps[w][lane];
  return total;
}

// What a block that adds up parts works on: an image, one of its heads, and 32 channels.
struct Sums {
  int channels, blocks, c, head, image;

  __device__ explicit Sums(const saccade_salient_mean& a)
      : channels(static_cast<int>(a.channels)),
        blocks((channels + WARP - 1) / WARP),
        c(blockIdx.x % blocks * WARP + threadIdx.x % WARP),
        head(blockIdx.x / blocks % HEADS),
        image(blockIdx.x / blocks / HEADS) {}
};

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    salient_mean_merge(saccade_salient_mean a, int first, int parts, const Sum* sums,
                       const Sum* highs, const Sum* totals) {
  const Sums s(a);
  const int64_t offset = static_cast<int64_t>(s.image) * parts * HEADS;
  Sum high = highs[offset + s.head], total = 0;
  for (int part = threadIdx.x % WARP; part < parts; part += WARP) {
    const Sum other = highs[offset + part * HEADS + s.head];
    high = other > high ? other : high;
  }
  high = warp_largest(high);
  for (int part = threadIdx.x % WARP; part < parts; part += WARP) {
    total += exponential(highs[offset + part * HEADS + s.head] - high) *
             totals[offset + part * HEADS + s.head];
  }
  total = warp_sum(total);
  const Sum sum = add_parts(
      sums + offset * s.channels, parts, s.channels, s.head, s.c,
      [&](int part) { return exponential(highs[offset + part * HEADS + s.head] - high); });
  const int64_t to = s.image * a.heads + first + s.head;
  if (threadIdx.x < WARP && s.c < s.channels)
    static_cast<Sum*>(a.mean)[to * s.channels + s.c] = sum / total;
  if (threadIdx.x == 0 && s.c == 0) static_cast<Sum*>(a.level)[to] = high + log(total);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    salient_mean_saliency(saccade_salient_mean a, int first, int parts, const Sum* sums) {
  const Sums s(a);
  const int64_t offset = static_cast<int64_t>(s.image) * parts * HEADS;
  const Sum sum = add_parts(sums + offset * s.channels, parts, s.channels, s.head, s.c,
                            [](int) { return Sum(1); });
  const int64_t to = s.image * a.heads + first + s.head;
  if (threadIdx.x < WARP && s.c < s.channels)
    static_cast<Sum*>(a.d_saliency)[to * s.channels + s.c] = sum;
}
