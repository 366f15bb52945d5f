#include <gtest/gtest.h>
#include <sy/cuda.h>
#include <sy/sy.h>

#include <string>

// The library goes only when nothing of it is in use; afterwards there is a
// clear error.

namespace sy {
namespace {

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

TEST(CudaUnload, LiveTensorsHoldTheLibrary) {
  LibraryHandle library = load_library("cuda");
  ASSERT_TRUE(cuda::is_available()) << cuda::why_unavailable();
  const cuda::Kernel k =
      cuda::compile("void one(float* x) { x[threadIdx.x] = 1; }", "one");
  Tensor x = zeros({4}).cuda();
  k.launch(1, 4, {x});
  EXPECT_NE(error_of([&] { library.unload(); }).find("held by"),
            std::string::npos);
  EXPECT_TRUE(x.cpu().equal(ones({4})));
  x = Tensor();
  cuda::synchronize();
  library.unload();

  EXPECT_FALSE(cuda::is_available());
  EXPECT_NE(cuda::why_unavailable(), "");
  EXPECT_NE(error_of([] { zeros({4}).cuda(); }), "");
  EXPECT_NE(error_of([] { cuda::synchronize(); }), "");
  EXPECT_NE(error_of([&] { k.launch(1, 4, {}); }), "");
  EXPECT_NE(error_of([] { cuda::compile("void f() {}", "f"); }), "");

  const LibraryHandle again = load_library("cuda");
  EXPECT_TRUE((zeros({4}).cuda() + 1).cpu().equal(ones({4})));
  const Tensor y = zeros({4}).cuda();
  const std::string said = error_of([&] { k.launch(1, 4, {y}); });
  // The launch fails if the library was really gone; if it stayed in memory,
  // the kernel did.
  if (!said.empty()) {
    EXPECT_NE(said.find("compile it again"), std::string::npos) << said;
    cuda::compile("void one(float* x) { x[threadIdx.x] = 1; }", "one")
        .launch(1, 4, {y});
  }
  EXPECT_TRUE(y.cpu().equal(ones({4})));
}

}  // namespace
}  // namespace sy
