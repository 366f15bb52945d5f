#include "autograd/function.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "autograd/api.h"
#include "autograd/gradcheck.h"
#include "test/autograd/sample_ops.h"
#include "test/c10/expect_error.h"

// Functions of the user: as torch::autograd::Function has them.

namespace sy::sample {
namespace {

using namespace sy::autograd;  // NOLINT
using sy::autograd::Node;
using V = std::vector<double>;

Tensor scaled(const Tensor& t, double by) { return mul(t, tensor({by}, {})); }

void check(GradcheckFunction f, const std::vector<Tensor>& inputs) {
  GradcheckOptions options;
  options.second_order = true;
  const auto r = gradcheck(f, inputs, options);
  EXPECT_TRUE(r.ok()) << r.problem;
}

// factor * x^2 * w
struct Weighted : Function<Weighted> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double factor,
                        const Tensor& w) {
    EXPECT_FALSE(GradMode::is_enabled());
    ctx->save_for_backward({x, w});
    ctx->saved_data["factor"] = factor;
    return scaled(mul(mul(x, x), w), factor);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const double factor = ctx->saved_data["factor"].to_double();
    const Tensor g = scaled(grads[0], factor);
    Tensor for_x, for_w;
    if (ctx->needs_input_grad(0)) {
      for_x = scaled(mul(g, mul(saved[0], saved[1])), 2);
    }
    if (ctx->needs_input_grad(1)) for_w = mul(g, mul(saved[0], saved[0]));
    return {for_x, Tensor(), for_w};
  }
};

TEST(Function, HasTheGradientItSays) {
  check([](TensorList t) { return Weighted::apply(t[0], 3.0, t[1]); },
        {numbers({3}), numbers({3})});
  check([](TensorList t) { return Weighted::apply(t[0], 3.0, t[1]); },
        {numbers({3}), numbers({3}, false)});
  const Tensor y = Weighted::apply(numbers({2}), 2.0, numbers({2}));
  EXPECT_NE(grad_fn_name(y).find("Weighted"), std::string::npos);
  EXPECT_FALSE(y.is_leaf());
}

TEST(Function, RecordsNothingWithoutNeed) {
  const int64_t before = Node::live_count();
  const Tensor x = numbers({2}, false), w = numbers({2});
  EXPECT_FALSE(Weighted::apply(x, 1.0, x).requires_grad());
  const NoGradGuard guard;
  EXPECT_FALSE(Weighted::apply(x, 1.0, w).requires_grad());
  EXPECT_EQ(Node::live_count(), before);
}

TEST(Function, ComputesOnlyWhatIsAsked) {
  struct Asked : Function<Asked> {
    static Tensor forward(AutogradContext*, const Tensor& a, const Tensor& b) {
      return add(a, b);
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
      EXPECT_FALSE(ctx->needs_input_grad(0));
      EXPECT_TRUE(ctx->needs_input_grad(1));
      EXPECT_FALSE(ctx->needs_input_grad(2));
      return {Tensor(), grads[0]};
    }
  };
  const Tensor a = numbers({1}), b = numbers({1});
  EXPECT_EQ(values(grad(Asked::apply(a, b), b)[0]), V({1}));
}

// sin and cos of each of a list, and how many there were.
struct Pair : Function<Pair> {
  static variable_list forward(AutogradContext* ctx, TensorList list,
                               const std::optional<Tensor>& shift) {
    Tensor s = list[0];
    for (size_t i = 1; i < list.size(); ++i) s = mul(s, list[i]);
    if (shift) s = add(s, *shift);
    variable_list all(list.begin(), list.end());
    ctx->save_for_backward(all);
    Tensor count = tensor({double(list.size())}, {}, kLong);
    Tensor free = mul(s, s);
    ctx->mark_non_differentiable({count, free});
    return {s, mul(list[0], list[0]), count, free};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto x = ctx->get_saved_variables();
    variable_list r;
    for (size_t i = 0; i < x.size(); ++i) {
      Tensor g = grads[0];
      for (size_t k = 0; k < x.size(); ++k) {
        if (k != i) g = mul(g, x[k]);
      }
      if (i == 0) g = add(g, scaled(mul(grads[1], x[0]), 2));
      r.push_back(g);
    }
    r.push_back(grads[0]);
    return r;
  }
};

TEST(Function, TakesListsAndOptionalTensorsAndGivesSeveralResults) {
  const auto f = [](TensorList t) {
    const auto r = Pair::apply(std::vector<Tensor>{t[0], t[1], t[2]},
                               std::optional<Tensor>(t[3]));
    EXPECT_FALSE(r[2].requires_grad());
    EXPECT_FALSE(r[3].requires_grad());
    return std::vector<Tensor>{r[0], r[1]};
  };
  check(f, {numbers({2}), numbers({2}), numbers({2}, false), numbers({2})});
  const auto g = [](TensorList t) {
    return Pair::apply(t, std::optional<Tensor>())[1];
  };
  check(g, {numbers({2}), numbers({2})});
}

TEST(Function, UndefinedGradientsIfItAsksForThem) {
  static bool materialize, defined;
  struct Two : Function<Two> {
    static variable_list forward(AutogradContext* ctx, const Tensor& x) {
      ctx->set_materialize_grads(materialize);
      return {scaled(x, 1), scaled(x, 2)};
    }
    static variable_list backward(AutogradContext*, variable_list grads) {
      defined = grads[0].defined();
      if (defined) {
        EXPECT_EQ(values(grads[0]), V({0, 0}));
      }
      return {scaled(grads[1], 2)};
    }
  };
  const Tensor x = numbers({2});
  for (const bool m : {true, false}) {
    materialize = m;
    sum(Two::apply(x)[1]).backward();
    EXPECT_EQ(defined, m);
  }
}

struct Double_ : Function<Double_> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    ctx->mark_dirty({x});
    return mul_(x, tensor({2}, {}));
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {scaled(grads[0], 2)};
  }
};

TEST(FunctionInPlace, RebasesTheHistory) {
  check(
      [](TensorList t) {
        Tensor y = mul(t[0], t[0]);
        const Tensor z = Double_::apply(y);
        EXPECT_TRUE(z.is_same(y));
        return mul(y, t[0]);
      },
      {numbers({3})});
  check(
      [](TensorList t) {  // of a view: reaches the base
        Tensor base = clone(t[0]);
        Double_::apply(slice(base, 0, 1, 3));
        return mul(base, base);
      },
      {numbers({4})});
}

TEST(FunctionInPlace, WritesWithoutOperatorsCount) {
  struct Raw : Function<Raw> {
    static Tensor forward(AutogradContext* ctx, Tensor x) {
      ctx->mark_dirty({x});
      put(x, 0, 5);
      return x;
    }
    static variable_list backward(AutogradContext*, variable_list g) {
      return g;
    }
  };
  const Tensor a = numbers({1});
  Tensor m = mul(a, a);
  const Tensor y = mul(m, m);
  Raw::apply(m);
  SY_EXPECT_ERROR(y.backward(), Error, "changed in place");
}

TEST(FunctionInPlace, Errors) {
  const Tensor a = numbers({2}), w = numbers({2});
  SY_EXPECT_ERROR(Double_::apply(a), ValueError,
                  "got a leaf that requires a gradient");
  SY_EXPECT_ERROR(Double_::apply(a), ValueError, "Double_] self");
  struct NotReturned : Function<NotReturned> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x) {
      ctx->mark_dirty({x});
      return scaled(x, 2);
    }
    static variable_list backward(AutogradContext*, variable_list g) {
      return g;
    }
  };
  SY_EXPECT_ERROR(NotReturned::apply(mul(a, w)), ValueError,
                  "mark_dirty: expected input 0 among the results");
  struct NoInput : Function<NoInput> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x) {
      const Tensor y = scaled(x, 2);
      ctx->mark_dirty({y});
      return y;
    }
    static variable_list backward(AutogradContext*, variable_list g) {
      return g;
    }
  };
  SY_EXPECT_ERROR(NoInput::apply(a), ValueError,
                  "mark_dirty: expected inputs of forward");
  struct Second : Function<Second> {
    static Tensor forward(AutogradContext* ctx, const Tensor&, Tensor x) {
      ctx->mark_dirty({x});
      return mul_(x, tensor({2}, {}));
    }
    static variable_list backward(AutogradContext*, variable_list g) {
      return {Tensor(), g[0]};
    }
  };
  Tensor base = clone(a);
  SY_EXPECT_ERROR(Second::apply(w, slice(base, 0, 0, 1)), ValueError,
                  "expected a view to be the first tensor argument");
}

struct Same : Function<Same> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x; }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {scaled(grads[0], 3)};
  }
};

TEST(Function, MayReturnItsInput) {
  const Tensor x = numbers({2});
  const Tensor y = Same::apply(x);
  EXPECT_FALSE(y.is_same(x));
  EXPECT_TRUE(x.is_leaf());
  sum(y).backward();
  EXPECT_EQ(values(x.grad()), V({3, 3}));
}

TEST(Function, MayReturnAViewOfItsInput) {
  struct Flat : Function<Flat> {
    static Tensor forward(AutogradContext*, const Tensor& x) {
      return view(x, {4});
    }
    static variable_list backward(AutogradContext*, variable_list grads) {
      return {view(grads[0], {2, 2})};
    }
  };
  check([](TensorList t) { return exp(Flat::apply(t[0])); }, {numbers({2, 2})});
  Tensor base = clone(numbers({2, 2}));
  Tensor flat = Flat::apply(base);
  SY_EXPECT_ERROR(mul_(flat, flat), ValueError, "made in no-grad mode");
  mul_(base, base);
  EXPECT_TRUE(flat.requires_grad());
  SY_EXPECT_ERROR(sum(flat).backward(), Error,
                  "its result is a view of a tensor that was overwritten by "
                  "sample::mul_.Tensor");
}

TEST(FunctionErrors, TheNumberOfGradients) {
  struct Counted : Function<Counted> {
    static Tensor forward(AutogradContext* ctx, const Tensor& a, const Tensor&,
                          int64_t how) {
      ctx->saved_data["how"] = how;
      return scaled(a, 1);
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
      switch (ctx->saved_data["how"].to_int()) {
        case 0: return {grads[0]};
        case 1: return {grads[0], grads[0], Tensor(), grads[0]};
        case 2: return {grads[0], grads[0], grads[0]};
        default: return {grads[0], Tensor(), Tensor(), Tensor()};
      }
    }
  };
  const Tensor a = numbers({2});
  const auto backward = [&](int64_t how) {
    sum(Counted::apply(a, a, how)).backward();
  };
  SY_EXPECT_ERROR(backward(0), ValueError,
                  "expected 3 gradients, one for each argument of forward, got "
                  "1");
  SY_EXPECT_ERROR(backward(0), ValueError, "Counted backward]");
  SY_EXPECT_ERROR(backward(1), ValueError, "got 4");
  SY_EXPECT_ERROR(backward(2), ValueError,
                  "expected an undefined gradient for argument 2, which is no "
                  "tensor, got float64[2]");
  EXPECT_FALSE(a.grad().defined());
  backward(3);
  EXPECT_EQ(values(a.grad()), V({1, 1}));
}

TEST(FunctionErrors, OfBackward) {
  struct Wrong : Function<Wrong> {
    static Tensor forward(AutogradContext* ctx, const Tensor& a, bool foreign) {
      ctx->saved_data["foreign"] = foreign;
      return scaled(a, 1);
    }
    static variable_list backward(AutogradContext* ctx, variable_list) {
      if (ctx->saved_data["foreign"].to_bool()) {
        throw std::runtime_error("not ours");
      }
      return {tensor({1, 2, 3}, {3}), Tensor()};
    }
  };
  const Tensor a = numbers({2});
  SY_EXPECT_ERROR(sum(Wrong::apply(a, false)).backward(), ValueError,
                  "expected a gradient of size [2], got float64[3]");
  try {
    sum(Wrong::apply(a, true)).backward();
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("not ours"), std::string::npos);
    EXPECT_NE(e.message().find("in the backward of "), std::string::npos);
    EXPECT_NE(e.message().find("Wrong"), std::string::npos);
  }
}

TEST(FunctionErrors, SavedTensors) {
  const Tensor x = numbers({2}), w = numbers({2});
  Tensor m = mul(x, x);
  const Tensor y = sum(Weighted::apply(m, 1.0, w));
  mul_(m, m);
  SY_EXPECT_ERROR(y.backward(), Error,
                  "(saved[0]), overwritten by "
                  "sample::mul_.Tensor");
  const Tensor z = sum(Weighted::apply(x, 1.0, w));
  z.backward();
  SY_EXPECT_ERROR(z.backward(), Error, "a second time");
}

struct Once : Function<Once> {
  static constexpr bool once_differentiable = true;
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return mul(x, x);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    EXPECT_FALSE(GradMode::is_enabled());
    return {scaled(mul(grads[0], ctx->get_saved_variables()[0]), 2)};
  }
};

TEST(Function, OnceDifferentiable) {
  const Tensor x = tensor({3}, {1});
  x.requires_grad_();
  const Tensor g = grad(Once::apply(x), x, {}, {}, /*create_graph=*/true)[0];
  EXPECT_EQ(values(g), V({6}));
  SY_EXPECT_ERROR(g.backward(), NotImplementedError, "once_differentiable");
  Once::apply(x).backward();
  EXPECT_EQ(values(x.grad()), V({6}));
}

TEST(Function, OutputsMayBeSaved) {
  struct Exp : Function<Exp> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x) {
      const Tensor y = exp(x);
      ctx->save_for_backward({y});
      return y;
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
      return {mul(grads[0], ctx->get_saved_variables()[0])};
    }
  };
  const int64_t before = Node::live_count();
  {
    check([](TensorList t) { return Exp::apply(t[0]); }, {numbers({3})});
    Exp::apply(numbers({2}));  // no cycle
  }
  EXPECT_EQ(Node::live_count(), before);
}

TEST(Function, DeepGraphs) {
  const int64_t before = Node::live_count();
  {
    const Tensor x = tensor({1}, {1}), w = tensor({1}, {1}, kDouble);
    x.requires_grad_();
    Tensor y = x;
    for (int i = 0; i < 100000; ++i) y = Once::apply(y);
    y.backward();
    EXPECT_TRUE(x.grad().defined());
    y = x;  // taken down without having run
    for (int i = 0; i < 100000; ++i) y = Weighted::apply(y, 1.0, w);
  }
  EXPECT_EQ(Node::live_count(), before);
}

// Runs backward of one of itself, as often as it says.
struct Within : Function<Within> {
  static inline int left = 0;
  static inline bool fails = false;
  static Tensor forward(AutogradContext*, const Tensor& x) {
    return scaled(x, 2);
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    EXPECT_FALSE(GradMode::is_enabled());
    if (left-- == 0) {
      if (fails) fail(ErrorKind::Value, "[mine] at the bottom");
      return {grads[0]};
    }
    const AutoGradMode on(true);
    const Tensor x = tensor({1}, {1});
    x.requires_grad_();
    Within::apply(x).backward();
    return {mul(grads[0], x.grad())};
  }
};

TEST(Function, RunsWithinRunsAsDeepAsTheyCome) {
  const int64_t before = Node::live_count();
  {
    const Tensor a = numbers({1});
    const Tensor y = Within::apply(a);
    Within::left = 10000;  // far beyond one stack
    y.backward({}, true);
    EXPECT_EQ(values(a.grad()), V({1}));
    Within::left = 1000;
    Within::fails = true;
    SY_EXPECT_ERROR(y.backward({}, true), ValueError, "[mine] at the bottom");
    Within::left = 3;
    Within::fails = false;
    y.backward();
    EXPECT_EQ(values(a.grad()), V({2}));
  }
  EXPECT_EQ(Node::live_count(), before);
}

TEST(Function, OneGraphByEightThreads) {
  const Tensor x = tensor({3}, {1}), w = tensor({2}, {1});
  x.requires_grad_();
  w.requires_grad_();
  Tensor y = Weighted::apply(x, 1.0, w);
  y = Weighted::apply(y, 1.0, w);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) y.backward({}, /*retain_graph=*/true);
    });
  }
  for (std::thread& t : threads) t.join();
  // y = x^4 w^3
  EXPECT_EQ(values(x.grad()), V({80 * 4 * 27 * 8}));
  EXPECT_EQ(values(w.grad()), V({80 * 81 * 3 * 4}));
}

}  // namespace
}  // namespace sy::sample
