#include <sy/lazy.h>

#include <map>
#include <sstream>

#include "test/c10/expect_error.h"
#include "test/frontend/optim/swa_models.h"

// Averages of models beside PyTorch's.

namespace sy::test {
namespace {

using namespace optim::swa_utils;

std::map<std::string, AveragedModelOptions> kinds() {
  using Options = AveragedModelOptions;
  return {
      {"swa", Options()},
      {"swa_avg_fn", Options().avg_fn(get_swa_avg_fn())},
      {"swa_buffers", Options().use_buffers(true)},
      {"ema", Options().multi_avg_fn(get_ema_multi_avg_fn(0.75))},
      {"ema_avg_fn", Options().avg_fn(get_ema_avg_fn(0.25))},
      {"ema_buffers",
       Options().multi_avg_fn(get_ema_multi_avg_fn(0.6)).use_buffers(true)},
      {"own", Options().avg_fn([](const Tensor& a, const Tensor& c, int64_t n) {
         return a + c * n;
       })},
  };
}

TEST(AveragedModel, GivesWhatPyTorchGives) {
  for (const auto& [kind, options] : kinds()) {
    const auto average = averaged(make_model(), options);
    EXPECT_EQ(average->n_averaged.item<int64_t>(), 4);
    expect_state(average->state_dict(), kind);
  }
}

TEST(AveragedModel, TakesHoldersPointersAndModules) {
  const nn::Sequential model = make_model();
  AveragedModel of_holder(model);
  AveragedModel of_pointer(model.ptr());
  AveragedModel of_module(*model);
  of_holder->update_parameters(model);
  of_pointer->update_parameters(model.ptr());
  of_module->update_parameters(*model);
  static_assert(std::is_same_v<decltype(of_holder), decltype(of_module)>);
  static_assert(
      std::is_same_v<decltype(of_pointer), AveragedModel<nn::SequentialImpl>>);
  EXPECT_EQ(of_module->n_averaged.item<int64_t>(), 1);

  const AveragedModel same = of_holder;
  EXPECT_EQ(same.get(), of_holder.get());
  AveragedModel<nn::SequentialImpl> none = nullptr;
  EXPECT_TRUE(none.is_empty());

  // Averages of a model behind a base, and of a variable, which no pointer
  // owns.
  const std::shared_ptr<nn::Module> base = model.ptr();
  AveragedModel of_base(base);
  of_base->update_parameters(base);
  EXPECT_NE(of_base->module->as<nn::Sequential>(), nullptr);
  struct Plain : nn::Module {
    Plain() { layer = register_module("layer", nn::Linear(2, 2)); }
    Tensor forward(const Tensor& x) { return layer(x); }
    nn::Linear layer{nullptr};
  };
  Plain plain;
  AveragedModel of_plain(plain);
  of_plain->update_parameters(plain);
  EXPECT_TRUE(equal(of_plain(ones({1, 2})), plain.forward(ones({1, 2}))));
  EXPECT_FALSE(
      of_plain->module->layer->weight.is_alias_of(plain.layer->weight));

  const std::shared_ptr<nn::SequentialImpl> empty;
  SY_EXPECT_ERROR(AveragedModel{empty}, ValueError,
                  "[AveragedModel] model: expected a module, got an empty");
  SY_EXPECT_ERROR(of_holder->update_parameters(empty), ValueError,
                  "[update_parameters] model: expected a module");
}

TEST(AveragedModel, CallsTheAverageWithItsHooks) {
  const nn::LSTM model(nn::LSTMOptions(3, 2));
  AveragedModel average(model);
  int calls = 0;
  average->module->register_forward_hook(
      [&](nn::Module&, TensorList, std::vector<Tensor>&) { ++calls; });
  const Tensor x = randn({4, 1, 3});
  const auto [y, states] = average(x);
  const auto [want, want_states] = model(x);
  EXPECT_TRUE(equal(y, want));
  EXPECT_TRUE(equal(get<1>(states), get<1>(want_states)));
  EXPECT_EQ(calls, 1);

  const nn::Linear layer(2, 2);
  const nn::Sequential in_sequence(AveragedModel{layer}, nn::ReLU());
  EXPECT_TRUE(equal(in_sequence(ones({1, 2})), layer(ones({1, 2})).relu()));
  SY_EXPECT_ERROR(in_sequence(ones({1, 3})), ValueError, "in module (Linear)");
  std::ostringstream text;
  text << AveragedModel{layer};
  EXPECT_EQ(text.str(),
            "AveragedModel(\n  (module): Linear(in_features=2, "
            "out_features=2, bias=True)\n)");
}

TEST(AveragedModel, HasPyTorchsNamesAndComesBackFromFiles) {
  const nn::Sequential model = make_model();
  const auto average = averaged(model, {});
  EXPECT_EQ(average->state_dict().keys(), recorded("swa/").keys());

  AveragedModel other(make_model());
  other->load_state_dict(recorded("swa/"));
  expect_state(other->state_dict(), "swa");
  const std::string path = ::testing::TempDir() + "swa_test.pt";
  save_state_dict(average->state_dict(), path);
  AveragedModel third(make_model());
  third->load_state_dict(load_state_dict(path));
  expect_state(third->state_dict(), "swa");
  // It goes on where it was.
  third->update_parameters(model);
  average->update_parameters(model);
  for (const auto& [name, t] : average->state_dict()) {
    EXPECT_TRUE(equal(third->state_dict()[name], t)) << name;
  }
}

TEST(AveragedModel, IsOnlyACopy) {
  const nn::Sequential model = make_model();
  AveragedModel average(model);
  average->update_parameters(model);
  average->update_parameters(model);
  for (const auto& [name, t] : average->named_parameters()) {
    EXPECT_TRUE(t.is_leaf());
    EXPECT_TRUE(t.requires_grad());
  }
  const Tensor weight = model->at<nn::LinearImpl>(0).weight;
  EXPECT_FALSE(average->get_parameter("module.0.weight").is_alias_of(weight));
  const auto copy = nn::clone(average.ptr());
  copy->update_parameters(model);
  EXPECT_EQ(copy->n_averaged.item<int64_t>(), 3);
  EXPECT_EQ(average->n_averaged.item<int64_t>(), 2);
  EXPECT_TRUE(copy->get_submodule("module") == copy->module.ptr());
  EXPECT_TRUE(copy->n_averaged.is_same(copy->get_buffer("n_averaged")));
}

TEST(AveragedModel, GivesListsOfOneDtypeToFunctions) {
  const nn::Sequential model(nn::Linear(2, 2), nn::Linear(2, 2),
                             nn::BatchNorm1d(2));
  model->at<nn::LinearImpl>(1).to(kDouble);
  std::vector<std::string> calls;
  AveragedModel average(
      model,
      AveragedModelOptions().use_buffers(true).multi_avg_fn(
          [&](TensorList a, TensorList c, int64_t n) {
            ASSERT_EQ(a.size(), c.size());
            for (size_t i = 0; i < a.size(); ++i) {
              EXPECT_EQ(a[i].scalar_type(), a[0].scalar_type());
              EXPECT_EQ(c[i].scalar_type(), a[0].scalar_type());
              EXPECT_FALSE(a[i].requires_grad());
            }
            calls.push_back(str("{} {} {}", a.size(), a[0].scalar_type(), n));
          }));
  average->update_parameters(model);
  EXPECT_TRUE(calls.empty());
  average->update_parameters(model);
  EXPECT_EQ(calls, (std::vector<std::string>{"6 float32 1", "2 float64 1",
                                             "1 int64 1"}));
}

TEST(AveragedModel, CopiesBoolBuffers) {
  struct Masked : nn::Module {
    Masked() { mask = register_buffer("mask", zeros({2}, kBool)); }
    nn::Parameter mask;
  };
  const auto model = std::make_shared<Masked>();
  AveragedModel average(model, AveragedModelOptions().use_buffers(true));
  average->update_parameters(model);
  model->mask.fill_(true);
  average->update_parameters(model);
  EXPECT_TRUE(average->module->mask.all().item<bool>());
}

// Its value is the original itself: averaged twice, it would be another.
struct Same : nn::utils::parametrize::Parametrization {
  Tensor compute(TensorList x) override { return x[0].view(x[0].sizes()); }
};

TEST(AveragedModel, AveragesOriginalsOfComputedParameters) {
  manual_seed(5);  // a sum near 0 would differ by its rounding
  for (const bool use_buffers : {false, true}) {
    nn::Linear model(2, 2);
    nn::utils::parametrize::register_parametrization(*model, "weight",
                                                     std::make_shared<Same>());
    AveragedModel average(model,
                          AveragedModelOptions().use_buffers(use_buffers));
    const Tensor original =
        model->get_parameter("parametrizations.weight.original");
    Tensor sum = zeros({2, 2});
    for (int i = 0; i < 3; ++i) {
      const NoGradGuard no_grad;
      original.normal_();
      sum += original;
      model(ones({1, 2}));
      average->update_parameters(model);
      average(ones({1, 2}));
    }
    EXPECT_TRUE(allclose(
        average->module->get_parameter("parametrizations.weight.original"),
        sum / 3));
  }
}

TEST(AveragedModel, WorksInHalfAndAcrossDtypes) {
  const nn::Sequential model = make_model();
  model->half();
  expect_state(averaged(model, {})->state_dict(), "swa", 4e-3);
  EXPECT_EQ(averaged(model, {})->get_parameter("module.0.weight").scalar_type(),
            kHalf);
  // An average of more digits than the model has.
  AveragedModel exact(model);
  exact->to(kFloat);
  exact->update_parameters(model);
  model->at<nn::LinearImpl>(0).weight.detach().fill_(1);
  exact->module->at<nn::LinearImpl>(0).weight.detach().fill_(2);
  for (int i = 0; i < 3; ++i) exact->update_parameters(model);
  EXPECT_TRUE(allclose(exact->module->at<nn::LinearImpl>(0).weight,
                       full({3, 2}, 1.25)));
}

TEST(AveragedModel, WorksOnTheLazyDevice) {
  load_library("lazy").keep();
  for (const auto& [kind, options] : kinds()) {
    const nn::Sequential model = make_model();
    model->to("lazy");
    const auto average = averaged(model, options);
    EXPECT_EQ(average->get_parameter("module.0.weight").device().type(), kLazy);
    lazy::sync();
    expect_state(average->state_dict(), kind);
  }
  // The average alone is elsewhere.
  const nn::Sequential model = make_model();
  const auto average =
      averaged(model, AveragedModelOptions().device(Device("lazy")));
  EXPECT_EQ(average->n_averaged.device().type(), kLazy);
  EXPECT_EQ(average->get_parameter("module.0.weight").device().type(), kLazy);
  expect_state(average->state_dict(), "swa");
  const nn::Sequential there = make_model();
  there->to("lazy");
  const auto here = averaged(there, AveragedModelOptions().device(kCPU));
  EXPECT_TRUE(here->get_parameter("module.0.weight").device().is_cpu());
  expect_state(here->state_dict(), "swa");
  // Statistics are made there as well.
  const auto batches = recorded("batches/").values();
  average->to("lazy");
  update_bn(batches, average, Device("lazy"));
  expect_state(average->state_dict(), "update_bn");
}

TEST(AveragedModel, NamesWhatDoesNotFitAndChangesNothing) {
  const nn::Sequential model = make_model();
  AveragedModel average(model);
  average->update_parameters(model);
  const Tensor before = average->get_parameter("module.0.weight").clone();
  const auto other = [](auto... layers) { return nn::Sequential(layers...); };
  const auto wide = nn::LinearOptions(2, 3).bias(false);
  SY_EXPECT_ERROR(
      average->update_parameters(other(nn::Linear(2, 3), nn::BatchNorm1d(3))),
      ValueError,
      "[update_parameters] '0.bias': the model has this parameter, the "
      "average does not: expected 3, got 4");
  SY_EXPECT_ERROR(
      average->update_parameters(other(nn::Linear(wide))), ValueError,
      "[update_parameters] '1.weight': the average has this parameter, the "
      "model does not: expected 3, got 1");
  SY_EXPECT_ERROR(
      average->update_parameters(other(nn::Linear(wide), nn::BatchNorm1d(4))),
      ValueError,
      "[update_parameters] '1.weight': expected a parameter of sizes [3], as "
      "the average has, got [4]");
  SY_EXPECT_ERROR(
      average->update_parameters(other(
          nn::Linear(wide),
          nn::BatchNorm1d(nn::BatchNormOptions(3).track_running_stats(false)))),
      ValueError,
      "[update_parameters] '1.running_mean': the average has this buffer");
  EXPECT_TRUE(equal(average->get_parameter("module.0.weight"), before));
  EXPECT_EQ(average->n_averaged.item<int64_t>(), 1);

  SY_EXPECT_ERROR(
      AveragedModel(model, AveragedModelOptions()
                               .avg_fn(get_swa_avg_fn())
                               .multi_avg_fn(get_swa_multi_avg_fn())),
      ValueError, "expected one of avg_fn and multi_avg_fn, got both");
  AveragedModel wrong(
      model, AveragedModelOptions().avg_fn(
                 [](const Tensor& a, const Tensor&, int64_t) { return a[0]; }));
  wrong->update_parameters(model);
  SY_EXPECT_ERROR(wrong->update_parameters(model), ValueError,
                  "'0.weight': expected a result of avg_fn of sizes [3, 2], "
                  "got [2]");
  SY_EXPECT_ERROR(get_ema_avg_fn(1.5), ValueError,
                  "[get_ema_avg_fn] decay: expected from 0 to 1, got 1.5");
  SY_EXPECT_ERROR(get_ema_multi_avg_fn(-0.1), ValueError,
                  "[get_ema_multi_avg_fn] decay: expected from 0 to 1");
}

TEST(Swalr, IsHereToo) {
  static_assert(std::is_same_v<optim::swa_utils::SWALR, optim::SWALR>);
}

}  // namespace
}  // namespace sy::test
