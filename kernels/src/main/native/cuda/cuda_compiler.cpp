#include "cuda/cuda_compiler.h"

#include <glob.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "cuda/cuda.h"
#include "cuda/cuda_library.h"

namespace saccade::cuda {
namespace {

namespace files = std::filesystem;

// The types that saccade.h needs; the compiler comes without a C library.
constexpr const char* STDINT =
    "#pragma once\n"
    "typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t;\n"
    "typedef unsigned short uint16_t; typedef int int32_t; typedef unsigned uint32_t;\n"
    "typedef long int64_t; typedef unsigned long uint64_t; typedef unsigned long uintptr_t;\n";

// Where NVRTC may be: beside libtorch, with the packages of CUDA next to it, or on the system's
// path.
std::vector<std::string> places() {
  std::vector<std::string> found;
  Library torch({"libtorch_cpu.so"});
  Dl_info info;
  void* symbol = torch.find("aoti_torch_get_data_ptr");
  if (symbol != nullptr && dladdr(symbol, &info) != 0) {
    const std::string folder = files::path(info.dli_fname).parent_path();
    for (const char* pattern :
         {"/libnvrtc.so.*", "/libnvrtc-*.so.*", "/../../nvidia/cuda_nvrtc/lib/libnvrtc.so.*",
          "/../../nvidia/cu*/lib/libnvrtc.so.*"}) {
      glob_t matches;
      if (glob((folder + pattern).c_str(), 0, nullptr, &matches) == 0) {
        for (size_t i = 0; i < matches.gl_pathc; i++) {
          const std::string path = matches.gl_pathv[i];
          if (path.find("builtins") == std::string::npos &&
              path.find(".alt.") == std::string::npos) {
            found.push_back(path);
          }
        }
      }
      globfree(&matches);
    }
  }
  found.insert(found.end(), {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
  return found;
}

typedef void* Program;

struct Compiler {
  Library library{places()};
  int (*version)(int*, int*) = library.find("nvrtcVersion");
  int (*architectures)(int*) = library.find("nvrtcGetNumSupportedArchs");
  int (*list_architectures)(int*) = library.find("nvrtcGetSupportedArchs");
  int (*create)(Program*, const char*, const char*, int, const char* const*,
                const char* const*) = library.find("nvrtcCreateProgram");
  int (*destroy)(Program*) = library.find("nvrtcDestroyProgram");
  int (*compile)(Program, int, const char* const*) = library.find("nvrtcCompileProgram");
  int (*log_size)(Program, size_t*) = library.find("nvrtcGetProgramLogSize");
  int (*get_log)(Program, char*) = library.find("nvrtcGetProgramLog");
  int (*ptx_size)(Program, size_t*) = library.find("nvrtcGetPTXSize");
  int (*get_ptx)(Program, char*) = library.find("nvrtcGetPTX");
  int (*binary_size)(Program, size_t*) = library.find("nvrtcGetCUBINSize");
  int (*get_binary)(Program, char*) = library.find("nvrtcGetCUBIN");

  // "sm_90", or "compute_90" where only an older architecture is known.
  std::string target(int architecture) const {
    int count = 0, best = 0;
    architectures(&count);
    std::vector<int> known(count);
    list_architectures(known.data());
    for (const int one : known) {
      if (one == architecture) return "sm_" + std::to_string(one);
      if (one < architecture && one > best) best = one;
    }
    return "compute_" + std::to_string(best);
  }
};

Compiler& compiler() {
  static Compiler it;
  return it;
}

std::string read_all(Program program, int (*size)(Program, size_t*), int (*get)(Program, char*)) {
  size_t length = 0;
  if (size(program, &length) != 0) return {};
  std::string text(length, '\0');
  get(program, text.data());
  return text;
}

std::string compile(const std::string& source, const std::string& options,
                    const std::string& target, std::string& why) {
  const char* text = nullptr;
  std::vector<const char*> names = {"stdint.h"}, texts = {STDINT};
  for (const Source* s = SOURCES; s->name != nullptr; s++) {
    if (s->name == source) text = s->text;
    names.push_back(s->name);
    texts.push_back(s->text);
  }
  std::istringstream words("-std=c++17 -default-device --gpu-architecture=" + target + " " +
                           options);
  const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
  std::vector<const char*> flags;
  for (const std::string& word : all) flags.push_back(word.c_str());
  Program program = nullptr;
  if (text == nullptr ||
      compiler().create(&program, text, source.c_str(), static_cast<int>(names.size()),
                        texts.data(), names.data()) != 0) {
    why = "no such source";
    return {};
  }
  std::string binary;
  if (compiler().compile(program, static_cast<int>(flags.size()), flags.data()) == 0) {
    binary = target[0] == 's' ? read_all(program, compiler().binary_size, compiler().get_binary)
                              : read_all(program, compiler().ptx_size, compiler().get_ptx);
  } else {
    why = read_all(program, compiler().log_size, compiler().get_log);
  }
  compiler().destroy(&program);
  return binary;
}

std::string digest(const std::string& text) {
  uint64_t one = 0xcbf29ce484222325, two = 0x9ae16a3b2f90404f;
  for (const unsigned char c : text) {
    one = (one ^ c) * 0x100000001b3;
    two = (two + c) * 0xff51afd7ed558ccd;
    two ^= two >> 29;
  }
  char hex[33];
  snprintf(hex, sizeof hex, "%016lx%016lx", static_cast<unsigned long>(one),
           static_cast<unsigned long>(two));
  return hex;
}

files::path cache() {
  if (const char* own = std::getenv("SACCADE_CACHE")) return own;
  if (const char* all = std::getenv("XDG_CACHE_HOME")) return files::path(all) / "saccade/kernels";
  if (const char* home = std::getenv("HOME")) return files::path(home) / ".cache/saccade/kernels";
  return {};
}

// A file holds the digest of what follows it.
constexpr size_t DIGEST = 32;

std::string read_file(const files::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  if (all.size() <= DIGEST || digest(all.substr(DIGEST)) != all.substr(0, DIGEST)) return {};
  return all.substr(DIGEST);
}

// Where it cannot be written, kernels are compiled again next time.
void write_file(const files::path& path, const std::string& binary) {
  std::error_code ignored;
  files::create_directories(path.parent_path(), ignored);
  files::path part = path;
  part += "." + std::to_string(getpid());
  std::ofstream out(part, std::ios::binary);
  out << digest(binary) << binary;
  out.close();
  if (out)
    files::rename(part, path, ignored);
  else
    files::remove(part, ignored);
}

}  // namespace

bool has_compiler() { return compiler().library.is_whole(); }

std::string compiled(const std::string& source, const std::string& options, int architecture,
                     bool fresh, std::string& why) {
  if (!has_compiler()) {
    why = "there is no compiler of CUDA (libnvrtc)";
    return {};
  }
  int major = 0, minor = 0;
  compiler().version(&major, &minor);
  const std::string target = compiler().target(architecture);
  std::string key =
      source + " " + options + target + " " + std::to_string(major) + "." + std::to_string(minor);
  for (const Source* s = SOURCES; s->name != nullptr; s++)
    key.append("\n").append(s->name).append("\n").append(s->text);
  const files::path folder = cache();
  const files::path path = folder / (source + "-" + target + "-" + digest(key));
  if (!fresh && !folder.empty()) {
    const std::string known = read_file(path);
    if (!known.empty()) return known;
  }
  const std::string binary = compile(source, options, target, why);
  if (!binary.empty() && !folder.empty()) write_file(path, binary);
  return binary;
}

}  // namespace saccade::cuda
