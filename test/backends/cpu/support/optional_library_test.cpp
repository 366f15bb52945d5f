#include "backends/cpu/support/optional_library.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace sy::cpu {
namespace {

constexpr OptionalLibrary kMissing = {"libno_such_library.so", "entry",
                                      "SY_TEST_LIBRARY"};

std::string why(const char* path) {
  if (path == nullptr) {
    unsetenv(kMissing.variable);
  } else {
    setenv(kMissing.variable, path, 1);
  }
  EXPECT_EQ(load_optional(kMissing), nullptr);
  return why_not_loaded(kMissing);
}

TEST(OptionalLibrary, SaysWhyItDoesNotLoad) {
  EXPECT_EQ(why("0"), "SY_TEST_LIBRARY=0");
  EXPECT_NE(why(nullptr).find("libno_such_library.so: cannot open"),
            std::string::npos);
  const std::string file = testing::TempDir() + "/no_library.so";
  std::ofstream(file) << "text";
  const std::string text = why(file.c_str());
  EXPECT_NE(text.find(file), std::string::npos) << text;
  EXPECT_NE(text.find("too short"), std::string::npos) << text;
}

}  // namespace
}  // namespace sy::cpu
