#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "test/frontend/compile/samples.h"

// Tensors that code sees without being given them: of which it asks properties
// alone, that objects on the heap have, that are arguments too. Each test calls
// the compiled callable and the code side by side and changes one thing at call
// 20 and call 41; checked calls are 1, 2, 4, 8, 16, 32 and so on.

namespace sy {

namespace {

using test::expect_same;
using test::sample;

// Calls f(x) and g(x); `change(round)` before calls 20 and 41.
template <class F, class G>
void side_by_side(
    F& f, const G& g, const std::function<void(int)>& change,
    const std::function<Tensor(int)>& argument = [](int i) {
      return sample({4}, i);
    }) {
  for (int i = 0; i < 60; ++i) {
    if (i == 20) change(1);
    if (i == 41) change(2);
    const Tensor x = argument(i);
    expect_same(f(x), g(x));
    ASSERT_FALSE(testing::Test::HasFailure()) << "call " << i << "\n"
                                              << f.explain();
  }
  EXPECT_GT(f.counters().replays, 20) << f.explain();
}

TEST(Seen, SizesOfATensorThatNoCallReads) {
  Tensor w = sample({2, 6});
  const auto code = [&](const Tensor& x) { return x * double(w.size(0)); };
  auto f = compile(code);
  side_by_side(f, code, [&](int) { w.t_(); });
}

TEST(Seen, SizesOfATensorThatTheCodeHas) {
  Tensor w = sample({2, 6});
  const auto code = [w](const Tensor& x) { return x * double(w.size(0)); };
  auto f = compile(code);
  side_by_side(f, code, [&](int round) { w.resize_({round + 2, 2}); });
}

nn::Linear square() { return nn::Linear(nn::LinearOptions(4, 4).bias(false)); }
struct NetImpl : nn::Module {
  nn::Linear first = register_module("first", square());
  Tensor forward(const Tensor& x) { return first(x) * 0.5; }
};
SY_MODULE(Net);

// One graph fits the first module with its weight and the second with its own,
// but neither with another argument.
TEST(Seen, AnArgumentThatAModuleHas) {
  Net net;
  const auto code = [&](const Tensor& x) { return net(x).square().mean(); };
  auto f = compile(code);
  Tensor old;
  side_by_side(
      f, code,
      [&](int) {
        old = net->first->weight;
        net->first = net->replace_module("first", square());
      },
      [&](int i) {
        const bool ours = i % 20 > 2 && i % 20 < 5;
        return ours ? net->first->weight : sample({4, 4}, i).requires_grad_();
      });
}

TEST(Seen, AnArgumentThatAnOptimizerHas) {
  Tensor w = sample({4});
  optim::SGD sgd({w.requires_grad_()}, optim::SGDOptions(0.5));
  const auto code = [&](const Tensor& x) {
    sgd.zero_grad();
    (x * x).sum().backward();
    sgd.step();
    return x.detach() + 0;
  };
  auto f = compile(code);
  for (int i = 0; i < 40; ++i) {
    const bool ours = i % 20 < 9;
    if (i == 20) {
      w = sample({4}).requires_grad_();
      sgd.param_groups()[0].params()[0] = w;
    }
    const Tensor x = ours ? w : sample({4}, i).requires_grad_();
    Tensor want = x.detach().clone();
    if (ours) want = want - want * 2 * 0.5;
    expect_same(f(x), want);
    ASSERT_FALSE(testing::Test::HasFailure()) << "call " << i << "\n"
                                              << f.explain();
  }
}

// A tensor is given for some calls, replaced while it is not, given again: one
// graph fits each of these tensors as the argument, but no other argument.
template <class Code>
void given_at_times(Tensor* place, const Code& code, int64_t least = 60) {
  auto f = compile(code);
  std::vector<Tensor> old;
  for (int i = 0; i < 200; ++i) {
    const bool given = i % 10 < 3;
    if (i % 10 == 7)
      old.push_back(std::exchange(*place, sample({4}, 1000 + i)));
    const Tensor x = given ? *place : sample({4}, i);
    expect_same(f(x), code(x));
    ASSERT_FALSE(testing::Test::HasFailure()) << "call " << i << "\n"
                                              << f.explain();
  }
  EXPECT_GT(f.counters().replays, least) << f.explain();
}

TEST(Seen, AnArgumentThatAVariableHas) {
  Tensor w = sample({4});
  given_at_times(&w, [&](const Tensor& x) { return x * w; });
}

TEST(Seen, AnArgumentThatAListHas) {
  std::vector<Tensor> list{sample({4}), sample({4})};
  given_at_times(&list[1], [&](const Tensor& x) { return x * list[1]; });
}

TEST(Seen, AnArgumentThatALongListHas) {
  std::vector<Tensor> list(600);
  for (Tensor& t : list) t = sample({4});
  given_at_times(&list[500], [&](const Tensor& x) { return x * list[500]; });
}

struct Lists {
  int64_t more[12] = {};
  std::vector<Tensor> list{sample({4}), sample({4})};
};

TEST(Seen, AnArgumentThatAListOfAVariableHas) {
  Lists w;
  given_at_times(&w.list[1], [&](const Tensor& x) { return x * w.list[1]; });
}

TEST(Seen, AnArgumentThatAListOfAnObjectHas) {
  const auto w = std::make_unique<Lists>();
  given_at_times(&w->list[1],
                 [p = w.get()](const Tensor& x) { return x * p->list[1]; });
}

TEST(Seen, AnArgumentThatAnObjectHas) {
  const auto w = std::make_unique<Lists>();
  given_at_times(&w->list[1], [&](const Tensor& x) { return x * w->list[1]; });
}

struct Model {
  int64_t more[30] = {};
  Tensor bias = sample({4}, 3), weight = sample({4}, 4);
};

// The callable has an address within an object, or the object has one. The
// object around it differs at each replacement.
TEST(Seen, AnArgumentThatAReferenceHas) {
  constexpr int64_t kLeast = 40;
  const auto w = std::make_unique<Model>();
  Tensor& weight = w->weight;
  const auto by_reference = [&weight](const Tensor& x) { return x * weight; };
  given_at_times(&weight, by_reference, kLeast);
  struct Step {
    int64_t more[9] = {};
    Tensor* weight;
  };
  const auto step = std::make_unique<Step>();
  step->weight = &weight;
  const auto by_pointer = [p = step.get()](const Tensor& x) {
    return x * *p->weight;
  };
  given_at_times(&weight, by_pointer, kLeast);
}

// It may be replaced for each call; it is always the one of the object.
TEST(Seen, AnArgumentThatIsAlwaysAMember) {
  struct {
    Tensor batch;
    Tensor step(const Tensor& x) const { return x * batch.sum(); }
  } trainer;
  auto f = compile([&](const Tensor& x) { return trainer.step(x); });
  for (int i = 0; i < 100; ++i) {
    trainer.batch = sample({4}, i);
    expect_same(f(trainer.batch), trainer.step(trainer.batch));
  }
  EXPECT_GT(f.counters().replays, 60) << f.explain();
}

TEST(Seen, WhetherATensorRequiresAGradient) {
  Tensor w = sample({2});
  const auto code = [&](const Tensor& x) {
    return w.requires_grad() ? x * 2 : x + 1;
  };
  auto f = compile(code);
  side_by_side(f, code, [&](int round) { w.requires_grad_(round == 1); });
}

struct Config {
  int64_t more[12] = {};
  float scale = 2;
  bool negative = false;
  Tensor of(const Tensor& x) const { return negative ? -x : x * scale; }
  void change(int round) {
    if (round == 1) scale = 3;
    if (round == 2) negative = true;
  }
};

TEST(Seen, NumbersOfAnObjectThatTheCodeShares) {
  const auto config = std::make_shared<Config>();
  const auto code = [config](const Tensor& x) { return config->of(x); };
  auto f = compile(code);
  side_by_side(f, code, [&](int round) { config->change(round); });
}

TEST(Seen, NumbersOfAnObjectBehindAVariable) {
  auto config = std::make_unique<Config>();
  const auto code = [&](const Tensor& x) { return config->of(x); };
  auto f = compile(code);
  side_by_side(f, code, [&](int round) {
    if (round == 2) config = std::make_unique<Config>();
    config->change(round);
  });
}

struct Trainer {
  Tensor weight = sample({4}, 5);
  std::unique_ptr<Config> config = std::make_unique<Config>();
  Tensor step(const Tensor& x) const { return config->of(x) + weight; }
};

TEST(Seen, NumbersOfAnObjectBehindAMember) {
  const auto trainer = std::make_unique<Trainer>();
  const auto code = [t = trainer.get()](const Tensor& x) { return t->step(x); };
  auto f = compile(code);
  side_by_side(f, code, [&](int round) { trainer->config->change(round); });
}

// Others keep the old tensor, and there are as many owners as before.
TEST(Seen, AMemberOfAnObjectOnTheHeap) {
  const auto model = std::make_unique<Model>();
  const auto code = [m = model.get()](const Tensor& x) {
    return x * m->weight + m->bias;
  };
  auto f = compile(code);
  std::vector<Tensor> kept;
  side_by_side(f, code, [&](int round) {
    Tensor& changed = round == 1 ? model->weight : model->bias;
    kept.push_back(changed);
    changed = sample({4}, 10 + round);
  });
}

TEST(Seen, AMemberOfAnObjectBehindAVariable) {
  auto model = std::make_unique<Model>();
  const auto code = [&](const Tensor& x) {
    return x * model->weight + model->bias;
  };
  auto f = compile(code);
  std::vector<Tensor> kept;
  side_by_side(f, code, [&](int round) {
    if (round == 2) {  // another object, and this one is gone
      auto next = std::make_unique<Model>();
      next->weight = model->weight;
      kept.push_back(model->bias);
      next->bias = sample({4}, 20);
      model = std::move(next);
      return;
    }
    kept.push_back(model->weight);
    model->weight = sample({4}, 11);
  });
}

TEST(Seen, ATensorThatIsReplacedWhileItIsTheArgument) {
  const auto model = std::make_unique<Model>();
  const Tensor first = model->weight;
  const auto code = [m = model.get()](const Tensor& x) {
    return x * m->weight;
  };
  auto f = compile(code);
  side_by_side(
      f, code, [&](int round) { model->weight = sample({4}, 10 + round); },
      [&](int) { return first; });
}

TEST(Seen, AVariableThatIsReplacedWhileItIsTheArgument) {
  Tensor w = sample({4});
  const Tensor first = w;
  const auto code = [&](const Tensor& x) { return x * w; };
  auto f = compile(code);
  side_by_side(
      f, code, [&](int round) { w = sample({4}, 10 + round); },
      [&](int) { return first; });
}

}  // namespace

}  // namespace sy
