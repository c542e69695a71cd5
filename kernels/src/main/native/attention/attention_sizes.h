// What a block of threads needs to attend from some queries to some keys: for those who launch
// kernels, and for the kernels.
#pragma once

struct AttentionSizes {
  int queries, keys, depth;
  int bytes, sum_bytes;  // of a stored number, and of a sum
  bool backward;

  static constexpr int up(int x, int to) { return (x + to - 1) / to * to; }

  // On tensor cores: a warp for 16 queries and, backward, a part of the keys, up to 7 eights of
  // them.
  constexpr int rows() const { return up(queries, 16); }
  constexpr int eights() const { return (keys + 7) / 8; }
  constexpr int parts() const { return (eights() + 6) / 7; }
  constexpr int part() const { return (eights() + parts() - 1) / parts(); }  // eights of it
  constexpr int columns() const { return up(backward ? 8 * part() * parts() : keys, 16); }
  constexpr int width() const {
    return up(depth, 16) + 8;
  }  // of a row of channels; no two of 8 share a bank
  constexpr int breadth() const { return columns() + 8; }  // of a row of keys
  constexpr int warps() const {
    return backward ? rows() / 16 * parts() : rows() / 16 < 16 ? rows() / 16 : 16;
  }
  constexpr int tile_memory() const {
    return backward ? bytes * 2 * (width() * (rows() + columns()) + breadth() * rows()) +
                          12 * parts() * rows() + 512 * part() * warps()
                    : bytes * width() * (rows() + 2 * columns());
  }
  constexpr bool is_tiled() const {
    return bytes == 2 && depth % 8 == 0 && depth <= 128 && keys > 1 && warps() <= 16;
  }

  // By lanes: some of a warp for a query or a key, each of up to 16 channels, or 8 where sums are
  // double.
  constexpr int lanes() const {
    int lanes = 1;
    while (lanes < 32 && depth * sum_bytes > lanes * 64) lanes *= 2;
    return lanes;
  }
  constexpr int channels() const { return (depth + lanes() - 1) / lanes(); }
  constexpr int chunk() const {  // tokens of which rows are in shared memory
    const int most = 12 * 1024 / (sum_bytes * lanes() * channels());
    return most > 64 ? 64 : most > 1 ? most : 1;
  }
  constexpr int lane_threads() const {
    const int all = up((backward && keys > queries ? keys : queries) * lanes(), 32);
    return all < 256 ? all : 256;
  }
  constexpr int lane_memory() const {
    return sum_bytes * (2 * chunk() * lanes() * channels() + (backward ? 2 * queries : 0));
  }

  constexpr int threads(bool tiled) const { return tiled ? 32 * warps() : lane_threads(); }
  constexpr int memory(bool tiled) const { return up(tiled ? tile_memory() : lane_memory(), 16); }
};
