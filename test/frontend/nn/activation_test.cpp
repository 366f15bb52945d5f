#include "frontend/nn/modules/activation.h"

#include <gtest/gtest.h>

#include <sstream>

#include "c10/device/generator.h"
#include "frontend/nn/functional/activation.h"
#include "sy/sy.h"
#include "test/c10/expect_error.h"
#include "test/frontend/nn/recorded.h"

namespace sy::nn {
namespace {

namespace F = functional;
using test::function_case;
using test::module_case;
using test::NnCase;
using test::NnCases;
using In = const std::vector<Tensor>&;

// Called on a tensor that may be written to, which is a second result.
template <class Holder>
NnCase inplace_case(Holder (*make)()) {
  return {[make] { return make().ptr(); },
          [](Module* m, In in) {
            Tensor x = in[0] * 1;
            const Tensor y = m->as<Holder>()->forward(x);
            return std::vector<Tensor>{y, x};
          }};
}
NnCase plain_case(Tensor (*f)(const Tensor& x)) {
  return function_case([f](In in) { return f(in[0]); });
}

NnCases modules() {
  return {
      {"ELU", module_case<ELU>([] { return ELU(); })},
      {"ELU_alpha",
       module_case<ELU>([] { return ELU(ELUOptions().alpha(0.5)); })},
      {"SELU", module_case<SELU>([] { return SELU(); })},
      {"CELU", module_case<CELU>([] { return CELU(); })},
      {"CELU_alpha",
       module_case<CELU>([] { return CELU(CELUOptions().alpha(0.5)); })},
      {"Hardshrink", module_case<Hardshrink>([] { return Hardshrink(); })},
      {"Hardshrink_lambda",
       module_case<Hardshrink>([] { return Hardshrink(1.5); })},
      {"Softshrink", module_case<Softshrink>([] { return Softshrink(); })},
      {"Softshrink_lambda",
       module_case<Softshrink>([] { return Softshrink(1.5); })},
      {"Hardtanh", module_case<Hardtanh>([] { return Hardtanh(); })},
      {"Hardtanh_bounds", module_case<Hardtanh>([] {
         return Hardtanh(HardtanhOptions().min_val(-0.5).max_val(2.0));
       })},
      {"Hardsigmoid", module_case<Hardsigmoid>([] { return Hardsigmoid(); })},
      {"Hardswish", module_case<Hardswish>([] { return Hardswish(); })},
      {"LeakyReLU", module_case<LeakyReLU>([] { return LeakyReLU(); })},
      {"LeakyReLU_slope", module_case<LeakyReLU>([] {
         return LeakyReLU(LeakyReLUOptions().negative_slope(0.25));
       })},
      {"LogSigmoid", module_case<LogSigmoid>([] { return LogSigmoid(); })},
      {"Softmax", module_case<Softmax>([] { return Softmax(0); })},
      {"Softmin", module_case<Softmin>([] { return Softmin(0); })},
      {"LogSoftmax", module_case<LogSoftmax>([] { return LogSoftmax(0); })},
      {"Softmax2d", module_case<Softmax2d>([] { return Softmax2d(); })},
      {"Softmax2d_unbatched",
       module_case<Softmax2d>([] { return Softmax2d(); })},
      {"PReLU", module_case<PReLU>([] { return PReLU(); })},
      {"PReLU_channels", module_case<PReLU>([] {
         return PReLU(PReLUOptions().num_parameters(4));
       })},
      {"ReLU", module_case<ReLU>([] { return ReLU(); })},
      {"ReLU6", module_case<ReLU6>([] { return ReLU6(); })},
      {"RReLU_eval", module_case<RReLU>([] { return RReLU(); })},
      {"RReLU_bounds_eval", module_case<RReLU>([] {
         return RReLU(RReLUOptions().lower(0.25).upper(0.75));
       })},
      {"GLU", module_case<GLU>([] { return GLU(); })},
      {"GLU_dim", module_case<GLU>([] { return GLU(0); })},
      {"GELU", module_case<GELU>([] { return GELU(); })},
      {"GELU_tanh", module_case<GELU>([] {
         return GELU(GELUOptions().approximate("tanh"));
       })},
      {"SiLU", module_case<SiLU>([] { return SiLU(); })},
      {"Mish", module_case<Mish>([] { return Mish(); })},
      {"Sigmoid", module_case<Sigmoid>([] { return Sigmoid(); })},
      {"Softplus", module_case<Softplus>([] { return Softplus(); })},
      {"Softplus_beta", module_case<Softplus>([] {
         return Softplus(SoftplusOptions().beta(2));
       })},
      {"Softplus_threshold", module_case<Softplus>([] {
         return Softplus(SoftplusOptions().threshold(0.5));
       })},
      {"Softsign", module_case<Softsign>([] { return Softsign(); })},
      {"Tanh", module_case<Tanh>([] { return Tanh(); })},
      {"Tanhshrink", module_case<Tanhshrink>([] { return Tanhshrink(); })},
      {"Threshold", module_case<Threshold>([] { return Threshold(0.5, -3); })},
  };
}

NnCases inplace_modules() {
  return {
      {"ELU_inplace", inplace_case<ELU>([] {
         return ELU(ELUOptions().alpha(0.5).inplace(true));
       })},
      {"SELU_inplace", inplace_case<SELU>([] { return SELU(true); })},
      {"CELU_inplace", inplace_case<CELU>([] {
         return CELU(CELUOptions().alpha(0.5).inplace(true));
       })},
      {"Hardtanh_inplace", inplace_case<Hardtanh>([] {
         return Hardtanh(HardtanhOptions().inplace(true));
       })},
      {"Hardsigmoid_inplace",
       inplace_case<Hardsigmoid>([] { return Hardsigmoid(true); })},
      {"Hardswish_inplace",
       inplace_case<Hardswish>([] { return Hardswish(true); })},
      {"LeakyReLU_inplace", inplace_case<LeakyReLU>([] {
         return LeakyReLU(LeakyReLUOptions().inplace(true));
       })},
      {"ReLU_inplace", inplace_case<ReLU>([] { return ReLU(true); })},
      {"ReLU6_inplace", inplace_case<ReLU6>([] { return ReLU6(true); })},
      {"RReLU_inplace_eval",
       inplace_case<RReLU>([] { return RReLU(RReLUOptions().inplace(true)); })},
      {"Threshold_inplace", inplace_case<Threshold>([] {
         return Threshold(ThresholdOptions(0.5, -3).inplace(true));
       })},
  };
}

NnCases functions() {
  using T = const Tensor&;
  return {
      {"elu", plain_case([](T x) {
         return F::elu(x, F::ELUFuncOptions().alpha(0.5));
       })},
      {"selu", plain_case([](T x) { return F::selu(x); })},
      {"celu", plain_case([](T x) {
         return F::celu(x, F::CELUFuncOptions().alpha(0.5));
       })},
      {"hardshrink", plain_case([](T x) { return F::hardshrink(x, 1.5); })},
      {"softshrink", plain_case([](T x) { return F::softshrink(x, 1.5); })},
      {"hardtanh", plain_case([](T x) {
         return F::hardtanh(x,
                            F::HardtanhFuncOptions().min_val(-0.5).max_val(2));
       })},
      {"hardsigmoid", plain_case([](T x) { return F::hardsigmoid(x); })},
      {"hardswish", plain_case([](T x) { return F::hardswish(x); })},
      {"leaky_relu", plain_case([](T x) {
         return F::leaky_relu(x,
                              F::LeakyReLUFuncOptions().negative_slope(0.25));
       })},
      {"logsigmoid", plain_case(F::logsigmoid)},
      {"softmax", plain_case([](T x) { return F::softmax(x, 0); })},
      {"softmin", plain_case([](T x) { return F::softmin(x, 0); })},
      {"log_softmax", plain_case([](T x) { return F::log_softmax(x, 0); })},
      {"softmax_dtype", plain_case([](T x) {
         return F::softmax(x, F::SoftmaxFuncOptions(1).dtype(kDouble));
       })},
      {"softmin_dtype", plain_case([](T x) {
         return F::softmin(x, F::SoftminFuncOptions(1).dtype(kDouble));
       })},
      {"log_softmax_dtype", plain_case([](T x) {
         return F::log_softmax(x, F::LogSoftmaxFuncOptions(1).dtype(kDouble));
       })},
      {"glu", plain_case([](T x) { return F::glu(x); })},
      {"glu_dim", plain_case([](T x) { return F::glu(x, 0); })},
      {"gelu", plain_case([](T x) {
         return F::gelu(x, F::GELUFuncOptions().approximate("tanh"));
       })},
      {"silu", plain_case(F::silu)},
      {"mish", plain_case(F::mish)},
      {"prelu", function_case([](In x) { return F::prelu(x[0], x[1]); })},
      {"relu", plain_case([](T x) { return F::relu(x); })},
      {"relu6", plain_case([](T x) { return F::relu6(x * 3); })},
      {"rrelu", plain_case([](T x) {
         return F::rrelu(x, F::RReLUFuncOptions().lower(0.25).upper(0.75));
       })},
      {"softplus", plain_case([](T x) {
         return F::softplus(x, F::SoftplusFuncOptions().beta(2).threshold(0.5));
       })},
      {"softsign", plain_case(F::softsign)},
      {"tanhshrink", plain_case(F::tanhshrink)},
      {"threshold", plain_case([](T x) {
         return F::threshold(x, F::ThresholdFuncOptions(0.5, -3));
       })},
  };
}

TEST(Activation, GivesWhatPyTorchGives) {
  NnCases all = modules();
  all.merge(inplace_modules());
  all.merge(functions());
  test::check_recorded("activation.safetensors", all);
}

std::string printed(const Module& m) {
  std::ostringstream out;
  out << m;
  return out.str();
}

TEST(Activation, PrintsWhatPythonPrints) {
  EXPECT_EQ(printed(*ELU()), "ELU(alpha=1.0)");
  EXPECT_EQ(printed(*ELU(ELUOptions().alpha(0.5).inplace(true))),
            "ELU(alpha=0.5, inplace=True)");
  EXPECT_EQ(printed(*SELU()), "SELU()");
  EXPECT_EQ(printed(*SELU(true)), "SELU(inplace=True)");
  EXPECT_EQ(printed(*CELU(CELUOptions().inplace(true))),
            "CELU(alpha=1.0, inplace=True)");
  EXPECT_EQ(printed(*Hardshrink()), "Hardshrink(0.5)");
  EXPECT_EQ(printed(*Softshrink(2)), "Softshrink(2.0)");
  EXPECT_EQ(printed(*Hardtanh(HardtanhOptions().inplace(true))),
            "Hardtanh(min_val=-1.0, max_val=1.0, inplace=True)");
  EXPECT_EQ(printed(*Hardsigmoid()), "Hardsigmoid()");
  EXPECT_EQ(printed(*Hardswish()), "Hardswish()");
  EXPECT_EQ(printed(*LeakyReLU()), "LeakyReLU(negative_slope=0.01)");
  EXPECT_EQ(printed(*LogSigmoid()), "LogSigmoid()");
  EXPECT_EQ(printed(*Softmax(1)), "Softmax(dim=1)");
  EXPECT_EQ(printed(*Softmin(-1)), "Softmin(dim=-1)");
  EXPECT_EQ(printed(*LogSoftmax(1)), "LogSoftmax(dim=1)");
  EXPECT_EQ(printed(*Softmax2d()), "Softmax2d()");
  EXPECT_EQ(printed(*PReLU(PReLUOptions().num_parameters(3))),
            "PReLU(num_parameters=3)");
  EXPECT_EQ(printed(*ReLU()), "ReLU()");
  EXPECT_EQ(printed(*ReLU(true)), "ReLU(inplace=True)");
  EXPECT_EQ(printed(*ReLU6(true)), "ReLU6(inplace=True)");
  EXPECT_EQ(printed(*RReLU(RReLUOptions().inplace(true))),
            "RReLU(lower=0.125, upper=0.3333333333333333, inplace=True)");
  EXPECT_EQ(printed(*GLU()), "GLU(dim=-1)");
  EXPECT_EQ(printed(*GELU()), "GELU(approximate='none')");
  EXPECT_EQ(printed(*Softplus()), "Softplus(beta=1.0, threshold=20.0)");
  EXPECT_EQ(printed(*Threshold(1e-5, 20)),
            "Threshold(threshold=1e-05, value=20.0)");
  EXPECT_EQ(printed(*Threshold(ThresholdOptions(1, 2).inplace(true))),
            "Threshold(threshold=1.0, value=2.0, inplace=True)");
}

TEST(Activation, PReLUStartsAtInitAndStartsAgain) {
  PReLU m(PReLUOptions().num_parameters(2).init(0.75));
  EXPECT_TRUE(equal(m->weight, full({2}, 0.75)));
  EXPECT_TRUE(m->weight.requires_grad() && m->weight.is_leaf());
  const Tensor first = m->weight;
  {
    const NoGradGuard no_grad;
    m->weight.zero_();
  }
  m->reset_parameters();
  EXPECT_TRUE(m->weight.is_same(first));
  EXPECT_TRUE(equal(m->weight, full({2}, 0.75)));
  m->options.num_parameters(3).init(0.5);
  m->reset();
  EXPECT_TRUE(equal(m->get_parameter("weight"), full({3}, 0.5)));
  EXPECT_TRUE(m->get_parameter("weight").is_same(m->weight));
}

TEST(Activation, PReLUClonesHaveTheirOwnWeight) {
  const PReLU m(PReLUOptions().num_parameters(2));
  const auto copy = clone(m.ptr());
  {
    const NoGradGuard no_grad;
    copy->weight.zero_();
  }
  EXPECT_TRUE(copy->get_parameter("weight").is_same(copy->weight));
  EXPECT_TRUE(equal(m->weight, full({2}, 0.25)));
  EXPECT_TRUE(equal(copy->forward(full({1, 2}, -1.0)), zeros({1, 2})));
}

TEST(Activation, ClonesKeepOptionsAndType) {
  const auto copy = ELU(ELUOptions().alpha(0.5))->clone();
  ASSERT_NE(copy->as<ELU>(), nullptr);
  EXPECT_EQ(copy->as<ELU>()->options.alpha(), 0.5);
}

TEST(Activation, RReLUTrainsWithRandomSlopesWithinItsBounds) {
  const Tensor x = full({1000}, -1.0);
  const auto slopes = [&](RReLU m) { return -m->forward(x); };
  manual_seed(3);
  const Tensor first = slopes(RReLU(RReLUOptions().lower(0.2).upper(0.6)));
  EXPECT_GE(first.min().item<float>(), 0.2f);
  EXPECT_LE(first.max().item<float>(), 0.6f);
  EXPECT_LT(first.min().item<float>(), 0.25f);
  EXPECT_GT(first.max().item<float>(), 0.55f);
  manual_seed(3);
  EXPECT_TRUE(
      equal(first, slopes(RReLU(RReLUOptions().lower(0.2).upper(0.6)))));
  EXPECT_FALSE(
      equal(first, slopes(RReLU(RReLUOptions().lower(0.2).upper(0.6)))));
  const Tensor up = ones({4});
  EXPECT_TRUE(equal(RReLU()->forward(up), up));
  Tensor written = x.clone();
  manual_seed(3);
  RReLU(RReLUOptions().lower(0.2).upper(0.6).inplace(true))->forward(written);
  EXPECT_TRUE(equal(written, -first));
  manual_seed(3);
  EXPECT_TRUE(equal(
      F::rrelu(x, F::RReLUFuncOptions().lower(0.2).upper(0.6).training(true)),
      -first));
}

TEST(Activation, GumbelSoftmaxSamplesItsClasses) {
  manual_seed(5);
  const Tensor p =
      full({4000, 2}, 0.25).index_fill(1, full({1}, 1, kLong), 0.75);
  const auto options = [] { return F::GumbelSoftmaxFuncOptions(); };
  const Tensor hard = F::gumbel_softmax(p.log(), options().hard(true));
  EXPECT_TRUE(equal(hard.sum({1}), ones({4000})));
  EXPECT_TRUE(hard.eq(0).logical_or(hard.eq(1)).all().item<bool>());
  EXPECT_NEAR(hard.select(1, 1).mean().item<float>(), 0.75, 0.03);
  manual_seed(5);
  const Tensor soft = F::gumbel_softmax(p.log());
  EXPECT_TRUE(allclose(soft.sum({1}), ones({4000})));
  EXPECT_FALSE(soft.eq(0).logical_or(soft.eq(1)).all().item<bool>());
  EXPECT_TRUE(equal(soft.argmax(1), hard.argmax(1)));
  manual_seed(5);
  // Soft results are softmax(z), so a tau of 0.5 squares them.
  const Tensor sharp = F::gumbel_softmax(p.log(), options().tau(0.5));
  EXPECT_TRUE(allclose(sharp, F::softmax(soft.log() * 2, 1), 1e-4, 1e-6));
  manual_seed(5);
  const Tensor across = F::gumbel_softmax(p.log(), options().dim(0).hard(true));
  EXPECT_TRUE(equal(across.sum({0}), ones({2})));
}

TEST(Activation, HardGumbelSoftmaxHasTheGradientOfTheSoftOne) {
  Tensor hard_in = randn({3, 4}).requires_grad_();
  Tensor soft_in = hard_in.detach().clone().requires_grad_();
  const Tensor cotangent = randn({3, 4});
  manual_seed(7);
  F::gumbel_softmax(hard_in, F::GumbelSoftmaxFuncOptions().hard(true))
      .backward(cotangent);
  manual_seed(7);
  F::gumbel_softmax(soft_in).backward(cotangent);
  EXPECT_TRUE(allclose(hard_in.grad(), soft_in.grad()));
  EXPECT_GT(hard_in.grad().abs().sum().item<float>(), 0);
}

TEST(Activation, NamesWrongOptionsAndInputs) {
  SY_EXPECT_ERROR(CELU(CELUOptions().alpha(0)), ValueError,
                  "[CELU] alpha: expected a number other than 0, got 0");
  SY_EXPECT_ERROR(Softshrink(-0.5), ValueError,
                  "[Softshrink] lambda: expected at least 0, got -0.5");
  SY_EXPECT_ERROR(
      Hardtanh(HardtanhOptions().min_val(1).max_val(-2)), ValueError,
      "[Hardtanh] max_val: expected more than min_val, 1.0, got -2.0");
  EXPECT_NO_THROW(Hardtanh(HardtanhOptions().min_val(2).max_val(3)));
  SY_EXPECT_ERROR(PReLU(PReLUOptions().num_parameters(0)), ValueError,
                  "[PReLU] num_parameters: expected at least 1, got 0");
  EXPECT_NO_THROW(RReLU(RReLUOptions().lower(0.5).upper(0.75)));
  SY_EXPECT_ERROR(RReLU(RReLUOptions().lower(0.5)), ValueError,
                  "[RReLU] upper: expected at least lower, 0.5, got 0.3333333");
  SY_EXPECT_ERROR(GELU(GELUOptions().approximate("erf")), ValueError,
                  "[GELU] approximate: expected 'none' or 'tanh', got 'erf'");
  SY_EXPECT_ERROR(Softmax2d()->forward(ones({2, 2})), ValueError,
                  "[Softmax2d] input: expected 4 dims, or 3 without a batch, "
                  "got");
  SY_EXPECT_ERROR(
      F::gumbel_softmax(ones({2}), F::GumbelSoftmaxFuncOptions().tau(0)),
      ValueError, "[gumbel_softmax] tau: expected more than 0, got 0.0");
  SY_EXPECT_ERROR(F::glu(ones({})), ValueError,
                  "[glu] self: expected at least one dim");
  SY_EXPECT_ERROR(F::glu(ones({3})), ValueError, "[glu] ");
}

}  // namespace
}  // namespace sy::nn
