#include <cstdlib>
#include <sstream>

#include "test/c10/expect_error.h"
#include "test/frontend/optim/archive_runs.h"

// Optimizers' archives: libtorch's, which make_torch_archives.cpp made, and our
// own.

namespace sy::test {

using namespace optim;

namespace {

std::string folder() {
  const char* const path = std::getenv("TEST_TMPDIR");
  return path != nullptr ? path : "/tmp";
}

void put_row(const std::vector<Tensor>& all, const Tensor& elements) {
  const NoGradGuard no_grad;
  int64_t at = 0;
  for (const Tensor& p : all) {
    p.copy_(elements.narrow(0, at, p.numel()).view(p.sizes()));
    at += p.numel();
  }
}

NamedTensors options_of(const Optimizer& optimizer) {
  NamedTensors options;
  for (const auto& [name, t] : optimizer.state_dict()) {
    if (name.starts_with("param_groups.")) options.insert(name, t);
  }
  return options;
}

}  // namespace

TEST(OptimizerArchive, GoesOnWhereLibtorchStopped) {
  const Tensor rows = load_state_dict(archive_path("expected"))["rows"];
  int64_t i = 0;
  for (const auto& [name, maker] : archive_makers()) {
    const std::vector<Tensor> all = archive_parameters(),
                              own = archive_parameters();
    // Up to the archive, both go the same way.
    const auto same = maker(own, true);
    archive_steps(*same, own, 0);
    expect_near(row(own), rows[i][0], 1e-13, name + " before");
    put_row(all, rows[i][0]);
    const auto optimizer = maker(all, false);
    load(*optimizer, archive_path(name));
    expect_same(options_of(*optimizer), options_of(*same), name);
    const NamedTensors state = optimizer->state_dict();
    for (const auto& [key, t] : same->state_dict()) {
      ASSERT_TRUE(state.contains(key)) << name << " " << key;
      if (!key.starts_with("state.")) continue;
      expect_near(state[key], t, 1e-12, str("{} {}", name, key));
    }
    archive_steps(*optimizer, all, kArchiveSteps);
    expect_near(row(all), rows[i][1], 1e-13, name);
    ++i;
  }
}

namespace {

// All that libtorch's file has is in ours, and of the same kind.
void expect_layout(const ArchiveValue& got, const ArchiveValue& expected,
                   const std::string& path) {
  ASSERT_EQ(got.kind(), expected.kind()) << path;
  if (got.is_tensor()) {
    EXPECT_EQ(got.to_tensor().sizes(), expected.to_tensor().sizes()) << path;
    EXPECT_EQ(got.to_tensor().scalar_type(), expected.to_tensor().scalar_type())
        << path;
  } else if (got.is_dict()) {
    for (const ArchiveEntry& e : expected.entries()) {
      const std::string key = e.key.to_string(), at = str("{}.{}", path, key);
      if (key == "al") continue;
      ASSERT_NE(got.find(key), nullptr) << at;
      expect_layout(got[key], e.value, at);
    }
  } else if (got.kind() == ArchiveValue::Kind::List ||
             got.kind() == ArchiveValue::Kind::Tuple) {
    ASSERT_EQ(got.items().size(), expected.items().size()) << path;
    for (size_t i = 0; i < got.items().size(); ++i) {
      expect_layout(got.items()[i], expected.items()[i],
                    str("{}[{}]", path, i));
    }
  }
}

}  // namespace

TEST(OptimizerArchive, HasLibtorchsLayout) {
  for (const auto& [name, maker] : archive_makers()) {
    const std::vector<Tensor> all = archive_parameters();
    const auto optimizer = maker(all, true);
    archive_steps(*optimizer, all, 0);
    const std::string bytes = saved(*optimizer);
    const ArchiveValue ours = read_torch_bytes(bytes.data(), bytes.size()),
                       theirs = read_torch_file(archive_path(name));
    EXPECT_EQ(ours["pytorch_version"].to_string(), "1.5.0");
    expect_layout(ours["param_groups"], theirs["param_groups"], name);
    int64_t number = 0;
    for (int g = 0; g < (name == "LBFGS" ? 1 : 2); ++g) {
      const std::string group = str("param_groups/{}", g);
      const ArchiveValue &a = ours["param_groups"][group],
                         &b = theirs["param_groups"][group];
      for (int i = 0; b.find(str("params/{}", i)) != nullptr; ++i) {
        const std::string key = a[str("params/{}", i)].to_string(),
                          address = b[str("params/{}", i)].to_string();
        // libtorch reads a number.
        EXPECT_EQ(key, std::to_string(number++)) << name;
        if (theirs["state"].find(address) == nullptr) continue;
        expect_layout(ours["state"][key], theirs["state"][address], name);
      }
    }
  }
}

// SWITCHYARD_TORCH_OPTIMIZERS names the program that make_torch_archives.cpp
// says how to build.
TEST(OptimizerArchive, LibtorchGoesOnWhereItStopped) {
  const char* const program = std::getenv("SWITCHYARD_TORCH_OPTIMIZERS");
  if (program == nullptr) {
    GTEST_SKIP() << "SWITCHYARD_TORCH_OPTIMIZERS names no program with "
                    "libtorch";
  }
  std::vector<Tensor> rows;
  for (const auto& [name, maker] : archive_makers()) {
    const std::vector<Tensor> all = archive_parameters();
    const auto optimizer = maker(all, true);
    archive_steps(*optimizer, all, 0);
    rows.push_back(row(all));
    save(*optimizer, folder() + "/" + name + ".pt");
    archive_steps(*optimizer, all, kArchiveSteps);
    rows.push_back(row(all));
  }
  save_state_dict({{"rows", stack(rows).view({-1, 2, rows[0].numel()})}},
                  folder() + "/expected.pt");
  const std::string command = str("{} check '{}'", program, folder());
  EXPECT_EQ(std::system(command.c_str()), 0);
}

namespace {

struct Case {
  std::string name, options;
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"SGD", "lr=0.1,momentum=0.9,maximize=true"},
      {"Adam", "lr=0.1,betas=0.8:0.9,amsgrad=true,decoupled_weight_decay=true"},
      {"Adam", "capturable=true"},
      {"AdamW", "lr=0.1,eps=0.001"},
      {"Adagrad", "lr_decay=0.1,initial_accumulator_value=0.5"},
      {"RMSprop", "centered=true,momentum=0.5"},
      {"LBFGS", "lr=0.5,max_iter=2,history_size=3"},
      {"LBFGS", "max_iter=4,max_eval=3,line_search_fn=strong_wolfe"},
      {"Adadelta", "rho=0.8"},
      {"Adamax", "betas=0.8:0.9"},
      {"NAdam", "momentum_decay=0.01"},
      {"RAdam", "lr=0.1"},
      {"ASGD", "lr=0.1,t0=2"},
      {"Rprop", "etas=0.4:1.3,step_sizes=0.001:10"},
      {"Adafactor", "lr=0.1,d=2"},
      {"Adafactor", "eps=0.001:0.01"},
      {"Muon", "lr=0.1,ns_coefficients=3:-4:2,adjust_lr_fn=match_rms_adamw"},
  };
  return all;
}

}  // namespace

TEST(OptimizerArchive, AllOptimizersGoThroughOne) {
  for (const auto& [name, options] : cases()) {
    const std::string where = str("{} {}", name, options);
    const std::vector<Tensor> p = parameters(name, kFloat),
                              q = parameters(name, kFloat);
    const auto first = make_optimizer(name, options, numbered(p));
    for (int s = 0; s < 3; ++s) take_step(*first, name, p, s);
    const auto second = make_optimizer(name, "", numbered(q));
    load_bytes(*second, saved(*first));
    expect_same(second->state_dict(), first->state_dict(), where);
    {
      const NoGradGuard no_grad;
      for (size_t i = 0; i < p.size(); ++i) q[i].copy_(p[i]);
    }
    for (int s = 3; s < 5; ++s) {
      take_step(*first, name, p, s);
      take_step(*second, name, q, s);
    }
    EXPECT_TRUE(equal(row(p), row(q))) << where;
  }
}

TEST(OptimizerArchive, HoldsAnOptimizerThatTookNoStep) {
  for (const auto& [name, options] : cases()) {
    const std::vector<Tensor> p = parameters(name, kFloat);
    const auto first = make_optimizer(name, options, numbered(p));
    const auto second = make_optimizer(name, "", numbered(p));
    load_bytes(*second, saved(*first));
    expect_same(second->state_dict(), first->state_dict(), name);
  }
  // One call of the closure, and no iteration.
  const Tensor w = zeros({2}, kDouble).requires_grad_();
  LBFGS first({w}), second({w});
  first.step([&] {
    w.mutable_grad() = zeros({2}, kDouble);
    return zeros({}, kDouble);
  });
  load_bytes(second, saved(first));
  EXPECT_EQ(second.state_dict()["state.0.func_evals"].item<int64_t>(), 1);
  EXPECT_EQ(second.state_dict().size(), first.state_dict().size());
}

namespace {

struct TwoOptimizers {
  Tensor a = arange(2, TensorOptions(kDouble)).clone().requires_grad_();
  Tensor b = full({2}, 3, kDouble).requires_grad_();

  // One of {first: a, second: b} after a step.
  std::string archive(const std::string& first, const std::string& second) {
    SGD sgd(NamedTensors{{first, a}, {second, b}}, SGDOptions(1).momentum(0.5));
    a.mutable_grad() = full({2}, 5, kDouble);
    b.mutable_grad() = full({2}, 7, kDouble);
    sgd.step();
    return saved(sgd);
  }
  static double momentum(const Optimizer& optimizer, const char* key) {
    return optimizer.state_dict()[str("state.{}.momentum_buffer", key)][0]
        .item<double>();
  }
};

}  // namespace

TEST(OptimizerArchive, MapsParametersByNameOrElseByPlace) {
  TwoOptimizers two;
  const Tensor &a = two.a, &b = two.b;
  SGD reordered(NamedTensors{{"b", b}, {"a", a}});
  load_bytes(reordered, two.archive("a", "b"));
  EXPECT_EQ(two.momentum(reordered, "a"), 5);
  EXPECT_EQ(two.momentum(reordered, "b"), 7);
  SGD renamed(NamedTensors{{"a", a}, {"c", b}});
  load_bytes(renamed, two.archive("a", "b"));
  EXPECT_EQ(two.momentum(renamed, "a"), 5);
  EXPECT_EQ(two.momentum(renamed, "c"), 7);
  SGD unnamed({a, b});
  load_bytes(unnamed, two.archive("a", "b"));
  EXPECT_EQ(two.momentum(unnamed, "1"), 7);
  // Renamed and reordered: neither names nor places are right.
  SGD both(NamedTensors{{"c", b}, {"a", a}});
  SY_EXPECT_ERROR(load_bytes(both, two.archive("a", "b")), ValueError,
                  "[SGD] load_state_dict: misshapen param_groups.0.names.0 "
                  "(expected c, got a)");
}

TEST(OptimizerArchive, KeepsOptionsThatLibtorchDoesNotHave) {
  const std::vector<Tensor> p = archive_parameters();
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{p[0], p[1]});
  groups.emplace_back(std::vector<Tensor>{p[2]});
  SGD sgd(std::move(groups), SGDOptions(1).maximize(true));
  sgd.param_groups()[1].options().set_initial_lr(3);
  load(sgd, archive_path("SGD"));
  auto& options = static_cast<SGDOptions&>(sgd.param_groups()[1].options());
  EXPECT_TRUE(options.maximize());
  EXPECT_EQ(options.lr(), 0.05);
  EXPECT_EQ(options.initial_lr(), 3);
  options.set_initial_lr(4);
  options.maximize(false);
  const std::string bytes = saved(sgd);
  options.set_initial_lr(std::nullopt);
  options.maximize(true);
  load_bytes(sgd, bytes);
  EXPECT_FALSE(options.maximize());
  EXPECT_EQ(options.initial_lr(), 4);
}

namespace {

struct OwnOptions : OptimizerCloneableOptions<OwnOptions> {
  const char* optimizer() const override { return "Own"; }
};

// Has its own state, and does not call read_options().
struct Own : OptimizerOf<OwnOptions> {
  using OptimizerOf::OptimizerOf;
  NamedTensors state_dict() const override { return state; }
  void load_state_dict(const NamedTensors& to) override { state = to; }
  NamedTensors state;
};

}  // namespace

TEST(OptimizerArchive, HoldsTheStateOfProgramsOptimizers) {
  const Tensor w = zeros({2}).requires_grad_();
  Own first({w}), second({w});
  first.state = {{"state.0.x", ones({3})}};
  load_bytes(second, saved(first));
  expect_same(second.state, first.state, "Own");
  Own wide({w, w.clone().detach().requires_grad_()});
  SY_EXPECT_ERROR(load_bytes(wide, saved(first)), ValueError,
                  "[Own] load_state_dict: misshapen param_groups.0.params "
                  "(expected 2, got 1)");
  first.state = {{"state.all.x", ones({3})}};
  SY_EXPECT_ERROR(
      saved(first), ValueError,
      "[Own] save: expected the states of parameters, got that of all");
}

TEST(OptimizerArchive, TuplesKeepTheirItems) {
  const Tensor t = ones({2});
  serialize::OutputArchive out;
  out.write_tuple("mixed", {Value(), 1, 0.5, true, "a", Value(TensorBase(t)),
                            Value(IntArrayRef({3, 4}))});
  out.write_tuple("none", {});
  out.write_tuple("floats", {0.5, 2.0});
  SY_EXPECT_ERROR(out.write_tuple("device", {1, Value(Device(kCPU))}),
                  TypeError, "[OutputArchive] 'device': expected None");
  std::stringstream bytes;
  out.save_to(bytes);
  serialize::InputArchive in;
  in.load_from(bytes);
  std::vector<Value> items;
  in.read("mixed", items);
  ASSERT_EQ(items.size(), 7u);
  EXPECT_TRUE(items[0].is_none());
  EXPECT_EQ(items[1].to_int(), 1);
  EXPECT_EQ(items[2].to_double(), 0.5);
  EXPECT_TRUE(items[3].to_bool());
  EXPECT_EQ(items[4].to_string_view(), "a");
  EXPECT_TRUE(equal(Tensor(items[5].to_tensor()), t));
  EXPECT_EQ(items[6].to_int_list(), IntArrayRef({3, 4}));
  Value v;
  EXPECT_FALSE(in.try_read("mixed", v));
  ASSERT_TRUE(in.try_read("floats", v));
  EXPECT_EQ(v.to_double_list()[1], 2.0);
  in.read("none", items);
  EXPECT_TRUE(items.empty());
  EXPECT_FALSE(in.try_read("other", items));
}

}  // namespace sy::test
