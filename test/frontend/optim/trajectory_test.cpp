#include "test/frontend/optim/trajectory.h"

#include <algorithm>
#include <cctype>
#include <sstream>

// Every optimizer and its options, step by step beside PyTorch's.

namespace sy::test {
namespace {

// The cases of all optimizers but the one named.
std::vector<std::string> cases(const std::string& but = "scheduler") {
  std::vector<std::string> names;
  for (const auto& [name, t] : recorded()) {
    const bool out =
        name.starts_with("scheduler/") || name.starts_with(but + "/");
    if (!out) names.push_back(name);
  }
  return names;
}

struct Case {
  explicit Case(const std::string& text)
      : name(text.substr(0, text.find('/'))),
        options(
            text.substr(name.size() + 1, text.rfind('/') - name.size() - 1)),
        dtype(text.ends_with("f64") ? kDouble : kFloat),
        sign(options.find("maximize") == std::string::npos ? 1 : -1) {}

  // Muon computes in bfloat16, whose last bit depends on the order of sums.
  double tolerance() const {
    if (name == "Muon") return 1e-2;
    return dtype == kDouble ? 1e-10 : 1e-5;
  }

  std::string name, options;
  ScalarType dtype;
  double sign;
};

class Trajectory : public testing::TestWithParam<std::string> {};
// All optimizers but LBFGS, whose gradients are what backward makes.
class Strided : public Trajectory {};

// Puts elements in every second place, which a region does not take.
Tensor apart(const Tensor& t) {
  if (!t.defined()) return t;
  return stack({t, t}, -1).select(-1, 1);
}

TEST_P(Trajectory, IsThatOfPyTorch) {
  const Case c(GetParam());
  const std::vector<Tensor> p = parameters(c.name, c.dtype);
  const auto optimizer = make_optimizer(c.name, c.options, numbered(p));
  const Tensor expected = recorded()[GetParam()];
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    take_step(*optimizer, c.name, p, step, c.sign);
    expect_near(row(*optimizer, c.name, p), expected.select(0, step),
                c.tolerance(), "step " + std::to_string(step));
  }
}

TEST_P(Strided, IsThatOfPyTorch) {
  const Case c(GetParam());
  const std::vector<Tensor> p = parameters(c.name, c.dtype);
  const auto optimizer = make_optimizer(c.name, c.options, numbered(p));
  const Tensor expected = recorded()[GetParam()];
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    for (size_t i = 0; i < p.size(); ++i) {
      p[i].mutable_grad() = apart(gradient(i, p[i].detach(), step));
    }
    optimizer->step();
    expect_near(row(*optimizer, c.name, p), expected.select(0, step),
                c.tolerance(), "step " + std::to_string(step));
  }
}

// Another optimizer, of the same parameters in another order, goes on in the
// middle.
TEST_P(Trajectory, GoesOnFromAStateBitForBit) {
  const Case c(GetParam());
  const std::vector<Tensor> p = parameters(c.name, c.dtype);
  const std::vector<Tensor> q = parameters(c.name, c.dtype);
  const auto first = make_optimizer(c.name, c.options, numbered(p));
  for (int step = 0; step < kSteps / 2; ++step) {
    take_step(*first, c.name, p, step, c.sign);
  }
  NamedTensors named;
  for (size_t i = q.size(); i-- > 0;) {
    const NoGradGuard no_grad;
    q[i].copy_(p[i]);
    named.insert("p" + std::to_string(i), q[i]);
  }
  // The vectors of LBFGS have its parameters' order.
  const auto second =
      make_optimizer(c.name, "lr=7", c.name == "LBFGS" ? numbered(q) : named);
  second->load_state_dict(first->state_dict());
  for (int step = kSteps / 2; step < kSteps; ++step) {
    take_step(*first, c.name, p, step, c.sign);
    take_step(*second, c.name, q, step, c.sign);
    ASSERT_TRUE(equal(row(p), row(q))) << "step " << step;
  }
  const NamedTensors a = first->state_dict(), b = second->state_dict();
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, t] : a) EXPECT_TRUE(equal(t, b[name])) << name;
}

std::string without(const std::string& options, size_t option) {
  std::istringstream in(options);
  std::string rest, item;
  for (size_t i = 0; std::getline(in, item, ','); ++i) {
    if (i != option) rest += (rest.empty() ? "" : ",") + item;
  }
  return rest;
}

// The results compared with PyTorch above depend on each option.
TEST_P(Trajectory, DependsOnEachOption) {
  const Case c(GetParam());
  const auto count = std::count(c.options.begin(), c.options.end(), ',') + 1;
  for (size_t option = 0; option < static_cast<size_t>(count); ++option) {
    const std::string rest = without(c.options, option);
    // These are the usual values, or change where things are, not what.
    if (rest.find("lr=") == std::string::npos) continue;
    if (c.options.find("capturable") != std::string::npos) continue;
    const std::vector<Tensor> p = parameters(c.name, c.dtype);
    std::unique_ptr<optim::Optimizer> optimizer;
    try {
      optimizer = make_optimizer(c.name, rest, numbered(p));
    } catch (const ValueError&) {
      continue;  // an option needs it
    }
    const Tensor expected = recorded()[GetParam()];
    double off = 0;
    for (int step = 0; step < kSteps; ++step) {
      take_step(*optimizer, c.name, p, step, c.sign);
      const Tensor d =
          (row(*optimizer, c.name, p) - expected.select(0, step)).abs().amax();
      // NaN: some options keep numbers finite.
      off = d.item<double>() <= off ? off : d.item<double>();
    }
    EXPECT_FALSE(off <= 4 * c.tolerance())
        << c.options << " without option " << option << " is off by " << off;
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& ch : name) {
    if (std::isalnum(static_cast<unsigned char>(ch)) == 0) ch = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(PyTorch, Trajectory, testing::ValuesIn(cases()),
                         test_name);
INSTANTIATE_TEST_SUITE_P(PyTorch, Strided, testing::ValuesIn(cases("LBFGS")),
                         test_name);

}  // namespace
}  // namespace sy::test
