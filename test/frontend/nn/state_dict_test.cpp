#include "frontend/nn/state_dict.h"

#include <gtest/gtest.h>

#include "test/c10/expect_error.h"
#include "test/frontend/nn/samples.h"

namespace sy::test {
namespace {

using Names = std::vector<std::string>;

TEST(StateDict, HasParametersAndPersistentBuffers) {
  const auto net = std::make_shared<Net>();
  const nn::StateDict state = net->state_dict();
  Names names;
  for (const auto& [name, t] : state) names.push_back(name);
  EXPECT_EQ(names, (Names{"scale", "first.weight", "first.bias",
                          "second.weight", "second.bias"}));
  EXPECT_FALSE(state["first.weight"].requires_grad());
  EXPECT_TRUE(state["first.weight"].is_alias_of(net->first->weight));
  EXPECT_EQ(net->state_dict("net.").size(), 5u);
  EXPECT_TRUE(net->state_dict("net.").contains("net.scale"));
}

TEST(StateDict, Loads) {
  const auto a = std::make_shared<Net>(), b = std::make_shared<Net>();
  const Tensor weight = b->first->weight;
  b->load_state_dict(a->state_dict());
  EXPECT_TRUE(b->first->weight.is_same(weight));
  EXPECT_FALSE(weight.is_alias_of(a->first->weight));
  EXPECT_TRUE(weight.requires_grad());
  const Tensor x = randn({3, 4});
  EXPECT_TRUE(equal(a->forward(x), b->forward(x)));
  // To the dtype of the module.
  b->to(kDouble);
  b->load_state_dict(a->state_dict());
  EXPECT_EQ(weight.scalar_type(), kDouble);
}

TEST(StateDict, Assigns) {
  const auto a = std::make_shared<Net>(), b = std::make_shared<Net>();
  a->to(kDouble);
  b->load_state_dict(a->state_dict(), /*strict=*/true, /*assign=*/true);
  EXPECT_EQ(b->first->weight.scalar_type(), kDouble);
  EXPECT_TRUE(b->first->weight.is_alias_of(a->first->weight));
  EXPECT_TRUE(b->first->weight.requires_grad());
}

TEST(StateDict, ReportsAllThatIsAmissAtOnceAndLoadsNothing) {
  const auto net = std::make_shared<Net>();
  nn::StateDict state;
  state.insert("scale", ones({2}));
  state.insert("first.weight", ones({4, 4}));
  state.insert("first.bias", ones({3}));
  state.insert("extra", ones({1}));
  const Tensor before = net->scale.clone();
  try {
    net->load_state_dict(state);
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_STREQ(e.what(),
                 "[load_state_dict] Net: the state dict does not fit; nothing "
                 "was loaded\n"
                 "  'first.weight': expected sizes [3, 4], got [4, 4]\n"
                 "  2 missing: 'second.weight' 'second.bias'\n"
                 "  1 unexpected: 'extra'");
  }
  EXPECT_TRUE(equal(net->scale, before));
  SY_EXPECT_ERROR(net->load_state_dict(state, /*strict=*/false), ValueError,
                  "'first.weight': expected sizes [3, 4], got [4, 4]");
}

TEST(StateDict, NotStrictReturnsTheReport) {
  const auto net = std::make_shared<Net>();
  nn::StateDict state;
  state.insert("scale", ones({2}));
  state.insert("extra", ones({1}));
  const nn::LoadReport report = net->load_state_dict(state, false);
  EXPECT_EQ(report.missing_keys.size(), 4u);
  EXPECT_EQ(report.unexpected_keys, (Names{"extra"}));
  EXPECT_TRUE(equal(net->scale, ones({2})));
}

struct CounterImpl : nn::Module {
  Tensor extra_state() const override { return scalar_tensor(count, kLong); }
  void set_extra_state(const Tensor& t) override { count = t.item<int64_t>(); }
  int64_t count = 0;
};
SY_MODULE(Counter);

TEST(StateDict, HasExtraState) {
  nn::Module root;
  const Counter counter;
  root.register_module("counter", counter);
  counter->count = 42;
  const nn::StateDict state = root.state_dict();
  ASSERT_TRUE(state.contains("counter._extra_state"));
  counter->count = 0;
  root.load_state_dict(state);
  EXPECT_EQ(counter->count, 42);
  SY_EXPECT_ERROR(root.load_state_dict(nn::StateDict()), ValueError,
                  "1 missing: 'counter._extra_state'");
}

// The second version calls its weight so.
struct RenamedImpl : nn::Module {
  RenamedImpl() { weight = register_parameter("weight", zeros({2})); }
  int64_t version() const override { return 2; }
  void upgrade_state_dict(nn::StateDict& state, const std::string& prefix,
                          int64_t found) const override {
    if (found >= 2 || !state.contains(prefix + "w")) return;
    const Tensor old = state[prefix + "w"];
    state.erase(prefix + "w");
    state.insert(prefix + "weight", old);
  }
  nn::Parameter weight;
};
SY_MODULE(Renamed);

TEST(StateDict, OlderVersionsAreUpgraded) {
  nn::Module root;
  const Renamed renamed;
  root.register_module("part", renamed);
  EXPECT_EQ(root.state_dict().versions.at("part"), 2);
  EXPECT_EQ(root.state_dict().versions.at(""), 1);
  nn::StateDict state;
  state.insert("part.w", ones({2}));
  state.versions["part"] = 1;
  root.load_state_dict(state);
  EXPECT_TRUE(equal(renamed->weight, ones({2})));
}

TEST(StateDict, Hooks) {
  const Layer layer(2, 2);
  nn::Module root;
  root.register_module("layer", layer);
  layer->register_state_dict_hook(
      [](nn::Module&, nn::StateDict& state, const std::string& prefix) {
        EXPECT_EQ(prefix, "layer.");
        state.insert(prefix + "note", ones({1}));
      });
  nn::StateDict state = root.state_dict();
  EXPECT_TRUE(state.contains("layer.note"));
  SY_EXPECT_ERROR(root.load_state_dict(state), ValueError,
                  "1 unexpected: 'layer.note'");
  auto handle = layer->register_load_state_dict_post_hook(
      [](nn::Module&, nn::LoadReport& report) {
        report.unexpected_keys.clear();
      });
  root.load_state_dict(state);
  handle.remove();
  layer->register_load_state_dict_pre_hook(
      [](nn::Module&, nn::StateDict& s, const std::string& prefix) {
        s.erase(prefix + "note");
      });
  root.load_state_dict(state);
  EXPECT_TRUE(state.contains("layer.note"));
}

}  // namespace
}  // namespace sy::test
