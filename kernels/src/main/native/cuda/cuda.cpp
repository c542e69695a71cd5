// The driver and the compiler of CUDA, which are looked for when they are first needed.

#include "cuda/cuda.h"

#include <map>
#include <mutex>

#include "cuda/cuda_compiler.h"
#include "cuda/cuda_library.h"

namespace saccade::cuda {
namespace {

thread_local std::string message;

int fail(const std::string& why) {
  message = why;
  return -3;
}

typedef void* Context;
typedef void* Module;
typedef void* Function;

// The functions of libcuda.so.1 that are used; by the names that its header gives their versions.
struct Driver {
  Library library{{"libcuda.so.1", "libcuda.so"}};
  int (*init)(unsigned) = library.find("cuInit");
  int (*error_name)(int, const char**) = library.find("cuGetErrorName");
  int (*device_attribute)(int*, int, int) = library.find("cuDeviceGetAttribute");
  int (*retain)(Context*, int) = library.find("cuDevicePrimaryCtxRetain");
  int (*push)(Context) = library.find("cuCtxPushCurrent_v2");
  int (*pop)(Context*) = library.find("cuCtxPopCurrent_v2");
  int (*load)(Module*, const void*) = library.find("cuModuleLoadData");
  int (*get_function)(Function*, Module, const char*) = library.find("cuModuleGetFunction");
  int (*set_attribute)(Function, int, int) = library.find("cuFuncSetAttribute");
  int (*start)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
               void*, void**, void**) = library.find("cuLaunchKernel");
  int (*fill)(void*, unsigned char, size_t, void*) = library.find("cuMemsetD8Async");
  int (*to_host)(void*, const void*, size_t, void*) = library.find("cuMemcpyDtoHAsync_v2");
  int (*to_device)(void*, const void*, size_t, void*) = library.find("cuMemcpyHtoDAsync_v2");
  int (*wait)(void*) = library.find("cuStreamSynchronize");
  const bool works = library.is_whole() && init(0) == 0;

  std::string name(int status) const {
    const char* text = nullptr;
    error_name(status, &text);
    return text ? text : std::to_string(status);
  }
};

const Driver& driver() {
  static const Driver it;
  return it;
}

constexpr int MULTIPROCESSORS = 16, MAJOR = 75, MINOR = 76, SHARED = 97;  // attributes of devices
constexpr int DYNAMIC_SHARED = 8;                                         // attribute of functions

// The context that torch works in, current as long as this lives.
class Current {
 public:
  explicit Current(int device) {
    status = driver().retain(&context, device) || driver().push(context);
  }
  ~Current() {
    if (status == 0) driver().pop(&context);
  }
  int status;

 private:
  Context context = nullptr;
};

struct Loaded {
  Function function = nullptr;
  int64_t shared = 48 * 1024;  // most that launches may ask for so far
};

// Finds the function of a kernel on a device, compiled where it is not yet; in the device's
// context.
int find(int device, const Kernel& kernel, Loaded*& found) {
  static std::map<std::string, Loaded> all;
  Loaded& entry =
      all[std::to_string(device) + " " + kernel.source + " " + kernel.name + " " + kernel.options];
  found = &entry;
  if (entry.function != nullptr) return 0;
  static std::map<std::string, Module> modules;
  Module& module = modules[std::to_string(device) + " " + kernel.source + " " + kernel.options];
  if (module == nullptr) {
    const int architecture = properties(device).architecture;
    std::string why;
    for (const bool fresh : {false, true}) {  // a broken file is written anew
      const std::string binary = compiled(kernel.source, kernel.options, architecture, fresh, why);
      if (binary.empty()) return fail(std::string(kernel.source) + ": " + why);
      const int status = driver().load(&module, binary.c_str());
      if (status == 0) break;
      module = nullptr;
      why = driver().name(status);
    }
    if (module == nullptr) return fail(std::string(kernel.source) + " cannot be loaded: " + why);
  }
  const int status = driver().get_function(&entry.function, module, kernel.name);
  return status == 0 ? 0 : fail(std::string(kernel.name) + ": " + driver().name(status));
}

template <class F>
int within(const saccade_cuda& cuda, const char* what, F f) {
  if (!driver().works) return fail("there is no driver of CUDA");
  const Current current(cuda.device);
  const int status = current.status ? current.status : f();
  return status <= 0 ? status : fail(std::string(what) + ": " + driver().name(status));
}

}  // namespace

const std::string& error() { return message; }

Properties properties(int device) {
  static std::mutex lock;
  static std::map<int, Properties> known;
  const std::lock_guard<std::mutex> guard(lock);
  const auto at = known.find(device);
  if (at != known.end()) return at->second;
  Properties p = {};
  int major = 0, minor = 0, shared = 0;
  if (driver().works && has_compiler() && driver().device_attribute(&major, MAJOR, device) == 0 &&
      driver().device_attribute(&minor, MINOR, device) == 0 &&
      driver().device_attribute(&shared, SHARED, device) == 0 &&
      driver().device_attribute(&p.multiprocessors, MULTIPROCESSORS, device) == 0) {
    // The kernels need the instructions of 8.0.
    p.architecture = major >= 8 ? 10 * major + minor : 0;
    p.shared = shared;
  }
  return known[device] = p;
}

int launch(const saccade_cuda& cuda, const Kernel& kernel, const Grid& grid, void** arguments) {
  if (grid.blocks == 0) return 0;
  if (grid.blocks > INT32_MAX) return fail(std::string(kernel.name) + ": too large");
  return within(cuda, kernel.name, [&] {
    static std::mutex lock;
    const std::lock_guard<std::mutex> guard(lock);
    Loaded* loaded = nullptr;
    int status = find(cuda.device, kernel, loaded);
    if (status == 0 && grid.shared > loaded->shared) {
      status =
          driver().set_attribute(loaded->function, DYNAMIC_SHARED, static_cast<int>(grid.shared));
      loaded->shared = grid.shared;
    }
    if (status != 0) return status;
    return driver().start(loaded->function, static_cast<unsigned>(grid.blocks), 1, 1, grid.threads,
                          1, 1, static_cast<unsigned>(grid.shared), cuda.stream, arguments,
                          nullptr);
  });
}

int zero(const saccade_cuda& cuda, void* to, int64_t bytes) {
  if (bytes == 0) return 0;
  return within(cuda, "zero", [&] { return driver().fill(to, 0, bytes, cuda.stream); });
}

int read(const saccade_cuda& cuda, void* to, const void* from, int64_t bytes) {
  return within(cuda, "read", [&] {
    const int status = driver().to_host(to, from, bytes, cuda.stream);
    return status ? status : driver().wait(cuda.stream);
  });
}

int write(const saccade_cuda& cuda, void* to, const void* from, int64_t bytes) {
  return within(cuda, "write", [&] {
    const int status = driver().to_device(to, from, bytes, cuda.stream);
    return status ? status : driver().wait(cuda.stream);
  });
}

}  // namespace saccade::cuda
