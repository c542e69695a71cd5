// Neighbouring channels in one thread: VECTOR of them, read and written at once, summed wide.
#pragma once

#include "cuda/storage.cuh"

struct Vector {
  Sum at[VECTOR];
};

__device__ __forceinline__ Vector widen(const Pack<Storage, VECTOR>& pack) {
  Vector v;
#pragma unroll
  for (int i = 0; i < VECTOR; i++) v.at[i] = widen(pack.at[i]);
  return v;
}

__device__ __forceinline__ Vector load_vector(const Storage* from) {
  return widen(load_pack<VECTOR>(from));
}

// Of numbers that are stored wide, 16 bytes at a time at most.
constexpr int SUMS_AT_ONCE = VECTOR * sizeof(Sum) > 16 ? 16 / sizeof(Sum) : VECTOR;

__device__ __forceinline__ Vector load_vector_of_sums(const Sum* from) {
  Vector v;
#pragma unroll
  for (int i = 0; i < VECTOR; i += SUMS_AT_ONCE) {
    const Pack<Sum, SUMS_AT_ONCE> pack = load_pack<SUMS_AT_ONCE>(from + i);
#pragma unroll
    for (int j = 0; j < SUMS_AT_ONCE; j++) v.at[i + j] = pack.at[j];
  }
  return v;
}

__device__ __forceinline__ void store_vector_of_sums(Sum* to, const Vector& v) {
#pragma unroll
  for (int i = 0; i < VECTOR; i += SUMS_AT_ONCE) {
    Pack<Sum, SUMS_AT_ONCE> pack;
#pragma unroll
    for (int j = 0; j < SUMS_AT_ONCE; j++) pack.at[j] = v.at[i + j];
    store_pack<SUMS_AT_ONCE>(to + i, pack);
  }
}

__device__ __forceinline__ void store_vector(Storage* to, const Vector& v) {
  Pack<Storage, VECTOR> pack;
#pragma unroll
  for (int i = 0; i < VECTOR; i++) pack.at[i] = narrow(v.at[i]);
  store_pack<VECTOR>(to, pack);
}

// sums += weight v
__device__ __forceinline__ void add(Vector& sums, Sum weight, const Vector& v) {
#pragma unroll
  for (int i = 0; i < VECTOR; i++) sums.at[i] += weight * v.at[i];
}
