// Lists of tensors cut into blocks, for loops over all of them at once.
#pragma once

#include <vector>

#include "common/simd.h"

namespace {

constexpr int64_t BLOCK = 1 << 15;  // numbers

struct Block {
  int64_t tensor, start, count;
};

inline std::vector<Block> cut(int64_t tensors, const int64_t* size) {
  std::vector<Block> blocks;
  for (int64_t t = 0; t < tensors; t++) {
    for (int64_t start = 0; start < size[t]; start += BLOCK) {
      blocks.push_back({t, start, std::min(BLOCK, size[t] - start)});
    }
  }
  return blocks;
}

}  // namespace
