// The compiler of CUDA's C++, NVRTC, and what it has compiled before.
#pragma once

#include <string>

namespace saccade::cuda {

bool has_compiler();

// Returns a source compiled with options for an architecture, from disk unless it is to be made
// afresh, or nothing and says why.
std::string compiled(const std::string& source, const std::string& options, int architecture,
                     bool fresh, std::string& why);

}  // namespace saccade::cuda
