#include <cstdlib>
#include <string>

// Keeps the compiled kernels of every test of the backend where the test runs.

// For AddressSanitizer: it takes some of the kernels' variables of threads for
// what older systems had at such addresses, and dies when it looks for leaks.
extern "C" __attribute__((visibility("default"))) const char*
__asan_default_options();
extern "C" const char* __asan_default_options() {
  return "intercept_tls_get_addr=0";
}

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
