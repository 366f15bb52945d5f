#include <fmt/core.h>

#include "c10/device/backend.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/sdk_layout.h"
#include "c10/process/error.h"
#include "c10/process/parallel.h"
#include "tools/sy/inspect/inspect.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

namespace {

std::string hex(uint64_t v) { return fmt::format("{:016x}", v); }

const char* compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

// The instruction sets of this processor that kernels may choose.
Json instruction_sets() {
  Json out = Json::array();
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.2")) out.push_back("sse4.2");
  if (__builtin_cpu_supports("avx2")) out.push_back("avx2");
  if (__builtin_cpu_supports("avx512f")) out.push_back("avx512f");
  if (__builtin_cpu_supports("avx512bf16")) out.push_back("avx512bf16");
#endif
  return out;
}

}  // namespace

int print_version(bool json) {
  Json devices = Json::array();
  const size_t operators = Dispatcher::singleton().operators().size();
  for (const BackendInfo& b : backends()) {
    if (b.present) devices.push_back(b.device);
  }
  const Json v = {{"version", SY_VERSION_STRING},
                  {"layout", hex(sdk_layout_hash())},
                  {"cxx11_abi", _GLIBCXX_USE_CXX11_ABI},
                  {"compiler", compiler()},
                  {"instruction_sets", instruction_sets()},
                  {"threads", get_num_threads()},
                  {"devices", devices},
                  {"operators", operators}};
  if (json) {
    fmt::print("{}\n", dump(v, 1));
    return 0;
  }
  fmt::print("switchyard {}\n", SY_VERSION_STRING);
  for (const char* key : {"layout", "cxx11_abi", "compiler", "instruction_sets",
                          "threads", "devices", "operators"}) {
    std::string text;
    if (v[key].is_array()) {
      for (const Json& e : v[key]) {
        text += (text.empty() ? "" : ", ") + e.get<std::string>();
      }
    } else {
      text = v[key].is_string() ? v[key].get<std::string>() : dump(v[key]);
    }
    fmt::print("  {:17} {}\n", key, text);
  }
  return 0;
}

}  // namespace sy::tools
