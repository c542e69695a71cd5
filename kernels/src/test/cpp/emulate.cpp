// The same as cuda.cpp without a GPU: kernels are compiled by g++ after emulate.h and run here.
// Arrays on the processor take the launchers for GPUs. EMULATED_SOURCES and EMULATED_BUILD name
// folders.

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "cuda/cuda.h"

namespace saccade::cuda {
namespace {

std::string message, launches;
bool dry = false;

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

typedef void (*Run)(void**, int64_t, int, int64_t);

Run find(const Kernel& kernel) {
  static std::map<std::string, Run> known;
  const std::string key = std::string(kernel.name) + " " + kernel.source + " " + kernel.options;
  Run& run = known[key];
  if (run) return run;
  const std::string main = setting("EMULATED_SOURCES");
  std::string all = key;
  for (const Source* s = SOURCES; s->name; s++) all += s->text;
  for (const char* name : {"emulate.h", "fibers.h"}) {
    std::ifstream header(main + "/test/cpp/" + name);
    all.append(std::istreambuf_iterator<char>(header), {});
  }
  const std::string base =
      setting("EMULATED_BUILD") + "/" + std::to_string(std::hash<std::string>()(all));
  if (!std::filesystem::exists(base + ".so")) {
    std::ofstream(base + ".cpp")
        << "#include \"emulate.h\"\n#include \"" << kernel.source
        << "\"\nextern \"C\" void emulated_run(void** a, int64_t b, int t, int64_t s) {\n"
        << "  emulated::run(" << kernel.name << ", a, b, t, s);\n}\n";
    const std::string command =
        "g++ -std=c++17 -O2 -march=native -shared -fPIC -fno-gnu-unique -w -I" + main +
        "/test/cpp -I" + main + "/main/native " + kernel.options + " " + base + ".cpp -o " + base +
        ".part && mv " + base + ".part " + base + ".so";
    if (std::system(command.c_str()) != 0) return nullptr;
  }
  void* library = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library) run = reinterpret_cast<Run>(dlsym(library, "emulated_run"));
  return run;
}

}  // namespace

const std::string& error() { return message; }

Properties properties(int) { return {90, 4, 227 * 1024}; }

int launch(const saccade_cuda&, const Kernel& kernel, const Grid& grid, void** arguments) {
  if (grid.blocks == 0) return 0;
  const std::string line = std::string(kernel.source) + "|" + kernel.name + "|" + kernel.options +
                           "|" + std::to_string(grid.threads) + "|" + std::to_string(grid.shared) +
                           "\n";
  if (launches.find(line) == std::string::npos) launches += line;
  if (dry) return 0;
  const Run run = find(kernel);
  if (!run) {
    message = std::string("cannot compile ") + kernel.name;
    return -3;
  }
  run(arguments, grid.blocks, grid.threads, grid.shared);
  return 0;
}

int zero(const saccade_cuda&, void* to, int64_t bytes) { return memset(to, 0, bytes), 0; }
int read(const saccade_cuda&, void* to, const void* from, int64_t bytes) {
  return memcpy(to, from, bytes), 0;
}
int write(const saccade_cuda&, void* to, const void* from, int64_t bytes) {
  return memcpy(to, from, bytes), 0;
}

}  // namespace saccade::cuda

#define PUBLIC extern "C" __attribute__((visibility("default")))

// What has been launched, a line each: source, function, options, threads, shared memory.
PUBLIC const char* emulated_launches() { return saccade::cuda::launches.c_str(); }

// Whether launches are only noted.
PUBLIC void emulated_dry(int on) { saccade::cuda::dry = on; }

extern "C" const char* saccade_instruction_set(void) { return "emulated"; }
