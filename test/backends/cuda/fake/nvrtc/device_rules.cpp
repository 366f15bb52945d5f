#include "test/backends/cuda/fake/nvrtc/device_rules.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>

namespace fake_nvrtc {
namespace {

// The bytes of shared memory that ptxas allows a kernel.
constexpr size_t kMostShared = size_t{48} << 10;

// The headers that kernel.cuh and std.cuh include for the host.
constexpr std::string_view kHeaders[] = {"cuda_on_host.h", "math.h", "stddef.h",
                                         "stdint.h"};

// Functions that kernels may call beside libm's, and what gcc calls itself.
constexpr std::string_view kDevice[] = {
    "memcpy",
    "memset",
    "memmove",
    "malloc",
    "free",
    "printf",
    "vprintf",
    "puts",
    "putchar",
    "_Znwm",
    "_Znam",
    "_ZdlPv",
    "_ZdlPvm",
    "_ZdaPv",
    "_ZdaPvm",
    "__assert_fail",
    "__tls_get_addr",
    "__cxa_pure_virtual",
    "_GLOBAL_OFFSET_TABLE_",
    // of gcc's own library
    "__popcountdi2",
    "__divti3",
    "__udivti3",
    "__modti3",
    "__umodti3",
    "__multi3",
    "__fixdfti",
    "__fixsfti",
    "__fixunsdfti",
    "__fixunssfti",
    "__floattidf",
    "__floattisf",
    "__floatuntidf",
    "__floatuntisf",
    "__extendhfsf2",
    "__truncsfhf2",
    "__truncdfhf2",
    "__muldc3",
    "__mulsc3",
    "__divdc3",
    "__divsc3",
    "__powidf2",
    "__powisf2",
};

bool is_sanitizers(std::string_view name) {
  return name.starts_with("__asan_") || name.starts_with("__ubsan_") ||
         name.starts_with("__tsan_");
}

// libm has no function that kernels lack but those of <fenv.h>. It is asked for
// its own: dlsym finds those of the C library, too.
bool is_mathematical(const std::string& name) {
  static void* const library = dlopen("libm.so.6", RTLD_NOW);
  if (library == nullptr || name.starts_with("fe")) return false;
  Dl_info found{}, own{};
  void* const f = dlsym(library, name.c_str());
  return f != nullptr && dladdr(f, &found) != 0 &&
         dladdr(dlsym(library, "erf"), &own) != 0 &&
         found.dli_fbase == own.dli_fbase;
}

bool is_devices(const std::string& name) {
  return std::find(std::begin(kDevice), std::end(kDevice), name) !=
             std::end(kDevice) ||
         is_sanitizers(name) || is_mathematical(name);
}

std::string demangled(const std::string& name) {
  int status = 0;
  char* const text =
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = text == nullptr ? name : text;
  std::free(text);
  return out;
}

bool is_within(const std::string& path,
               const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](const auto& f) { return path.starts_with(f + "/"); });
}

}  // namespace

HeaderTree split_headers(const std::string& log) {
  HeaderTree tree;
  std::istringstream in(log);
  bool guards = false;  // the list that ends the tree
  for (std::string line; std::getline(in, line);) {
    const size_t dots = line.find_first_not_of('.');
    if (dots != std::string::npos && dots > 0 && line[dots] == ' ') {
      tree.lines.push_back({dots, line.substr(dots + 1)});
    } else if (line == "Multiple include guards may be useful for:") {
      guards = true;
    } else if (!guards || line.find(": ") != std::string::npos) {
      tree.rest += line + "\n";
    }
  }
  return tree;
}

std::string check_headers(const HeaderTree& tree,
                          const std::vector<std::string>& folders) {
  std::string errors;
  std::vector<std::string> above;
  for (const HeaderTree::Line& line : tree.lines) {
    above.resize(line.depth);
    above[line.depth - 1] = line.path;
    // sy_unit.cpp includes checked.h.
    if (line.depth == 1) continue;
    const std::string& by = above[line.depth - 2];
    const std::string name =
        std::filesystem::path(line.path).filename().string();
    if (!is_within(by, folders) || is_within(line.path, folders) ||
        std::find(std::begin(kHeaders), std::end(kHeaders), name) !=
            std::end(kHeaders)) {
      continue;
    }
    errors += by + ": catastrophic error: cannot open source file \"" + name +
              "\": kernels have no headers of the host\n";
  }
  return errors;
}

std::string check_object(const ObjectFacts& facts) {
  std::string errors;
  for (const std::string& name : facts.imports) {
    if (is_devices(name)) continue;
    errors += "error: calling a __host__ function(\"" + demangled(name) +
              "\") from a __device__ function is not allowed\n";
  }
  for (const std::string& name : facts.symbols) {
    if (name.starts_with("_ZGV")) {
      errors +=
          "error: dynamic initialization is not supported for a "
          "function-scope static variable (" +
          demangled(name) + ")\n";
    } else if (name.starts_with("_GLOBAL__sub_I_")) {
      errors +=
          "error: dynamic initialization is not supported for "
          "__device__, __constant__ and __shared__ variables (" +
          name + ")\n";
    }
  }
  if (facts.has_initialized_shared) {
    errors += "error: initializer not allowed for __shared__ variable\n";
  }
  for (const auto& [kernel, bytes] : facts.shared) {
    if (bytes <= kMostShared) continue;
    char text[160];
    std::snprintf(text, sizeof text,
                  "' uses too much shared data (0x%zx bytes, 0x%zx max)\n",
                  bytes, kMostShared);
    errors += "ptxas error   : Entry function '" + kernel + text;
  }
  return errors;
}

}  // namespace fake_nvrtc
