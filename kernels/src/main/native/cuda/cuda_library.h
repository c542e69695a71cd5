// Libraries that may be there or not.
#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

namespace saccade::cuda {

class Library {
 public:
  // Opens the first that is there.
  explicit Library(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (handle == nullptr) handle = dlopen(name.c_str(), RTLD_LAZY);
    }
    whole = handle != nullptr;
  }

  class Symbol {
   public:
    explicit Symbol(void* address) : address(address) {}
    template <class F>
    operator F*() const {
      return reinterpret_cast<F*>(address);
    }

   private:
    void* address;
  };

  Symbol find(const char* name) {
    void* address = handle ? dlsym(handle, name) : nullptr;
    whole = whole && address != nullptr;
    return Symbol(address);
  }

  // Whether the library is there, with all that was looked for.
  bool is_whole() const { return whole; }

 private:
  void* handle = nullptr;
  bool whole;
};

}  // namespace saccade::cuda
