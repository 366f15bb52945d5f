#include "frontend/nn/modules/batchnorm.h"

#include <gtest/gtest.h>

#include "frontend/nn/functional/batchnorm.h"
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

TEST(BatchNorm, GivesWhatPyTorchGives) {
  test::NnCases all{
      {"BatchNorm1d_twice",
       {[] { return BatchNorm1d(2).ptr(); },
        [](Module* m, In x) {
          auto* const norm = m->as<BatchNorm1d>();
          return std::vector<Tensor>{norm->forward(x[0]), norm->forward(x[1])};
        }}},
      {"batch_norm", function_case([](In x) {
         return F::batch_norm(x[0], x[1].detach(), x[2].detach().abs());
       })},
      {"batch_norm_options", {nullptr, [](Module*, In x) {
                                const Tensor mean = x[1].detach().clone();
                                const Tensor var = x[2].detach().abs();
                                const Tensor y =
                                    F::batch_norm(x[0], mean, var,
                                                  F::BatchNormFuncOptions()
                                                      .weight(x[3])
                                                      .bias(x[4])
                                                      .training(true)
                                                      .momentum(0.25)
                                                      .eps(0.5));
                                return std::vector<Tensor>{y, mean, var};
                              }}}};
  for (const std::string mode : {"_train", "_eval"}) {
    all.merge(test::NnCases{
        {"BatchNorm1d" + mode, module_case(+[] { return BatchNorm1d(3); })},
        {"BatchNorm1d_3d" + mode, module_case(+[] { return BatchNorm1d(2); })},
        {"BatchNorm2d" + mode, module_case(+[] { return BatchNorm2d(2); })},
        {"BatchNorm2d_options" + mode, module_case(+[] {
           return BatchNorm2d(
               BatchNorm2dOptions(2).eps(0.5).momentum(0.25).affine(false));
         })},
        {"BatchNorm2d_cumulative" + mode, module_case(+[] {
           return BatchNorm2d(BatchNorm2dOptions(2).momentum(std::nullopt));
         })},
        {"BatchNorm2d_untracked" + mode, module_case(+[] {
           return BatchNorm2d(BatchNorm2dOptions(2).track_running_stats(false));
         })},
        {"BatchNorm3d" + mode, module_case(+[] { return BatchNorm3d(2); })}});
  }
  test::check_recorded("batchnorm.safetensors", all);
}

TEST(BatchNorm, PrintsWhatPythonPrints) {
  EXPECT_EQ(printed(BatchNorm2d(3)),
            "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, "
            "track_running_stats=True)");
  EXPECT_EQ(printed(BatchNorm1d(BatchNorm1dOptions(3)
                                    .momentum(std::nullopt)
                                    .affine(false)
                                    .track_running_stats(false))),
            "BatchNorm1d(3, eps=1e-05, momentum=None, affine=False, "
            "bias=False, track_running_stats=False)");
}

TEST(BatchNorm, ResetsStatisticsAndParameters) {
  BatchNorm1d m(2);
  const Tensor mean = m->running_mean;
  {
    NoGradGuard no_grad;
    m->weight.fill_(5);
    m->bias.fill_(5);
  }
  m->forward(randn({4, 2}) + 3);
  EXPECT_EQ(m->num_batches_tracked.item<int64_t>(), 1);
  m->reset_running_stats();
  EXPECT_TRUE(equal(m->running_mean, zeros({2})));
  EXPECT_TRUE(equal(m->running_var, ones({2})));
  EXPECT_EQ(m->num_batches_tracked.item<int64_t>(), 0);
  EXPECT_TRUE(equal(m->weight.detach(), full({2}, 5)));
  m->reset_parameters();
  EXPECT_TRUE(equal(m->weight.detach(), ones({2})));
  EXPECT_TRUE(equal(m->bias.detach(), zeros({2})));
  EXPECT_TRUE(m->running_mean.is_same(mean));
  m->options.num_features(3);
  m->reset();
  EXPECT_EQ(m->weight.sizes(), IntArrayRef({3}));
  EXPECT_EQ(m->buffers().size(), 3);
  EXPECT_TRUE(m->get_buffer("running_var").is_same(m->running_var));
}

TEST(BatchNorm, ClonesHaveTheirOwnStatistics) {
  BatchNorm1d m(2);
  const auto copy = clone(m.ptr());
  copy->forward(randn({4, 2}) + 3);
  EXPECT_TRUE(equal(m->running_mean, zeros({2})));
  EXPECT_FALSE(equal(copy->running_mean, zeros({2})));
  EXPECT_TRUE(copy->get_buffer("running_mean").is_same(copy->running_mean));
}

TEST(BatchNorm, ReadsStatesWithoutNumberOfBatches) {
  BatchNorm1d m(2);
  StateDict state;
  for (const auto& [name, t] : m->state_dict()) {
    if (name != "num_batches_tracked") state.insert(name, t);
  }
  state.versions[""] = 2;
  EXPECT_THROW(m->load_state_dict(state), ValueError);
  state.versions.clear();
  m->num_batches_tracked.fill_(7);
  m->load_state_dict(state);
  EXPECT_EQ(m->num_batches_tracked.item<int64_t>(), 0);
}

TEST(BatchNorm, NamesWrongOptionsAndInputs) {
  EXPECT_EQ(value_error([] { BatchNorm2d(-1); }),
            "[BatchNorm] num_features: expected at least 0, got -1");
  EXPECT_EQ(value_error([] {
              BatchNorm1d(2)->forward(ones({1, 2, 3, 4}));
            }),
            "[BatchNorm1d] input: expected 2 or 3 dimensions, got 4");
  EXPECT_EQ(value_error([] {
              BatchNorm2d(2)->forward(ones({2, 2}));
            }),
            "[BatchNorm2d] input: expected 4 dimensions, got 2");
  EXPECT_EQ(value_error([] {
              BatchNorm1d(2)->forward(ones({1, 2}));
            }),
            "[batch_norm] input: expected more than one value per channel in "
            "training, got sizes [1, 2]");
}

}  // namespace
}  // namespace sy::nn
