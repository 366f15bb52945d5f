#include "frontend/nn/modules/instancenorm.h"

#include <gtest/gtest.h>

#include "frontend/nn/functional/instancenorm.h"
#include "sy/sy.h"
#include "test/frontend/nn/recorded.h"
#include "test/frontend/nn/text.h"

namespace sy::nn {
namespace {

namespace F = functional;
using test::function_case;
using test::module_case;
using test::printed;
using test::value_error;
using In = const std::vector<Tensor>&;

TEST(InstanceNorm, GivesWhatPyTorchGives) {
  test::NnCases all{
      {"instance_norm",
       function_case([](In x) { return F::instance_norm(x[0]); })},
      {"instance_norm_running", function_case([](In x) {
         return F::instance_norm(x[0], F::InstanceNormFuncOptions()
                                           .running_mean(x[1].detach())
                                           .running_var(x[2].detach().abs())
                                           .weight(x[3])
                                           .bias(x[4])
                                           .use_input_stats(false)
                                           .eps(0.5));
       })},
      {"instance_norm_update", {nullptr, [](Module*, In x) {
                                  const Tensor mean = x[1].detach().clone();
                                  const Tensor var = x[2].detach().abs();
                                  const Tensor y = F::instance_norm(
                                      x[0], F::InstanceNormFuncOptions()
                                                .running_mean(mean)
                                                .running_var(var)
                                                .momentum(0.25));
                                  return std::vector<Tensor>{y, mean, var};
                                }}}};
  for (const std::string mode : {"_train", "_eval"}) {
    all.merge(test::NnCases{
        {"InstanceNorm1d" + mode,
         module_case(+[] { return InstanceNorm1d(2); })},
        {"InstanceNorm1d_affine" + mode, module_case(+[] {
           return InstanceNorm1d(
               InstanceNorm1dOptions(2).affine(true).eps(0.5));
         })},
        {"InstanceNorm2d" + mode,
         module_case(+[] { return InstanceNorm2d(2); })},
        {"InstanceNorm2d_tracked" + mode, module_case(+[] {
           return InstanceNorm2d(
               InstanceNorm2dOptions(2).momentum(0.25).track_running_stats(
                   true));
         })},
        {"InstanceNorm3d" + mode, module_case(+[] {
           return InstanceNorm3d(
               InstanceNorm3dOptions(2).affine(true).track_running_stats(true));
         })}});
  }
  test::check_recorded("instancenorm.safetensors", all);
}

TEST(InstanceNorm, PrintsWhatPythonPrints) {
  EXPECT_EQ(printed(InstanceNorm3d(3)),
            "InstanceNorm3d(3, eps=1e-05, momentum=0.1, affine=False, "
            "bias=False, track_running_stats=False)");
}

TEST(InstanceNorm, NamesWrongInputs) {
  EXPECT_EQ(value_error([] {
              InstanceNorm2d(2)->forward(ones({2, 2}));
            }),
            "[InstanceNorm2d] input: expected 3 or 4 dimensions, got 2");
  EXPECT_EQ(value_error([] {
              InstanceNorm1d m(InstanceNorm1dOptions(2).affine(true));
              m->forward(ones({3, 4}));
            }),
            "[InstanceNorm1d] input: expected 2 channels in dimension 0, "
            "got 3");
  EXPECT_EQ(value_error([] {
              InstanceNorm1d(2)->forward(ones({3, 2, 1}));
            }),
            "[instance_norm] input: expected more than one value per channel "
            "and sample, got sizes [3, 2, 1]");
}

}  // namespace
}  // namespace sy::nn
