#include "frontend/nn/modules/fold.h"

#include <gtest/gtest.h>

#include "frontend/nn/functional/fold.h"
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

FoldOptions fold_options() {
  return FoldOptions({3, 4}, {2, 1})
      .dilation({2, 1})
      .padding({1, 0})
      .stride({2, 1});
}

UnfoldOptions unfold_options() {
  return UnfoldOptions({2, 3}).dilation({1, 2}).padding({1, 0}).stride({2, 1});
}

TEST(Fold, GivesWhatPyTorchGives) {
  test::check_recorded(
      "fold.safetensors",
      {{"Fold", module_case(+[] {
          return Fold(FoldOptions({3, 4}, 2));
        })},
       {"Fold_options", module_case(+[] { return Fold(fold_options()); })},
       {"Unfold", module_case(+[] { return Unfold(2); })},
       {"Unfold_options",
        module_case(+[] { return Unfold(unfold_options()); })},
       {"Unfold_unbatched", module_case(+[] { return Unfold(2); })},
       {"fold",
        function_case([](In x) { return F::fold(x[0], fold_options()); })},
       {"unfold", function_case([](In x) {
          return F::unfold(x[0], unfold_options());
        })}});
}

TEST(Fold, PrintsWhatPythonPrints) {
  EXPECT_EQ(printed(Fold(FoldOptions({3, 4}, 2))),
            "Fold(output_size=(3, 4), kernel_size=2, dilation=1, padding=0, "
            "stride=1)");
  EXPECT_EQ(printed(Unfold(unfold_options())),
            "Unfold(kernel_size=(2, 3), dilation=(1, 2), padding=(1, 0), "
            "stride=(2, 1))");
}

}  // namespace
}  // namespace sy::nn
