#include "frontend/nn/modules/padding.h"

#include <gtest/gtest.h>

#include "frontend/nn/functional/padding.h"
#include "sy/sy.h"
#include "test/frontend/nn/recorded.h"
#include "test/frontend/nn/text.h"

namespace sy::nn {
namespace {

namespace F = functional;
using test::function_case;
using test::module_case;
using test::printed;
using In = const std::vector<Tensor>&;

template <class P1, class P2, class P3>
test::NnCases of_kind(const std::string& kind) {
  return {
      {kind + "Pad1d", module_case(+[] {
         return P1(typename P1::Impl(ExpandingArray<2>({1, 2})));
       })},
      {kind + "Pad2d", module_case(+[] {
         return P2(typename P2::Impl(ExpandingArray<4>({2, 0, 1, -1})));
       })},
      {kind + "Pad3d", module_case(+[] {
         return P3(typename P3::Impl(ExpandingArray<6>({3, 1, 2, 0, 1, 0})));
       })}};
}

TEST(Padding, GivesWhatPyTorchGives) {
  test::NnCases all{
      {"ConstantPad1d", module_case(+[] {
         return ConstantPad1d(ConstantPad1dOptions({1, 2}, 3.5));
       })},
      {"ConstantPad2d", module_case(+[] {
         return ConstantPad2d(ConstantPad2dOptions({2, 0, 1, -1}, 3.5));
       })},
      {"ConstantPad3d", module_case(+[] {
         return ConstantPad3d(ConstantPad3dOptions({3, 1, 2, 0, 1, 0}, 3.5));
       })},
      {"ReflectionPad2d_one", module_case(+[] { return ReflectionPad2d(1); })},
      {"pad", function_case([](In x) {
         return F::pad(x[0], F::PadFuncOptions({1, 2, 0, 1}));
       })},
      {"pad_value", function_case([](In x) {
         return F::pad(x[0], F::PadFuncOptions({1, -1}).value(2.5));
       })},
      {"pad_reflect", function_case([](In x) {
         return F::pad(x[0], F::PadFuncOptions({1, 2}).mode(kReflect));
       })},
      {"pad_replicate", function_case([](In x) {
         return F::pad(x[0], F::PadFuncOptions({1, 2}).mode(kReplicate));
       })},
      {"pad_circular", function_case([](In x) {
         return F::pad(x[0], F::PadFuncOptions({1, 2}).mode(kCircular));
       })}};
  all.merge(
      of_kind<ReflectionPad1d, ReflectionPad2d, ReflectionPad3d>("Reflection"));
  all.merge(of_kind<ReplicationPad1d, ReplicationPad2d, ReplicationPad3d>(
      "Replication"));
  all.merge(of_kind<CircularPad1d, CircularPad2d, CircularPad3d>("Circular"));
  all.merge(of_kind<ZeroPad1d, ZeroPad2d, ZeroPad3d>("Zero"));
  test::check_recorded("padding.safetensors", all);
}

TEST(Padding, PrintsWhatPythonPrints) {
  EXPECT_EQ(printed(ReflectionPad1d(ReflectionPad1dOptions({1, 2}))),
            "ReflectionPad1d((1, 2))");
  EXPECT_EQ(printed(ReplicationPad2d(2)), "ReplicationPad2d((2, 2, 2, 2))");
  EXPECT_EQ(printed(ZeroPad3d(1)), "ZeroPad3d((1, 1, 1, 1, 1, 1))");
  EXPECT_EQ(printed(CircularPad2d(1)), "CircularPad2d((1, 1, 1, 1))");
  EXPECT_EQ(printed(ConstantPad1d(1, 3.5)),
            "ConstantPad1d(padding=(1, 1), value=3.5)");
}

}  // namespace
}  // namespace sy::nn
