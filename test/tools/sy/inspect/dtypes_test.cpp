#include "tools/sy/inspect/dtypes.h"

#include <gtest/gtest.h>

#include "c10/process/error.h"

namespace sy::tools {
namespace {

using Ways = std::map<std::string, std::string>;

Ways on(const char* op, const std::string& words, Device device) {
  return dtypes_of(Dispatcher::singleton().find_or_throw(op), words, device);
}

TEST(Dtypes, ThoseThatTheContractTakesAndNoOthers) {
  const Ways relu = on("aten::relu", "2x3", Device(kCPU));
  EXPECT_EQ(relu.size(), 9u);
  EXPECT_EQ(relu.count("bool"), 0u);
  EXPECT_EQ(relu.at("int16"), "native");
  EXPECT_EQ(on("aten::relu6", "2x3", Device(kCPU)).at("float32"), "composed");
}

TEST(Dtypes, IndicesStayAsTheyAre) {
  const Ways gather = on("aten::gather", "2x3 1 2x4:i3", Device(kCPU));
  EXPECT_EQ(gather.count("float64"), 1u);
  EXPECT_EQ(gather.count("bool"), 1u);
}

TEST(Dtypes, ExampleThatFailsIsAnError) {
  EXPECT_THROW(on("aten::mm", "2x3 2x3", Device(kCPU)), Error);
}

TEST(Dtypes, EveryDeviceIsAsked) {
  EXPECT_EQ(on("aten::relu", "2x3", Device(kMeta)).at("float32"), "native");
}

}  // namespace
}  // namespace sy::tools
