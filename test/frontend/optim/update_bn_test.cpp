#include <array>
#include <list>

#include "test/c10/expect_error.h"
#include "test/frontend/optim/swa_models.h"

namespace sy::test {
namespace {

using namespace optim::swa_utils;

TEST(UpdateBn, GivesWhatPyTorchGives) {
  const auto in = recorded("batches/").values();
  const auto average = averaged(make_model(), {});
  average->eval();
  update_bn(in, average);
  expect_state(average->state_dict(), "update_bn");
  EXPECT_TRUE(allclose(average(in[0]), recorded("results/")["0"], 1e-5, 1e-5));
}

TEST(UpdateBn, TakesRangesOfTensorsTuplesAndExamples) {
  const auto in = recorded("batches/").values();
  const auto average = averaged(make_model(), {});
  const auto check = [&](auto&& batches, auto&& model) {
    average->module->at<nn::BatchNorm1dImpl>(1).running_mean.fill_(7);
    update_bn(batches, model);
    expect_state(average->state_dict(), "update_bn");
  };
  struct Example {
    Tensor data, target;
  };
  std::list<std::pair<Tensor, int>> pairs;
  std::vector<std::tuple<Tensor, Tensor, int>> tuples;
  std::vector<std::array<Tensor, 2>> arrays;
  std::vector<Example> examples;
  for (const Tensor& x : in) {
    pairs.emplace_back(x, 1);
    tuples.emplace_back(x, Tensor(), 1);
    arrays.push_back({x, Tensor()});
    examples.push_back({x, Tensor()});
  }
  check(pairs, average);
  check(tuples, average.ptr());
  check(examples, *average);
  check(std::move(arrays), average->module);
}

TEST(UpdateBn, RestoresModesAndMomentaAlsoAfterAnError) {
  nn::Sequential model(nn::BatchNorm1d(nn::BatchNormOptions(2).momentum(0.3)),
                       nn::BatchNorm1d(nn::BatchNormOptions(2).momentum({})),
                       nn::Dropout());
  model->eval();
  model->ptr(1)->train();
  const auto& first = model->at<nn::BatchNorm1dImpl>(0);
  const auto& second = model->at<nn::BatchNorm1dImpl>(1);
  const auto expect_restored = [&] {
    EXPECT_EQ(first.options.momentum(), 0.3);
    EXPECT_EQ(second.options.momentum(), std::nullopt);
    EXPECT_FALSE(model->is_training());
    EXPECT_FALSE(first.is_training());
    EXPECT_TRUE(second.is_training());
    EXPECT_FALSE(model->ptr(2)->is_training());
  };
  bool trained = false;
  model->register_forward_pre_hook([&](nn::Module&, std::vector<Tensor>&) {
    trained = first.is_training() && model->ptr(2)->is_training() &&
              !first.options.momentum().has_value();
  });
  update_bn(std::vector<Tensor>{randn({4, 2})}, model);
  EXPECT_TRUE(trained);
  expect_restored();
  EXPECT_EQ(first.num_batches_tracked.item<int64_t>(), 1);
  SY_EXPECT_ERROR(
      update_bn(std::vector<Tensor>{randn({4, 2}), randn({4, 3})}, model),
      ValueError, "in 0 (BatchNorm1d)");
  expect_restored();
  EXPECT_EQ(first.weight.grad().defined(), false);
}

TEST(UpdateBn, DoesNothingWithoutBatchNorms) {
  const nn::Sequential model(nn::InstanceNorm1d(2));
  int calls = 0;
  model->register_forward_pre_hook(
      [&](nn::Module&, std::vector<Tensor>&) { ++calls; });
  update_bn(std::vector<Tensor>{randn({1, 2, 3})}, model);
  EXPECT_EQ(calls, 0);
  const std::shared_ptr<nn::SequentialImpl> empty;
  SY_EXPECT_ERROR(update_bn(std::vector<Tensor>{}, empty), ValueError,
                  "[update_bn] model: expected a module, got an empty pointer");
}

}  // namespace
}  // namespace sy::test
