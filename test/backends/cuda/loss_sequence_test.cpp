#include <tuple>

#include <sy/library.h>

#include "test/backends/cuda/numeric_fixture.h"

namespace sy::cuda::testing {
namespace {

struct Case {
  const char* name;
  int64_t steps, classes;
  std::vector<int64_t> input_lengths, target_lengths;
  int64_t blank = 0;
  bool equal_labels = false;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"one step", 1, 3, {1}, {1}},
      {"of all lengths", 12, 7, {12, 5, 9, 12, 1}, {5, 2, 0, 1, 1}},
      {"the last class is the blank", 9, 5, {9, 8}, {3, 4}, 4},
      {"equal labels", 11, 4, {11, 10}, {4, 3}, 1, true},
      {"more labels than steps", 4, 6, {4, 3, 2}, {4, 4, 2}},
      {"no steps", 5, 4, {0, 0, 5}, {0, 2, 2}},
      {"no labels", 6, 4, {6, 2}, {0, 0}},
      {"many classes", 3, 700, {3, 2}, {2, 1}},
      {"more states than threads", 303, 30, {303, 290}, {280, 260}},
  };
  return list;
}

struct Call {
  const Case& c;
  Pair log_probs, targets, weights;

  // Labels may be blanks; `rows`: a row for each sequence.
  Call(const Case& of, ScalarType dtype, bool rows,
       ScalarType label_dtype = kLong)
      : c(of) {
    const auto batch = static_cast<int64_t>(c.input_lengths.size());
    log_probs = pair(
        sy::log_softmax(numbers({c.steps, batch, c.classes}, kDouble) / 2, -1)
            .to(dtype));
    int64_t most = 0, sum = 0;
    for (const int64_t n : c.target_lengths) {
      most = std::max(most, n);
      sum += n;
    }
    const std::vector<int64_t> sizes =
        rows ? std::vector<int64_t>{batch, most + 1} : std::vector{sum};
    targets = pair(c.equal_labels ? sy::full(sizes, 2, TensorOptions(kLong))
                                  : indices(sizes, c.classes));
    targets.cpu = targets.cpu.to(label_dtype);
    targets.cuda = targets.cuda.to(label_dtype);
    weights = pair(numbers({batch}, dtype, 5));
  }

  std::tuple<Tensor, Tensor> forward(const Tensor& x, const Tensor& t) const {
    return sy::_ctc_loss(x, t, c.input_lengths, c.target_lengths, c.blank);
  }
  Tensor backward(const Tensor& x, const Tensor& t, const Tensor& grad,
                  const std::tuple<Tensor, Tensor>& results,
                  bool zero_infinity) const {
    return sy::_ctc_loss_backward(grad, x, t, c.input_lengths, c.target_lengths,
                                  std::get<0>(results), std::get<1>(results),
                                  c.blank, zero_infinity);
  }
  double size() const { return 10 * static_cast<double>(c.steps); }
};

TEST(CtcLoss, losses_and_beginnings_are_those_of_the_cpu) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const Case& c : cases()) {
      for (const bool rows : {false, true}) {
        const Call call(c, dtype, rows, rows ? kInt : kLong);
        const auto [losses, alpha] =
            call.forward(call.log_probs.cpu.to(kDouble), call.targets.cpu);
        const auto [cuda_losses, cuda_alpha] =
            call.forward(call.log_probs.cuda, call.targets.cuda);
        EXPECT_TRUE(near(losses, cuda_losses, dtype, call.size())) << c.name;
        EXPECT_TRUE(near(alpha, cuda_alpha, dtype, call.size())) << c.name;
      }
    }
  }
}

TEST(CtcLoss, gradients_are_those_of_the_cpu) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const Case& c : cases()) {
      for (const bool zero_infinity : {false, true}) {
        const Call call(c, dtype, true);
        const Tensor wide = call.log_probs.cpu.to(kDouble);
        const Tensor expected =
            call.backward(wide, call.targets.cpu, call.weights.cpu.to(kDouble),
                          call.forward(wide, call.targets.cpu), zero_infinity);
        const auto results =
            call.forward(call.log_probs.cuda, call.targets.cuda);
        const auto run = [&] {
          return call.backward(call.log_probs.cuda, call.targets.cuda,
                               call.weights.cuda, results, zero_infinity);
        };
        const Tensor grad = run();
        EXPECT_TRUE(near(expected, grad, dtype, call.size())) << c.name;
        EXPECT_TRUE(same(grad.to(kCPU), run())) << c.name;
      }
    }
  }
}

// Lengths are tensors there and on the CPU; nothing of the loss runs on the
// CPU.
TEST(CtcLoss, whole_losses_train) {
  sy::reset_fallback_counts();
  const Case& c = cases()[1];
  const Call call(c, kDouble, false);
  const auto run = [&](const Tensor& given, const Tensor& targets) {
    const Tensor x = given.detach().requires_grad_();
    sy::ctc_loss(sy::log_softmax(x, -1), targets,
                 sy::tensor(c.input_lengths).to(x.device()),
                 sy::tensor(c.target_lengths), 0, 1, true)
        .backward();
    return x.grad();
  };
  EXPECT_TRUE(near(run(call.log_probs.cpu, call.targets.cpu),
                   run(call.log_probs.cuda, call.targets.cuda), kDouble,
                   call.size()));
  EXPECT_TRUE(sy::fallback_counts().empty());
}

TEST(CtcLoss, labels_are_classes) {
  const Tensor x = sy::zeros({3, 1, 4}).to(kCUDA);
  const auto label = [](int64_t k) {
    return sy::tensor({{int64_t{1}, k}}).to(kCUDA);
  };
  for (const int64_t k : {-1, 4}) {
    EXPECT_EQ(error_of([&] { sy::_ctc_loss(x, label(k), {3}, {2}); }),
              str("[aten::_ctc_loss] targets: expected an index into a size of "
                  "4, got {}",
                  k));
    const auto [losses, alpha] = sy::_ctc_loss(x, label(1), {3}, {2});
    EXPECT_EQ(error_of([&, a = alpha, l = losses] {
                sy::_ctc_loss_backward(l, x, label(k), {3}, {2}, l, a, 0);
              }),
              str("[aten::_ctc_loss_backward] targets: expected an index into "
                  "a size of 4, got {}",
                  k));
  }
  // The loss does not look at labels beyond the sequence.
  EXPECT_EQ(error_of([&] { sy::_ctc_loss(x, label(4), {3}, {1}); }), "");
}

TEST(CtcLoss, other_errors_are_those_of_the_cpu) {
  const auto errors = [](Device device) {
    const Tensor x = sy::zeros({3, 1, 4}).to(device);
    const Tensor one = sy::tensor({int64_t{1}}).to(device);
    const auto error = [&](const Tensor& log_probs, const Tensor& targets,
                           int64_t steps, int64_t labels, int64_t blank) {
      try {
        sy::_ctc_loss(log_probs, targets, {steps}, {labels}, blank);
      } catch (const Error& e) {
        return std::string(e.what());
      }
      return std::string();
    };
    return std::vector<std::string>{
        error(x, one, 4, 1, 0), error(x, one, 3, 2, 0), error(x, one, 3, 1, 4),
        error(x, x, 3, 1, 0), error(x.to(kHalf), one, 3, 1, 0)};
  };
  const auto expected = errors(Device(kCPU));
  EXPECT_EQ(expected, errors(Device(kCUDA)));
  for (const std::string& e : expected) EXPECT_NE(e, "");
}

}  // namespace
}  // namespace sy::cuda::testing
