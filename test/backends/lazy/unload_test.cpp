#include <gtest/gtest.h>
#include <sy/lazy.h>
#include <sy/sy.h>

#include <string>

// The library goes only when nothing of it is in use.

namespace sy {
namespace {

TEST(LazyUnload, LiveTensorsHoldTheLibrary) {
  LibraryHandle library = load_library("lazy");
  {
    const Tensor x = ones({4}).to("lazy");
    const Tensor y = x + 1;
    try {
      library.unload();
      FAIL() << "expected an error";
    } catch (const Error& e) {
      const std::string what = e.what();
      EXPECT_NE(what.find("held by 2 storages\nrecorded and held by tensors: "
                          "aten::add.Scalar float32[4]"),
                std::string::npos)
          << what;
    }
    EXPECT_TRUE(allclose(y.to(kCPU), full({4}, 2.0)));
    lazy::sync(lazy::kWait);
  }
  library.unload();
  EXPECT_THROW(ones({4}).to("lazy"), Error);
  EXPECT_THROW(lazy::counters(), Error);
  LibraryHandle again = load_library("lazy");
  EXPECT_TRUE(allclose((ones({4}).to("lazy") * 3).to(kCPU), full({4}, 3.0)));
}

}  // namespace
}  // namespace sy
