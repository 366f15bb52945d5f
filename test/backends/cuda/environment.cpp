#include <cstdlib>
#include <string>

// Of every test of the backend: compiled kernels are kept where the test runs.

namespace {

[[maybe_unused]] const bool is_set = [] {
  const char* const folder = std::getenv("TEST_TMPDIR");
  if (folder != nullptr) {
    setenv("SWITCHYARD_CUDA_CACHE", (std::string(folder) + "/kernels").c_str(),
           0);
  }
  return true;
}();

}  // namespace
