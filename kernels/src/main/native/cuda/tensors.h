// Many tensors in one launch: what is known of each is an argument of the kernel.
#pragma once

#include <stdint.h>

// Blocks of so many numbers of up to MOST tensors; the blocks of tensor t begin at first[t].
template <class T, int MOST_, int CHUNK_>
struct Tensors {
  static constexpr int MOST = MOST_, CHUNK = CHUNK_;
  T of[MOST];
  int64_t size[MOST];
  int first[MOST + 1];
  int count;
};
