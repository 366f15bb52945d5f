#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/jit.h>
#include <sy/lazy.h>
#include <sy/sy.h>

#include <atomic>

#include "aten/backend/graph.h"
#include "test/frontend/compile/samples.h"

// Engines that run captured graphs, by their names.

namespace sy {

namespace {

using test::expect_same;
using test::sample;

// Views, writes, reductions, products, random numbers.
Tensor mixed(const Tensor& x, const Tensor& w) {
  Tensor h = matmul(x, w.t()).softmax(-1);
  h.select(0, 1).mul_(2);
  h = h +
      x.mean(-1, true) * rand({4, 1}, TensorOptions(kFloat).device(x.device()));
  return h.slice(1, 0, h.size(1), 2).transpose(0, 1).contiguous().exp_();
}

// A graph is run as it is described, a call after the other.
class Described final : public graph::Executable {
 public:
  void run(const graph::Graph& g, ArrayRef<Storage> inputs,
           Storage* outputs) override {
    std::vector<Storage> values(g.values().size());
    std::copy(inputs.begin(), inputs.end(), values.begin());
    for (size_t i = 0; i < g.calls().size(); ++i) {
      const graph::Call& c = g.calls()[i];
      std::vector<Tensor> operands;
      for (const graph::Operand& o : c.operands) {
        operands.push_back(graph::tensor_in(values[size_t(o.value)], o.layout));
      }
      g.run_call(static_cast<int>(i), operands, values.data() + c.first_result);
    }
    for (size_t k = 0; k < g.outputs().size(); ++k) {
      outputs[k] = values[size_t(g.outputs()[k])];
    }
  }
  std::string text() const override { return "as described\n"; }
};

class Describing final : public graph::Compiler {
 public:
  intrusive_ptr<graph::Executable> compile(const graph::Graph& g,
                                           std::string_view argument) override {
    SY_CHECK(argument != "none", NotImplemented, "nothing is taken");
    ++compiled;
    for (const graph::Call& c : g.calls()) names += str(" {}", c.name);
    return make_intrusive<Described>();
  }
  int compiled = 0;
  std::string names;
};

Describing& describing() {
  static const std::shared_ptr<Describing> compiler = [] {
    auto c = std::make_shared<Describing>();
    graph::add_compiler("described", c);
    return c;
  }();
  return *compiler;
}

class Backends : public testing::TestWithParam<const char*> {
 protected:
  Backends() { describing(); }
};

TEST_P(Backends, AgreeWithTheCallable) {
  const Tensor w = sample({6, 16}, 0.2);
  auto f = compile([&](const Tensor& x) { return mixed(x, w); },
                   {.fullgraph = true, .backend = GetParam()});
  constexpr int kCalls = 40;
  for (int i = 0; i < kCalls; ++i) {
    const Tensor x = sample({4, 16}, i);
    manual_seed(7 + i);
    const Tensor want = mixed(x, w);
    manual_seed(7 + i);
    expect_same(f(x), want);
  }
  // The first calls that fit are recorded again to compare.
  const CompileCounters c = f.counters();
  EXPECT_EQ(c.captures, 1);
  EXPECT_EQ(c.replays + c.checked, kCalls - 1);
  EXPECT_GE(c.replays, kCalls / 2);
  EXPECT_EQ(c.untold, 0);
}

TEST_P(Backends, RunTheBackwardGraph) {
  const Tensor w = sample({6, 16}, 0.2).requires_grad_();
  const auto loss = [&](const Tensor& x) {
    return (matmul(x, w.t()).tanh() * x.slice(1, 0, 6)).pow(2).mean();
  };
  auto f = compile(loss, {.fullgraph = true, .backend = GetParam()});
  for (int i = 0; i < 3; ++i) {
    const Tensor x = sample({4, 16}, i);
    loss(x).backward();
    const Tensor want = w.grad();
    w.mutable_grad().reset();
    f(x).backward();
    expect_same(w.grad(), want);
    w.mutable_grad().reset();
  }
  EXPECT_EQ(f.counters().backwards, 3);
}

TEST_P(Backends, RunTheLazyDevice) {
  const Tensor w = sample({6, 16}, 0.2), x = sample({4, 16});
  load_library("lazy").keep();
  lazy::set_engine(GetParam());
  for (int i = 0; i < 2; ++i) {
    manual_seed(7);
    const Tensor want = mixed(x, w);
    manual_seed(7);
    expect_same(mixed(x.to("lazy"), w.to("lazy")).to(kCPU), want);
  }
  lazy::set_engine("jit");
}

TEST_P(Backends, FailAsTheCallDoes) {
  const Tensor w = sample({5, 3});
  auto f =
      compile([&](const Tensor& at) { return w.index_select(0, at) * 2.0; },
              {.backend = GetParam()});
  const Tensor good = tensor({1, 2}), bad = tensor({1, 7});
  expect_same(f(good), w.index_select(0, good) * 2.0);
  try {
    f(bad);
    ADD_FAILURE() << "no error";
  } catch (const IndexError& e) {
    EXPECT_NE(std::string(e.what()).find("index_select"), std::string::npos)
        << e.what();
  }
  expect_same(f(good), w.index_select(0, good) * 2.0);
}

INSTANTIATE_TEST_SUITE_P(All, Backends,
                         testing::Values("jit", "interpret", "debug",
                                         "described", "described:none"));

TEST(BackendNames, DebugRunsEachCallByItself) {
  const auto chain = [](const Tensor& x) { return ((x + 1) * 2).exp().sin(); };
  auto fused = compile(chain), single = compile(chain, {.backend = "debug"});
  const Tensor x = sample({100});
  expect_same(single(x), fused(x));
  EXPECT_NE(fused.explain().find("4 calls in 1 steps"), std::string::npos)
      << fused.explain();
  EXPECT_NE(single.explain().find("4 calls in 4 steps"), std::string::npos)
      << single.explain();
}

TEST(BackendNames, InterpretRunsNothingCompiled) {
  const auto chain = [](const Tensor& x) {
    return ((x + 1) * 2 - x * 0.5).exp() * 3 + 1;
  };
  jit::set_mode(jit::Mode::kWait);
  const Tensor x = sample({1 << 16});
  const auto runs = [&](const char* backend) {
    auto f = compile(chain, {.backend = backend});
    f(x);
    const int64_t before = jit::counters().runs;
    for (int i = 0; i < 5; ++i) f(x);
    return jit::counters().runs - before;
  };
  EXPECT_EQ(runs("interpret"), 0);
  EXPECT_GE(runs("jit"), 5);
}

TEST(BackendNames, ACompilerSeesTheGraphOnce) {
  Describing& d = describing();
  const int before = d.compiled;
  auto f = compile([](const Tensor& x, double s) { return (x * s).sum(); },
                   {.backend = "described"});
  const Tensor x = sample({3, 4});
  for (int i = 0; i < 3; ++i) expect_same(f(x, 2.0), (x * 2.0).sum());
  EXPECT_EQ(d.compiled, before + 1);
  // Another number is another capture, but no other program.
  expect_same(f(x, 3.0), (x * 3.0).sum());
  EXPECT_EQ(d.compiled, before + 1);
  const Tensor other = sample({5, 4});
  expect_same(f(other, 3.0), (other * 3.0).sum());
  EXPECT_EQ(d.compiled, before + 2);
  EXPECT_NE(d.names.find("aten::mul"), std::string::npos) << d.names;
  EXPECT_NE(f.explain().find("as described"), std::string::npos) << f.explain();
}

TEST(BackendNames, SayWhyAGraphIsNotTaken) {
  describing();
  auto f = compile([](const Tensor& x) { return x * 2 + 1; },
                   {.backend = "described:none"});
  const Tensor x = sample({3});
  expect_same(f(x), x * 2 + 1);
  EXPECT_NE(f.explain().find("not taken: nothing is taken"), std::string::npos)
      << f.explain();
}

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const ValueError& e) {
    return e.what();
  }
  return "no ValueError";
}

TEST(BackendNames, ANameThatNobodyHasIsAnError) {
  describing();
  auto f = compile([](const Tensor& x) { return x * 2; },
                   {.backend = "no_such_engine"});
  const Tensor x = sample({3});
  const std::string text = error_of([&] { f(x); });
  for (const char* word :
       {"debug", "described", "interpret", "jit", "no_such_engine"}) {
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
  auto g = compile([](const Tensor& t) { return t * 2; },
                   {.backend = "jit:something"});
  EXPECT_NE(error_of([&] { g(x); }).find("expected no argument"),
            std::string::npos);
}

TEST(BackendNames, AreAddedOnce) {
  describing();
  const auto add = [](const char* name) {
    return error_of(
        [&] { graph::add_compiler(name, std::make_shared<Describing>()); });
  };
  EXPECT_NE(add("described").find("there is a 'described' already"),
            std::string::npos);
  EXPECT_NE(add("jit").find("there is a 'jit' already"), std::string::npos);
  EXPECT_NE(add("a:b").find("letters"), std::string::npos);
  EXPECT_NE(
      error_of([] { graph::add_compiler("empty", nullptr); }).find("nullptr"),
      std::string::npos);
}

}  // namespace

}  // namespace sy
