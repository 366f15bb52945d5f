#include <gtest/gtest.h>

#include <cmath>

#include "autograd/generated_support.h"
#include "autograd/gradcheck.h"
#include "test/autograd/sample_ops.h"
#include "test/c10/expect_error.h"

// gradcheck finds what is wrong, and nothing where all is right.

namespace sy::sample {
namespace {

using namespace sy::autograd;

// exp with a derivative that is `spoil`t.
template <class Spoil>
struct Spoilt final : NodeOf<1> {
  explicit Spoilt(Spoil spoil) : spoil_(spoil) {}
  void apply(GradFrame& f) override { f.set(0, spoil_(f.grad())); }
  std::string name() const override { return "Spoilt"; }
  Spoil spoil_;
};

template <class Spoil>
Tensor spoilt_exp(const Tensor& x, Spoil spoil) {
  Tensor y;
  {
    const NoGradGuard guard;
    y = exp(x);
  }
  auto node = make_intrusive<Spoilt<Spoil>>(spoil);
  node->edge_slot(0) = gradient_edge(*x.impl());
  set_history(y, std::move(node));
  return y;
}

template <class F>
std::string problem_of(F f, const std::vector<Tensor>& inputs) {
  return gradcheck(f, inputs).problem;
}

TEST(Gradcheck, NamesTheElementThatIsWrong) {
  const Tensor x = numbers({3});
  const std::string problem = problem_of(
      [](TensorList t) {
        return spoilt_exp(t[0], [x = t[0]](const Tensor& grad) {
          Tensor g = mul(grad, exp(ops::detach::call(x)));
          put(g, 1, get(g, 1) * 1.01);
          return g;
        });
      },
      {x});
  EXPECT_NE(problem.find("result 0, element 1, by inputs[0], element 1"),
            std::string::npos)
      << problem;
}

TEST(Gradcheck, FindsAMissingGradient) {
  const std::string problem = problem_of(
      [](TensorList t) {
        return spoilt_exp(t[0], [](const Tensor&) { return Tensor(); });
      },
      {numbers({2})});
  EXPECT_NE(problem.find("backward 0, finite"), std::string::npos) << problem;
}

TEST(Gradcheck, FindsWhatFailsForExpandedGradientsOnly) {
  const std::string problem = problem_of(
      [](TensorList t) {
        return spoilt_exp(t[0], [x = t[0]](const Tensor& grad) {
          Tensor g = mul(grad, exp(ops::detach::call(x)));
          if (!grad.is_contiguous()) put(g, 0, 0);
          return g;
        });
      },
      {numbers({2})});
  EXPECT_NE(problem.find("for an expanded gradient of result 0"),
            std::string::npos)
      << problem;
}

TEST(Gradcheck, FindsWritesToInputsAndCotangents) {
  std::string problem = problem_of(
      [](TensorList t) {
        Tensor hidden = ops::detach::call(t[1]);
        put(hidden, 0, 5);
        return mul(t[0], t[1]);
      },
      {numbers({2}), numbers({2}, false)});
  EXPECT_NE(problem.find("inputs[1] was written to"), std::string::npos)
      << problem;
  problem = problem_of(
      [](TensorList t) {
        return spoilt_exp(t[0], [x = t[0]](const Tensor& grad) {
          const Tensor g = mul(grad, exp(ops::detach::call(x)));
          put(grad, 0, 7);
          return g;
        });
      },
      {numbers({2})});
  EXPECT_NE(problem.find("wrote to the gradient"), std::string::npos)
      << problem;
}

TEST(Gradcheck, FindsAWrongSecondDerivative) {
  // exp'(x) is right but taken for a constant.
  const auto f = [](TensorList t) {
    return spoilt_exp(t[0], [x = t[0]](const Tensor& grad) {
      return mul(grad, exp(ops::detach::call(x)));
    });
  };
  const std::vector<Tensor> x = {numbers({2})};
  GradcheckOptions options;
  EXPECT_TRUE(gradcheck(f, x, options));
  options.second_order = true;
  const GradcheckResult r = gradcheck(f, x, options);
  EXPECT_EQ(r.problem.rfind("second order: ", 0), 0u) << r.problem;
}

// A formula that leaves the tape: its gradient is right, and a constant to
// whoever differentiates it.
TEST(Gradcheck, FindsAGradientThatRecordsNone) {
  const Tensor x = numbers({3});
  GradcheckOptions options;
  const auto f = [](TensorList t) {
    return spoilt_exp(t[0], [x = t[0]](const Tensor& grad) {
      const NoGradGuard guard;
      return mul(grad, exp(x));
    });
  };
  EXPECT_TRUE(gradcheck(f, {x}, options).ok());
  options.second_order = true;
  const std::string problem = gradcheck(f, {x}, options).problem;
  EXPECT_NE(problem.find("second order: result 0 depends on inputs[0], element "
                         "0, and records no gradient"),
            std::string::npos)
      << problem;
}

TEST(GradcheckFast, AcceptsWhatIsRight) {
  GradcheckOptions options;
  options.fast = true;
  options.second_order = true;
  int calls = 0;
  const auto f = [&](TensorList t) {
    ++calls;
    return exp(mul(t[0], t[1]));
  };
  const std::vector<Tensor> x = {numbers({8, 5}), numbers({5})};
  const GradcheckResult r = gradcheck(f, x, options);
  EXPECT_TRUE(r.ok()) << r.problem;
  EXPECT_LT(calls, 20) << "two calls per input, for each order";
}

TEST(GradcheckFast, FindsOneWrongElementAndNamesIt) {
  GradcheckOptions options;
  options.fast = true;
  for (int64_t wrong = 0; wrong < 20; ++wrong) {
    const auto f = [&](TensorList t) {
      return spoilt_exp(t[0], [wrong, x = t[0]](const Tensor& grad) {
        Tensor g = mul(grad, exp(ops::detach::call(x)));
        put(g, wrong, get(g, wrong) * 1.05);
        return g;
      });
    };
    const std::string problem = gradcheck(f, {numbers({20})}, options).problem;
    const std::string place = "element " + std::to_string(wrong) + ": backward";
    EXPECT_NE(problem.find(place), std::string::npos) << problem;
  }
}

TEST(GradcheckFast, FindsWhatFailsForExpandedGradientsOnly) {
  GradcheckOptions options;
  options.fast = true;
  const auto f = [](TensorList t) {
    return spoilt_exp(t[0], [x = t[0]](const Tensor& grad) {
      Tensor g = mul(grad, exp(ops::detach::call(x)));
      if (!grad.is_contiguous()) put(g, 0, 0);
      return g;
    });
  };
  const std::string problem = gradcheck(f, {numbers({2})}, options).problem;
  EXPECT_NE(problem.find("for an expanded gradient"), std::string::npos)
      << problem;
}

TEST(Gradcheck, ChecksItsInput) {
  const auto f = [](TensorList t) { return exp(t[0]); };
  SY_EXPECT_ERROR(gradcheck(f, {numbers({2}, true, kFloat)}), ValueError,
                  "[gradcheck] inputs[0]: expected a float64 CPU tensor");
  SY_EXPECT_ERROR(gradcheck(f, {numbers({2}, false)}), ValueError,
                  "expected one that requires a gradient");
  const Tensor e = ops::detach::call(expand(numbers({1}), {3}));
  SY_EXPECT_ERROR(gradcheck(f, {e.requires_grad_()}), ValueError,
                  "a place of its own");
}

TEST(Gradcheck, LeavesInputsAsTheyWere) {
  const Tensor x = numbers({3});
  const auto before = values(x);
  EXPECT_TRUE(gradcheck([](TensorList t) { return exp(t[0]); }, {x}));
  EXPECT_EQ(values(x), before);
  EXPECT_FALSE(x.grad().defined());
}

// Every sample operator, boxed, first and second order.
TEST(GradcheckOp, SampleOperators) {
  const auto check = [](const char* name, std::vector<Value> args) {
    GradcheckOptions options;
    options.second_order = true;
    const auto op = Dispatcher::singleton().find_or_throw(name);
    const auto r = gradcheck_op(op, args.data(), args.size(), options);
    EXPECT_TRUE(r.ok()) << name << ": " << r.problem;
  };
  const auto t = [](IntArrayRef sizes) { return Value(numbers(sizes)); };
  const auto ints = [](IntArrayRef l) { return Value(l); };
  const Value none{};
  check("sample::mul.Tensor", {t({2, 3}), t({3})});
  check("sample::mul.Tensor", {t({2, 3}), t({})});
  check("sample::mul.Tensor", {Value(numbers({2}, false)), t({2})});
  check("sample::mul.Tensor", {t({0, 2}), t({2})});
  check("sample::mul_.Tensor", {t({2, 3}), t({2, 1})});
  check("sample::add.Tensor", {t({2, 1}), t({3}), Value(2.5)});
  check("sample::add_.Tensor", {t({2, 3}), t({3}), Value(-1)});
  check("sample::exp", {t({2, 2})});
  check("sample::exp_", {t({2, 2})});
  check("sample::sum.dim_IntList", {t({2, 3, 2}), ints({1}), false, none});
  check("sample::sum.dim_IntList", {t({2, 3, 2}), ints({0, -1}), true, none});
  check("sample::sum.dim_IntList", {t({2, 3}), none, false, none});
  check("sample::cat",
        {Value::tensor_list(
             {numbers({2, 1}), numbers({2, 2}, false), numbers({2, 3})}),
         Value(-1)});
  check("sample::max.dim", {t({3, 4}), Value(0), false});
  check("sample::sincos", {t({3})});
  check("sample::scale", {t({3}), t({3})});
  check("sample::scale", {t({3}), none});
  check("sample::view", {t({2, 3}), ints({3, 2})});
  check("sample::as_strided", {t({6}), ints({2, 2}), ints({1, 2}), Value(1)});
  check("sample::expand", {t({2, 1}), ints({3, 2, 4}), false});
  check("sample::slice.Tensor",
        {t({5}), Value(0), Value(1), Value(5), Value(2)});
  check("sample::unbind.int", {t({2, 3}), Value(1)});
  check("sample::clone", {t({2}), none});
  check("sample::copy_", {t({2, 3}), t({3}), false});
  check("sample::fill_.Scalar", {t({2}), Value(3)});
  check("sample::square", {t({2})});
}

TEST(GradcheckOp, CountsArguments) {
  const auto op = Dispatcher::singleton().find_or_throw("sample::exp");
  SY_EXPECT_ERROR(gradcheck_op(op, nullptr, 0), ValueError,
                  "[gradcheck_op] sample::exp: expected 1 arguments, got 0");
}

}  // namespace
}  // namespace sy::sample
