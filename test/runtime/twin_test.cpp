#include <sy/sy.h>

#include "autograd/api.h"
#include "autograd/gradcheck.h"
#include "c10/plugin/library.h"
#include "c10/schema/function_schema.h"
#include "test/runtime/twins.h"

// Operators loaded at run time against the same file compiled: values, dtypes,
// sizes, strides, errors, gradients of first and second order.

namespace sy::test {
namespace {

Tensor grown(const Tensor& self, const Tensor& other, int64_t by) {
  return self.mul(other).unsqueeze(-1).expand({self.size(0), by}).contiguous();
}

Tensor& turned_(Tensor& self) { return self.t_(); }

// Kernels of the entries that name none.
RegistrationHandle kernels_of(const char* ns) {
  return register_library(LibraryKind::Impl, ns, "CPU", [](Library& m) {
    m.impl("grown", SY_FN(grown));
    m.impl("turned_", SY_FN(turned_));
  });
}

class Twins : public testing::Test {
 protected:
  // For all tests: loading is part of what they test once.
  static void SetUpTestSuite() {
    load_schema_text(loaded_text(), "twin.yaml").keep();
    static const RegistrationHandle own = kernels_of("twin"),
                                    others = kernels_of("loaded");
  }

  // Both forms on the same arguments; what is written is copied before.
  static void compare(const std::string& op, std::vector<Value> args,
                      const std::vector<size_t>& written = {}) {
    SCOPED_TRACE(op);
    std::vector<Value> own = args, other = args;
    for (const size_t w : written) {
      own[w] = Value(TensorBase(as_tensor(args[w]).clone()));
      other[w] = Value(TensorBase(as_tensor(args[w]).clone()));
    }
    const Outcome a = call("twin::" + op, own);
    const Outcome b = call("loaded::" + op, other);
    EXPECT_EQ(a.error, b.error);
    ASSERT_EQ(a.results.size(), b.results.size());
    for (size_t i = 0; i < a.results.size(); ++i) {
      expect_same(as_tensor(a.results[i]), as_tensor(b.results[i]));
    }
    for (const size_t w : written) {
      expect_same(as_tensor(own[w]), as_tensor(other[w]));
      if (a.error.empty()) {
        EXPECT_EQ(as_tensor(own[w])._version(), as_tensor(other[w])._version());
      }
    }
  }

  static Value of(const Tensor& t) { return Value(TensorBase(t)); }
  static Value none() { return {}; }

  static Tensor ramp(IntArrayRef sizes, ScalarType dtype = kFloat) {
    int64_t n = 1;
    for (const int64_t s : sizes) n *= s;
    return arange(n, kDouble).mul(0.37).sub(1.1).to(dtype).reshape(sizes);
  }
};

constexpr ScalarType kAll[] = {kBool, kByte, kChar,     kShort, kInt,
                               kLong, kHalf, kBFloat16, kFloat, kDouble};

// Towards less, as Python rounds; the remainder has the sign of the divisor.
TEST_F(Twins, WholeNumbersAreDivided) {
  for (const int64_t a : {-7, -6, -1, 0, 1, 6, 7}) {
    for (const int64_t b : {-3, -2, 0, 2, 3}) {
      compare("divided", {of(ramp({2})), a, b});
    }
  }
  const Tensor x = result("loaded::divided", {of(ramp({2})), -7, 2});
  EXPECT_EQ(x.sizes(), IntArrayRef({4, 9}));
}

TEST_F(Twins, PointwiseOnEveryDtype) {
  for (const ScalarType t : kAll) {
    const Tensor x = ramp({2, 3}, t), y = ramp({3}, t);
    compare("bump", {of(x), 1.5});
    compare("bump", {of(x), 1});
    compare("bump_", {of(x), 1.5}, {0});
    compare("bump.out", {of(x), 2, of(empty({0}, kFloat))}, {2});
    compare("blend", {of(x), of(y), 1, "sum"});
    compare("blend", {of(x), of(y), 2, "mean"});
    compare("blend", {of(x), of(y), 2.5, "sum"});
    compare("limit", {of(x), none(), none()});
    compare("limit", {of(x), -0.5, none()});
    compare("limit", {of(x), 0, 0.7});
    compare("twist", {of(x), of(y), 3, true});
    compare("steps", {of(x)});
    compare("above", {of(x), 0.2});
  }
}

TEST_F(Twins, PointwisePromotesBroadcastsAndFollowsStrides) {
  const Tensor x = ramp({4, 5}).t(), whole = arange(5).reshape({5, 1});
  compare("blend", {of(x), of(whole), 3, "sum"});
  compare("blend", {of(whole), of(ramp({}, kDouble)), 1.5, "mean"});
  compare("blend", {of(x), of(ramp({4}, kHalf)), true, "sum"});
  compare("bump", {of(x.slice(0, 0, 5, 2)), 1});
  compare("blend", {of(ramp({2, 3})), of(ramp({4})), 1, "sum"});
  compare("blend_", {of(ramp({2, 1})), of(ramp({2, 3})), 1, "sum"}, {0});
}

TEST_F(Twins, ContractsAndWrongArgumentsFailAlike) {
  const Tensor x = ramp({2, 3});
  compare("blend", {of(x), of(x), 1, "max"});
  compare("blend", {of(x), of(x), "one", "sum"});
  compare("blend", {none(), of(x), 1, "sum"});
  compare("blend", {of(arange(3)), of(arange(3)), 1.5, "sum"});
  compare("bump.out", {of(x), 1, of(empty({0}, kLong))}, {2});
  compare("bump.out", {of(x), 1, of(empty({1}).expand({2, 3}))});
  compare("length", {of(ramp({})), 0, 1});
  compare("length", {of(x), 5, 1});
  compare("total", {of(x), IntArrayRef({0, 0}), false, none()});
  compare("highest", {of(empty({0, 3})), 0, false});
  compare("gate", {of(x), of(ramp({4, 2})), none(), none()});
  compare("padded", {of(x), IntArrayRef({1, 2, 3}), 0.5});
  const bool which[] = {true, false, true};
  compare("parts", {of(x), ArrayRef<bool>(which, 3)});
  compare("parts", {of(x), ArrayRef<bool>(which, 1)});
  compare("every", {of(x), 0, 0});
  compare("every", {of(x), 1, 2});
  compare("swap", {of(x), 0, 7});
  compare("mix", {Value::tensor_list({}), 1});
}

// A message reads no more of a tensor than the condition did.
TEST_F(Twins, MessagesNameWhatWasLookedAt) {
  const auto error = [](const Tensor& x) {
    compare("rows", {of(x)});
    std::vector<Value> args = {of(x)};
    const std::string text = call("twin::rows", args).error;
    return text.substr(text.find(", got ") + 1);
  };
  EXPECT_EQ(error(ramp({})), " got self.dim() = 0");
  EXPECT_EQ(error(ramp({3})), " got self.dim() = 1, self.size(0) = 3");
  EXPECT_EQ(error(ramp({3, 2})), " got self.dim() = 2, self.size(0) = 3");
  EXPECT_EQ(error(ramp({2, 3})),
            " got self.dim() = 2, self.size(0) = 2, self.size(1) = 3");
  EXPECT_EQ(error(ramp({4})), "");
}

TEST_F(Twins, Reductions) {
  for (const ScalarType t : kAll) {
    const Tensor x = ramp({3, 4, 2}, t);
    for (const Value& dims : {Value(), Value(IntArrayRef({0, 2})), Value(1),
                              Value(IntArrayRef())}) {
      compare("total", {of(x), dims, true, none()});
      compare("total", {of(x), dims, false, kDouble});
      compare("highest", {of(x), dims, false});
      compare("spread", {of(x), dims, false});
      compare("range_mean", {of(x), dims, true});
    }
    compare("length", {of(x), -1, 1});
    compare("length", {of(x), 1, 0.25});
    compare("length.out", {of(x), 1, 2, of(empty({0}))}, {3});
    compare("total.out", {of(x), 1, false, none(), of(empty({0}, t))}, {4});
    const Tensor real = is_floating_type(t) ? empty({0}, t) : empty({0});
    compare("range_mean.out",
            {of(x), 1, false, of(real), of(real.clone()), of(real.clone())},
            {3, 4, 5});
    // One of the results does not have its dtype.
    compare("range_mean.out",
            {of(x), 1, false, of(real), of(empty({0}, kLong)), of(real)},
            {3, 4, 5});
  }
}

TEST_F(Twins, Composites) {
  const Tensor x = ramp({2, 3}), w = ramp({4, 3}), b = ramp({4});
  compare("gate", {of(x), of(w), of(b), none()});
  compare("gate", {of(x), of(w), none(), kDouble});
  compare("moments", {of(x), -1});
  compare("moments", {of(ramp({3, 1})), 1});
  compare("mix", {Value::tensor_list({x, x.mul(2), x.neg()}), 0.5});
  const double by[] = {0.5, 2};
  const Scalar more[] = {Scalar(3), Scalar(1.5)};
  compare("weighed",
          {of(x), ArrayRef<double>(by, 2), ArrayRef<Scalar>(more, 2)});
  compare("made", {of(x), 3, none()});
  compare("made", {of(ramp({2}, kHalf)), 0, kLong});
  compare("padded", {of(x), IntArrayRef({1, 2}), 0.25});
  const bool which[] = {true, false, true};
  compare("parts", {of(x), ArrayRef<bool>(which, 2)});
  compare("padded", {of(ramp({2, 2}, kHalf)), IntArrayRef({0, 1}), 3});
  compare("bumps", {of(x)});
  compare("bumps_", {of(x)}, {0});
  compare("bumps.out", {of(x), of(empty({2, 3}))}, {1});
  compare("bumps.out", {of(x), of(empty({2, 3}, kDouble))}, {1});
}

TEST_F(Twins, Views) {
  const Tensor x = ramp({5, 4});
  compare("every", {of(x), 2, 0});
  compare("every", {of(x.t()), 3, -1});
  compare("swap", {of(x), 0, -1});
  Tensor base = ramp({4, 3});
  const Tensor v = result("loaded::every", {of(base), 2, 0});
  v.fill_(7);
  EXPECT_EQ(base.select(0, 2).select(0, 1).item<float>(), 7);
  EXPECT_EQ(base.select(0, 1).select(0, 1).item<float>(),
            ramp({4, 3}).select(0, 1).select(0, 1).item<float>());
}

TEST_F(Twins, ShapesWithoutData) {
  const Tensor x = ramp({2, 3}).to(Device(kMeta));
  const Tensor w = ramp({4, 3}).to(Device(kMeta));
  compare("bump", {of(x), 1});
  compare("blend", {of(x), of(ramp({2, 1}).to(Device(kMeta))), 1, "sum"});
  compare("total", {of(x), 1, true, none()});
  compare("gate", {of(x), of(w), none(), none()});
  compare("every", {of(x), 2, 1});
  compare("blend", {of(x), of(ramp({2, 3})), 1, "sum"});
}

// Gradients of the sum of squares of all results, and of those again.
std::vector<Tensor> gradients(const std::string& op, std::vector<Value> args,
                              const std::vector<size_t>& inputs) {
  std::vector<Tensor> leaves;
  for (const size_t i : inputs) {
    leaves.push_back(as_tensor(args[i]).detach().clone().requires_grad_());
    args[i] = Value(TensorBase(leaves.back()));
  }
  const Outcome out = call(op, args);
  EXPECT_EQ(out.error, "");
  Tensor loss = zeros({}, kDouble);
  for (const Value& v : out.results) {
    loss = loss.add(as_tensor(v).mul(as_tensor(v)).sum());
  }
  std::vector<Tensor> first =
      autograd::grad({loss}, leaves, {}, true, true, true);
  Tensor again = zeros({}, kDouble);
  for (const Tensor& g : first) {
    if (g.defined()) again = again.add(g.mul(g).mul(g).sum());
  }
  std::vector<Tensor> all = first;
  if (again.requires_grad()) {
    for (Tensor& g : autograd::grad({again}, leaves, {}, {}, false, true)) {
      all.push_back(std::move(g));
    }
  }
  return all;
}

// C++ leaves open which of two arguments is computed first, and with it in
// which order gradients are summed.
void expect_close(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.defined(), b.defined());
  if (!a.defined()) return;
  EXPECT_EQ(a.scalar_type(), b.scalar_type());
  ASSERT_EQ(a.sizes(), b.sizes());
  const Tensor x = a.detach(), y = b.detach();
  EXPECT_LT(x.sub(y).abs().div(x.abs().add(1)).amax().item<double>(), 1e-13);
}

struct GradientCase {
  const char* op;
  std::vector<Value> args;
  std::vector<size_t> inputs;
};

TEST_F(Twins, GradientsOfFirstAndSecondOrder) {
  const Tensor x = ramp({3, 4}, kDouble), y = ramp({4}, kDouble).add(0.3);
  const Tensor w = ramp({2, 4}, kDouble).mul(0.4);
  const std::vector<GradientCase> cases = {
      {"bump", {of(x), 1.5}, {0}},
      {"bump", {of(x), 1}, {0}},
      {"blend", {of(x), of(y), 2.5, "mean"}, {0, 1}},
      {"blend", {of(x), of(y), 1, "sum"}, {1}},
      {"limit", {of(x), -0.5, 0.9}, {0}},
      {"limit", {of(x), none(), 0.9}, {0}},
      {"twist", {of(x), of(y), 3, true}, {0, 1}},
      {"apart", {of(x), of(y)}, {0, 1}},
      {"apart", {of(x), of(y.gt(0))}, {0}},
      {"apart", {of(x.gt(0)), of(y)}, {1}},
      {"total", {of(x), 1, false, none()}, {0}},
      {"total", {of(x), none(), false, none()}, {0}},
      {"length", {of(x), 0, 0.5}, {0}},
      {"highest", {of(x), IntArrayRef({0}), true}, {0}},
      {"gate", {of(x), of(w), none(), none()}, {0, 1}},
      {"moments", {of(x), -1}, {0}},
      {"bumps", {of(x)}, {0}},
      {"every", {of(x), 2, 1}, {0}},
      {"swap", {of(x), 0, 1}, {0}},
      {"padded", {of(x), IntArrayRef({1, 1}), 0.5}, {0}},
  };
  for (const GradientCase& c : cases) {
    SCOPED_TRACE(c.op);
    const auto a = gradients(std::string("twin::") + c.op, c.args, c.inputs);
    const auto b = gradients(std::string("loaded::") + c.op, c.args, c.inputs);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) expect_close(a[i], b[i]);
    std::vector<Value> args = c.args;
    for (const size_t i : c.inputs) {
      const Tensor leaf = as_tensor(args[i]).detach().clone().requires_grad_();
      args[i] = of(leaf);
    }
    autograd::GradcheckOptions options;
    options.second_order = true;
    const auto check =
        autograd::gradcheck_op(find(std::string("loaded::") + c.op),
                               args.data(), args.size(), options);
    EXPECT_EQ(check.problem, "");
  }
}

TEST_F(Twins, InPlaceFormsAreRecorded) {
  for (const char* ns : {"twin::", "loaded::"}) {
    SCOPED_TRACE(ns);
    const Tensor x = ramp({3}, kDouble).requires_grad_();
    Tensor y = x.mul(2);
    result(ns + std::string("twist_"), {of(y), of(x), 3, false});
    result(ns + std::string("bumps_"), {of(y)});
    y.sum().backward();
    const Tensor z = ramp({3}, kDouble).requires_grad_();
    const Tensor t = z.mul(2).mul(z).mul(3);
    result("twin::bumps", {of(t)}).sum().backward();
    EXPECT_TRUE(x.grad().sub(z.grad()).abs().amax().item<double>() < 1e-12);
    Tensor fixed = z.mul(1);
    result(ns + std::string("steps_"), {of(fixed)});
    fixed.sum().backward();
    EXPECT_EQ(fixed.detach().equal(z.detach().floor()), true);
  }
  // A leaf may not be written, nor an out= argument be recorded.
  const Tensor leaf = ramp({3}).requires_grad_();
  compare("bump_", {of(leaf), 1});
  compare("bump.out", {of(leaf), 1, of(empty({3}))});
  compare("bumps.out", {of(leaf), of(empty({3}))});
}

// Entries whose kernels are registered elsewhere are checked as all others.
TEST_F(Twins, KernelsOfOthers) {
  const Tensor x = ramp({3}), y = ramp({3}).add(1);
  compare("grown", {of(x), of(y), 2});
  compare("grown", {of(x), of(y), 0});
  // The form lacks an argument that the contract reads.
  compare("grown.out", {of(x), of(y), of(empty({0}))}, {2});
  compare("grown.out", {of(x), of(y), none()});
  const Tensor out = empty({0});
  EXPECT_EQ(call("twin::grown.out", {of(x), of(y), of(out)}).error, "");
  EXPECT_EQ(out.sizes(), IntArrayRef({3, 2}));
  compare("turned_", {of(ramp({2, 3}))}, {0});
  compare("turned_", {of(ramp({2}))}, {0});
  const Device meta(kMeta);
  compare("grown", {of(x.to(meta)), of(y.to(meta)), 2});
  compare("grown", {of(x), of(y.to(meta)), 2});
  EXPECT_NE(call("twin::grown", {of(x), of(y), 0}).error, "");
}

// An in-place view writes nothing: other views keep their history.
TEST_F(Twins, InPlaceViewsAreRecorded) {
  for (const char* ns : {"twin::", "loaded::"}) {
    SCOPED_TRACE(ns);
    const Tensor x = ramp({2, 3}).requires_grad_();
    const Tensor y = x.mul(2);
    Tensor turned = y.view({2, 3});
    const Tensor other = y.view({3, 2});
    result(ns + std::string("turned_"), {of(turned)});
    EXPECT_EQ(turned.sizes(), IntArrayRef({3, 2}));
    const Tensor weight = ramp({3, 2});
    turned.mul(weight).sum().backward();
    expect_same(x.grad(), weight.t().mul(2).contiguous());
    other.mul(weight).sum().backward();
    const Tensor sum = weight.t().mul(2).add(weight.view({2, 3}).mul(2));
    expect_same(x.grad(), sum.contiguous());
  }
}

TEST_F(Twins, OverwrittenInputsAreNoticed) {
  for (const char* ns : {"twin::", "loaded::"}) {
    const Tensor x = ramp({3}).requires_grad_();
    const Tensor y = x.mul(2);
    const Tensor z =
        result(ns + std::string("twist"), {of(y), of(y), 2, false});
    y.detach().add_(1);
    try {
      z.sum().backward();
      FAIL() << "the overwritten tensor was not noticed";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("twist"), std::string::npos);
    }
  }
}

TEST_F(Twins, TypedHandlesAndSchemas) {
  const auto op =
      find("loaded::bump").typed<Tensor(const Tensor&, const Scalar&)>();
  const Tensor x = ramp({7});
  expect_same(op.call(x, 1.5), result("twin::bump", {of(x), 1.5}));
  EXPECT_THROW(find("loaded::bump").typed<Tensor(const Tensor&)>(), TypeError);
  for (const OperatorHandle& twin : Dispatcher::singleton().operators()) {
    const std::string name(twin.name());
    if (!name.starts_with("twin::")) continue;
    const OperatorHandle other = find(replaced(name, "twin::", "loaded::"));
    EXPECT_EQ(replaced(other.entry().schema_text(), "loaded::", "twin::"),
              twin.entry().schema_text());
    EXPECT_EQ(other.entry().flags(), twin.entry().flags()) << name;
    EXPECT_EQ(other.entry().info()->kind, twin.entry().info()->kind);
    EXPECT_STREQ(other.entry().info()->doc, twin.entry().info()->doc);
  }
}

}  // namespace
}  // namespace sy::test
