#include <cstdlib>
#include <filesystem>
#include <string>

// Examples run in a folder of their own; what BUILD.bazel names stays where it
// is.

namespace {

[[maybe_unused]] const bool is_done = [] {
  for (const char* const name : {"FAKE_CUDA_INCLUDE", "SWITCHYARD_CUDA_DRIVER",
                                 "SWITCHYARD_NVRTC", "SWITCHYARD_PLUGINS"}) {
    const char* const path = std::getenv(name);
    if (path == nullptr || *path == '\0') continue;
    setenv(name, std::filesystem::absolute(path).c_str(), 1);
  }
  return true;
}();

}  // namespace
