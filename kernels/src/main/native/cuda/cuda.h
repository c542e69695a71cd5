// Kernels for GPUs: compiled when they are first used, for the GPU at hand, and kept on disk.
#pragma once

#include <string>

#include "common/saccade.h"

namespace saccade::cuda {

// The texts of src/main/cuda and saccade.h, in the library; ends with a name that is null.
struct Source {
  const char* name;
  const char* text;
};
extern const Source SOURCES[];

struct Kernel {
  const char* source;   // NAME.cu
  const char* name;     // of a function in it that is extern "C"
  std::string options;  // what the source is compiled with, "-DNAME=VALUE -DNAME=VALUE"
};

struct Grid {
  int64_t blocks;      // along x
  int threads;         // of a block, along x
  int64_t shared = 0;  // bytes of shared memory of a block, beside what the kernel declares
};

// Starts a kernel with the addresses of its arguments. Returns 0, or a negative number and says why
// in error().
int launch(const saccade_cuda& cuda, const Kernel& kernel, const Grid& grid, void** arguments);

template <class... A>
int launch(const saccade_cuda& cuda, const Kernel& kernel, const Grid& grid, A... arguments) {
  void* addresses[] = {&arguments...};
  return launch(cuda, kernel, grid, static_cast<void**>(addresses));
}

// Fills memory of the GPU with zeros, in the stream.
int zero(const saccade_cuda& cuda, void* to, int64_t bytes);

// Copies between the GPU and this memory; waits for what is in the stream.
int read(const saccade_cuda& cuda, void* to, const void* from, int64_t bytes);
int write(const saccade_cuda& cuda, void* to, const void* from, int64_t bytes);

// What a GPU has.
struct Properties {
  int architecture;  // 90 for compute capability 9.0; 0 where kernels cannot run there
  int multiprocessors;
  int64_t shared;  // most bytes of shared memory of a block
};
Properties properties(int device);

// Why the last call of this thread failed.
const std::string& error();

inline std::string define(const char* name, int64_t value) {
  return std::string("-D") + name + "=" + std::to_string(value) + " ";
}

inline std::string storage(saccade_type type) { return define("SACCADE_STORAGE", type); }

inline int64_t size_of_sum(saccade_type type) { return type == SACCADE_DOUBLE ? 8 : 4; }

inline int64_t size_of(saccade_type type) {
  return type == SACCADE_DOUBLE ? 8 : type == SACCADE_FLOAT ? 4 : 2;
}

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Adds up arrays of sums, [parts, count], in their order.
inline int add_parts(const saccade_cuda& cuda, saccade_type type, const void* found, void* to,
                     int64_t parts, int64_t count) {
  const Kernel kernel = {"cuda/parts.cu", "add_parts",
                         storage(type == SACCADE_DOUBLE ? type : SACCADE_FLOAT)};
  return launch(cuda, kernel, {ceil_div(count, 256), 256}, found, to, parts, count);
}

// Whether rows of so many numbers from an address on begin at multiples of 16 bytes.
inline bool is_aligned(const void* p, int64_t row, saccade_type type) {
  return reinterpret_cast<uintptr_t>(p) % 16 == 0 && row * size_of(type) % 16 == 0;
}

}  // namespace saccade::cuda
