#include "frontend/nn/modules/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "c10/device/generator.h"
#include "frontend/nn/functional/dropout.h"
#include "sy/sy.h"
#include "test/c10/expect_error.h"

namespace sy::nn {
namespace {

namespace F = functional;

// The share of elements that are 0.
float dropped(const Tensor& t) {
  return t.eq(0).to(kFloat).mean().item<float>();
}
// Whether each channel, of the first `dims` dims, is all alike.
bool by_channel(const Tensor& t, int64_t dims) {
  const Tensor flat = t.flatten(dims);
  return equal(flat, flat.narrow(-1, 0, 1).expand(flat.sizes()));
}

template <class Holder>
void expect_identity_in_eval(const Tensor& x) {
  const Holder m(DropoutOptions(0.5));
  manual_seed(0);
  m->eval();
  EXPECT_TRUE(equal(m->forward(x), x));
  m->train();
  EXPECT_FALSE(equal(m->forward(x), x));
}

TEST(Dropout, IsTheIdentityInEvalMode) {
  const Tensor x = rand({2, 8, 2, 2, 2}) + 1;
  expect_identity_in_eval<Dropout>(x);
  expect_identity_in_eval<Dropout1d>(x.flatten(2));
  expect_identity_in_eval<Dropout2d>(x.flatten(3));
  expect_identity_in_eval<Dropout3d>(x);
  expect_identity_in_eval<AlphaDropout>(x);
  expect_identity_in_eval<FeatureAlphaDropout>(x);
}

template <class Holder>
void expect_same_with_one_seed(const Tensor& x) {
  const Holder m(DropoutOptions(0.5));
  manual_seed(11);
  const Tensor first = m->forward(x);
  const Tensor second = m->forward(x);
  manual_seed(11);
  EXPECT_TRUE(equal(m->forward(x), first));
  EXPECT_FALSE(equal(second, first));
}

TEST(Dropout, GivesTheSameWithOneSeed) {
  const Tensor x = rand({4, 16, 2, 2, 2}) + 1;
  expect_same_with_one_seed<Dropout>(x);
  expect_same_with_one_seed<Dropout1d>(x.flatten(2));
  expect_same_with_one_seed<Dropout2d>(x.flatten(3));
  expect_same_with_one_seed<Dropout3d>(x);
  expect_same_with_one_seed<AlphaDropout>(x);
  expect_same_with_one_seed<FeatureAlphaDropout>(x);
}

TEST(Dropout, DropsWithProbabilityPAndScalesTheRest) {
  manual_seed(1);
  const Tensor x = ones({200, 50});
  for (const double p : {0.2, 0.75}) {
    const Tensor y = Dropout(p)->forward(x);
    EXPECT_NEAR(dropped(y), p, 0.02);
    EXPECT_NEAR(y.max().item<float>(), 1 / (1 - p), 1e-6);
    EXPECT_TRUE(y.eq(0).logical_or(y.eq(y.max())).all().item<bool>());
  }
  EXPECT_TRUE(equal(Dropout(0)->forward(x), x));
  EXPECT_TRUE(equal(Dropout(1)->forward(x), zeros_like(x)));
  EXPECT_NEAR(dropped(Dropout()->forward(x)), 0.5, 0.02);
}

TEST(Dropout, DropsWholeChannels) {
  manual_seed(2);
  const Tensor x = ones({40, 50, 2, 2, 2});
  const double p = 0.25;
  const auto expect = [&](const Tensor& y, int64_t dims) {
    EXPECT_TRUE(by_channel(y, dims));
    EXPECT_NEAR(dropped(y), p, 0.04);
    EXPECT_NEAR(y.max().item<float>(), 1 / (1 - p), 1e-6);
  };
  expect(Dropout1d(p)->forward(x.flatten(2)), 2);
  expect(Dropout2d(p)->forward(x.flatten(3)), 2);
  expect(Dropout3d(p)->forward(x), 2);
  // Without a batch the first dim has the channels.
  const Tensor one = ones({2000, 2, 2, 2});
  expect(Dropout1d(p)->forward(one.flatten(1)), 1);
  expect(Dropout2d(p)->forward(one.flatten(2)), 1);
  expect(Dropout3d(p)->forward(one), 1);
  EXPECT_EQ(Dropout2d(p)->forward(one.flatten(2)).sizes(),
            IntArrayRef({2000, 2, 4}));
}

TEST(Dropout, AlphaDropoutKeepsMeanAndVariance) {
  manual_seed(3);
  const Tensor x = randn({400, 100});
  const double p = 0.3;
  const Tensor y = AlphaDropout(p)->forward(x);
  EXPECT_NEAR(y.mean().item<float>(), 0, 0.02);
  EXPECT_NEAR(y.std().item<float>(), 1, 0.02);
  // The dropped elements have one value, a * limit + b.
  const double limit = -1.7580993408473766;
  const double a = 1 / std::sqrt((limit * limit * p + 1) * (1 - p));
  const double low = a * limit - a * limit * p;
  const Tensor lost = (y - low).abs().lt(1e-4);
  EXPECT_NEAR(lost.to(kFloat).mean().item<float>(), p, 0.02);
  const Tensor kept = (x * a - a * limit * p - y).abs().lt(1e-4);
  EXPECT_TRUE(lost.logical_or(kept).all().item<bool>());

  const Tensor z = FeatureAlphaDropout(p)->forward(ones({40, 50, 2, 2}));
  EXPECT_TRUE(by_channel(z, 2));
  EXPECT_NEAR((z - low).abs().lt(1e-4).to(kFloat).mean().item<float>(), p,
              0.04);
}

// The result is the input, which was written to.
template <class Holder>
void expect_inplace(const Tensor& x) {
  const Tensor before = x.clone();
  manual_seed(4);
  const Tensor y = Holder(DropoutOptions(0.5).inplace(true))->forward(x);
  EXPECT_TRUE(y.is_same(x));
  EXPECT_EQ(x.sizes(), before.sizes());
  manual_seed(4);
  EXPECT_TRUE(equal(Holder(DropoutOptions(0.5))->forward(before), x));
  EXPECT_FALSE(equal(before, x));
}

TEST(Dropout, WorksInPlace) {
  expect_inplace<Dropout>(rand({4, 5}) + 1);
  expect_inplace<Dropout1d>(rand({3, 4, 2}) + 1);
  expect_inplace<Dropout1d>(rand({8, 2}) + 1);
  expect_inplace<Dropout2d>(rand({3, 4, 2, 2}) + 1);
  expect_inplace<Dropout2d>(rand({8, 2, 2}) + 1);
  expect_inplace<Dropout3d>(rand({3, 4, 2, 2, 2}) + 1);
  expect_inplace<Dropout3d>(rand({8, 2, 2, 2}) + 1);
  // The alpha dropouts do not write their input, as in PyTorch.
  const Tensor x = rand({4, 5}) + 1, before = x.clone();
  AlphaDropout(DropoutOptions(0.5).inplace(true))->forward(x);
  FeatureAlphaDropout(DropoutOptions(0.5).inplace(true))->forward(x);
  EXPECT_TRUE(equal(x, before));
}

TEST(Dropout, PassesGradientsThroughWhatIsKept) {
  const Tensor x = ones({100}).requires_grad_();
  const Tensor y = Dropout(0.25)->forward(x);
  y.sum().backward();
  EXPECT_TRUE(equal(x.grad(), y.detach()));
}

TEST(Dropout, FunctionsTakeTheirOptions) {
  const Tensor x = rand({4, 8, 2, 2, 2}) + 1, flat = x.flatten(2);
  const auto seeded = [&](const auto& f) {
    manual_seed(9);
    return f();
  };
  const auto expect = [&](const auto& f, const auto& module) {
    EXPECT_TRUE(equal(seeded(f), seeded(module)));
  };
  const auto o = F::DropoutFuncOptions().p(0.25);
  const auto a = F::AlphaDropoutFuncOptions().p(0.25).training(true);
  expect([&] { return F::dropout(x, o); },
         [&] { return Dropout(0.25)->forward(x); });
  expect([&] { return F::dropout1d(flat, o); },
         [&] { return Dropout1d(0.25)->forward(flat); });
  expect([&] { return F::dropout2d(x.flatten(3), o); },
         [&] { return Dropout2d(0.25)->forward(x.flatten(3)); });
  expect([&] { return F::dropout3d(x, o); },
         [&] { return Dropout3d(0.25)->forward(x); });
  expect([&] { return F::alpha_dropout(x, a); },
         [&] { return AlphaDropout(0.25)->forward(x); });
  expect([&] { return F::feature_alpha_dropout(x, a); },
         [&] { return FeatureAlphaDropout(0.25)->forward(x); });
  manual_seed(9);
  // The defaults: dropouts train, alpha dropouts do not.
  EXPECT_FALSE(equal(F::dropout(x), x));
  EXPECT_TRUE(equal(F::alpha_dropout(x), x));
  EXPECT_TRUE(equal(F::feature_alpha_dropout(x), x));
  const auto off = F::DropoutFuncOptions().training(false);
  EXPECT_TRUE(equal(F::dropout(x, off), x));
  EXPECT_TRUE(equal(F::dropout1d(flat, off), flat));
  EXPECT_TRUE(equal(F::dropout2d(x.flatten(3), off), x.flatten(3)));
  EXPECT_TRUE(equal(F::dropout3d(x, off), x));
}

// f(x, options) with `inplace` gives the same as without, in the input.
template <class Options, class F>
void expect_inplace_function(const Options& options, Tensor x, F f) {
  const Tensor before = x.clone();
  EXPECT_TRUE(f(x, Options(options).training(false).inplace(true)).is_same(x));
  EXPECT_TRUE(equal(x, before));
  manual_seed(6);
  const Tensor wanted = f(before, options);
  manual_seed(6);
  EXPECT_TRUE(f(x, Options(options).inplace(true)).is_same(x));
  EXPECT_TRUE(equal(x, wanted));
  EXPECT_FALSE(equal(x, before));
}

TEST(Dropout, FunctionsWorkInPlace) {
  const auto o = F::DropoutFuncOptions().p(0.25);
  const auto a = F::AlphaDropoutFuncOptions().p(0.25).training(true);
  const auto x = [] { return rand({16, 8}) + 1; };
  expect_inplace_function(o, x(), F::dropout);
  expect_inplace_function(o, x(), F::dropout1d);
  expect_inplace_function(o, x().view({16, 4, 2}), F::dropout2d);
  expect_inplace_function(o, x().view({16, 2, 2, 2}), F::dropout3d);
  expect_inplace_function(a, x(), F::alpha_dropout);
  expect_inplace_function(a, x(), F::feature_alpha_dropout);
}

TEST(Dropout, PrintsWhatPythonPrints) {
  std::ostringstream out;
  out << *Dropout() << ' ' << *Dropout1d(0.25) << ' '
      << *Dropout2d(DropoutOptions(1).inplace(true)) << ' ' << *Dropout3d()
      << ' ' << *AlphaDropout(0.1) << ' ' << *FeatureAlphaDropout();
  EXPECT_EQ(out.str(),
            "Dropout(p=0.5, inplace=False) Dropout1d(p=0.25, inplace=False) "
            "Dropout2d(p=1.0, inplace=True) Dropout3d(p=0.5, inplace=False) "
            "AlphaDropout(p=0.1, inplace=False) "
            "FeatureAlphaDropout(p=0.5, inplace=False)");
}

TEST(Dropout, ClonesKeepOptionsAndMode) {
  const Dropout m(0.75);
  m->eval();
  const auto copy = m->clone();
  ASSERT_NE(copy->as<Dropout>(), nullptr);
  EXPECT_EQ(copy->as<Dropout>()->options.p(), 0.75);
  EXPECT_FALSE(copy->is_training());
}

TEST(Dropout, NamesWrongOptionsAndInputs) {
  SY_EXPECT_ERROR(Dropout(1.5), ValueError,
                  "[Dropout] p: expected a probability in [0, 1], got 1.5");
  SY_EXPECT_ERROR(Dropout1d(-1), ValueError, "[Dropout1d] p: ");
  SY_EXPECT_ERROR(Dropout2d(-1), ValueError, "[Dropout2d] p: ");
  SY_EXPECT_ERROR(Dropout3d(-1), ValueError, "[Dropout3d] p: ");
  SY_EXPECT_ERROR(AlphaDropout(-1), ValueError, "[AlphaDropout] p: ");
  SY_EXPECT_ERROR(FeatureAlphaDropout(std::nan("")), ValueError,
                  "[FeatureAlphaDropout] p: expected a probability in [0, 1], "
                  "got nan");
  SY_EXPECT_ERROR(Dropout2d()->forward(ones({2, 3})), ValueError,
                  "[dropout2d] input: expected 4 dims, or 3 without a batch, "
                  "got ");
  SY_EXPECT_ERROR(Dropout1d()->forward(ones({3})), ValueError,
                  "[dropout1d] input: expected 3 dims");
  SY_EXPECT_ERROR(Dropout3d()->forward(ones({2, 3})), ValueError,
                  "[dropout3d] input: expected 5 dims");
  const Tensor x = ones({2});
  SY_EXPECT_ERROR(F::dropout(x, F::DropoutFuncOptions().p(2).training(false)),
                  ValueError, "[dropout] p: expected a probability");
  SY_EXPECT_ERROR(F::dropout1d(ones({2, 2}), F::DropoutFuncOptions().p(2)),
                  ValueError, "p: expected a probability");
  SY_EXPECT_ERROR(F::alpha_dropout(x, F::AlphaDropoutFuncOptions().p(2)),
                  ValueError, "[alpha_dropout] p: expected a probability");
  SY_EXPECT_ERROR(
      F::feature_alpha_dropout(x, F::FeatureAlphaDropoutFuncOptions().p(2)),
      ValueError, "[feature_alpha_dropout] p: expected a probability");
}

}  // namespace
}  // namespace sy::nn
