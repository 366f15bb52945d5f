#include "backends/cuda/cub/library.h"

#include <cstdlib>

#include "test/backends/cuda/numeric_fixture.h"

// How libswitchyard_cuda_cub.so is found, or not: with the double of fake/cub,
// libfake_cub.so, and with files that are none.

namespace sy::cuda::testing {
namespace {

// Opens what the variables say; afterwards, what they said before.
class CubLibrary : public ::testing::Test {
 protected:
  void TearDown() override {
    unsetenv("FAKE_CUB_VERSION");
    unsetenv("FAKE_CUB_ERROR");
    open(double_.c_str());
    cub::least() = {};
  }
  static void open(const char* file) {
    if (file == nullptr) {
      unsetenv("SWITCHYARD_CUDA_CUB");
    } else {
      setenv("SWITCHYARD_CUDA_CUB", file, 1);
    }
    cub::reopen();
  }
  // A sort that CUB would do gives the CPU's result; the calls of CUB.
  static int64_t calls_of_sort() {
    cub::least() = {1, 1, 1, 1, 1};
    const Pair p = pair(ties({500}, kFloat));
    const int64_t before = cub::calls();
    const auto [values, places] = sort(p.cuda, true, 0, false);
    const auto [expected, order] = sort(p.cpu, true, 0, false);
    EXPECT_TRUE(same(expected, values));
    EXPECT_TRUE(same(order, places));
    return cub::calls() - before;
  }
  static ::testing::AssertionResult says(const std::string& part) {
    const std::string text = cub::describe();
    if (text.find(part) != std::string::npos) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << text;
  }

  const std::string double_ = std::getenv("SWITCHYARD_CUDA_CUB");
};

TEST_F(CubLibrary, is_used_where_it_is_named) {
  EXPECT_TRUE(
      says("libfake_cub.so (SWITCHYARD_CUDA_CUB), CUB 3.0.1 of CUDA "
           "11.0"));
  EXPECT_EQ(calls_of_sort(), 1);
}

TEST_F(CubLibrary, is_off_without_a_file_beside_the_library) {
  open(nullptr);
  EXPECT_TRUE(says("there is no "));
  EXPECT_TRUE(
      says("libswitchyard_cuda_cub.so: the library was built without "
           "nvcc; own kernels sort"));
  EXPECT_EQ(calls_of_sort(), 0);
}

TEST_F(CubLibrary, can_be_turned_off) {
  open("off");
  EXPECT_TRUE(says("CUB: SWITCHYARD_CUDA_CUB=off; own kernels sort"));
  EXPECT_EQ(calls_of_sort(), 0);
}

TEST_F(CubLibrary, of_another_version_is_not_used) {
  setenv("FAKE_CUB_VERSION", "7", 1);
  open(double_.c_str());
  EXPECT_TRUE(says("libfake_cub.so has version 7, expected 1"));
  EXPECT_EQ(calls_of_sort(), 0);
}

TEST_F(CubLibrary, that_is_another_library_is_not_used) {
  open(std::getenv("SWITCHYARD_NVRTC"));
  EXPECT_TRUE(says("libfake_nvrtc.so has no function switchyard_cuda_cub"));
  EXPECT_EQ(calls_of_sort(), 0);
  open("/nowhere/cub.so");
  EXPECT_TRUE(says("/nowhere/cub.so: cannot open shared object file"));
  EXPECT_EQ(calls_of_sort(), 0);
}

// The double answers as if it had no code for the device.
TEST_F(CubLibrary, that_refuses_a_device_is_not_asked_again) {
  setenv("FAKE_CUB_ERROR", "209", 1);
  open(double_.c_str());
  EXPECT_EQ(calls_of_sort(), 0);
  EXPECT_TRUE(says("not on cuda:0: an error of the double"));
  unsetenv("FAKE_CUB_ERROR");
  EXPECT_EQ(calls_of_sort(), 0);
}

// Fewer elements than the least are ours.
TEST_F(CubLibrary, is_for_many_elements) {
  open(double_.c_str());
  cub::least() = {};
  const Pair p = pair(ties({5000}, kFloat));
  const int64_t before = cub::calls();
  EXPECT_TRUE(same(std::get<0>(sort(p.cpu)), std::get<0>(sort(p.cuda))));
  EXPECT_EQ(cub::calls(), before);
}

}  // namespace
}  // namespace sy::cuda::testing
