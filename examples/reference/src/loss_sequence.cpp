#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "elements.h"
#include "reference_kernels.h"

// Connectionist temporal classification, in log-probabilities. The states of a
// sequence of n labels are a blank before, between and after them: state s is
// blank where s is even, else label (s - 1) / 2.

namespace reference {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_sum(double a, double b) {
  const double most = std::max(a, b);
  if (most == kNever) return most;
  return most + std::log(std::exp(a - most) + std::exp(b - most));
}

class Sequence {
 public:
  int64_t steps, states;

  Sequence(const char* op, const Tensor& log_probs, const Tensor& targets,
           IntArrayRef input_lengths, IntArrayRef target_lengths, int64_t blank,
           size_t i)
      : steps(input_lengths[i]),
        states(2 * target_lengths[i] + 1),
        log_probs_(log_probs),
        i_(static_cast<int64_t>(i)) {
    int64_t first = 0;
    for (size_t k = 0; k < i; ++k) first += target_lengths[k];
    for (int64_t s = 0; s < states; ++s) {
      int64_t c = blank;
      if (s % 2 != 0) {
        const int64_t n = s / 2;
        c = read<int64_t>(targets,
                          targets.dim() == 1 ? Index{first + n} : Index{i_, n});
        SY_CHECK(c >= 0 && c < log_probs.size(2), Index,
                 "[{}] targets: expected a class in [0, {}], got {}", op,
                 log_probs.size(2) - 1, c);
      }
      classes_.push_back(c);
    }
  }

  int64_t class_of(int64_t s) const { return classes_[static_cast<size_t>(s)]; }
  double log_prob(int64_t step, int64_t s) const {
    return read<double>(log_probs_, Index{step, i_, class_of(s)});
  }
  // Whether state s may follow s - 2: two blanks, or equal labels, may not.
  bool skips(int64_t s) const {
    return s % 2 != 0 && s >= 3 && class_of(s) != class_of(s - 2);
  }

  // The log-probability of all beginnings that end in state s at a step:
  // [step][s].
  std::vector<std::vector<double>> beginnings() const {
    auto alpha = table();
    for (int64_t t = 0; t < steps; ++t) {
      const auto step = static_cast<size_t>(t);
      for (int64_t s = 0; s < states; ++s) {
        double v = t == 0 && s < 2 ? 0 : kNever;
        for (int64_t from = std::max<int64_t>(0, s - 2); t > 0 && from <= s;
             ++from) {
          if (from == s - 2 && !skips(s)) continue;
          v = log_sum(v, alpha[step - 1][static_cast<size_t>(from)]);
        }
        alpha[step][static_cast<size_t>(s)] = v + log_prob(t, s);
      }
    }
    return alpha;
  }
  // The log-probability of all endings that begin in state s at a step.
  std::vector<std::vector<double>> endings() const {
    auto beta = table();
    for (int64_t t = steps; t-- > 0;) {
      const auto step = static_cast<size_t>(t);
      for (int64_t s = 0; s < states; ++s) {
        double v = t == steps - 1 && s >= states - 2 ? 0 : kNever;
        for (int64_t to = s; t < steps - 1 && to < std::min(states, s + 3);
             ++to) {
          if (to == s + 2 && !skips(to)) continue;
          v = log_sum(v, beta[step + 1][static_cast<size_t>(to)]);
        }
        beta[step][static_cast<size_t>(s)] = v + log_prob(t, s);
      }
    }
    return beta;
  }
  double loss(const std::vector<std::vector<double>>& alpha) const {
    if (steps == 0) return states == 1 ? 0 : -kNever;
    const std::vector<double>& last = alpha.back();
    return states == 1 ? -last[0]
                       : -log_sum(last[last.size() - 1], last[last.size() - 2]);
  }

 private:
  std::vector<std::vector<double>> table() const {
    return std::vector<std::vector<double>>(
        static_cast<size_t>(steps),
        std::vector<double>(static_cast<size_t>(states), kNever));
  }

  const Tensor& log_probs_;
  int64_t i_;
  std::vector<int64_t> classes_;
};

}  // namespace

std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs,
                                     const Tensor& targets,
                                     IntArrayRef input_lengths,
                                     IntArrayRef target_lengths, int64_t blank,
                                     bool) {
  const int64_t batch = log_probs.size(1);
  const int64_t labels =
      *std::max_element(target_lengths.begin(), target_lengths.end());
  const ScalarType dtype = log_probs.scalar_type();
  const Tensor losses = empty(Index{batch}, dtype, log_probs.device());
  const Tensor log_alpha =
      empty(Index{batch, log_probs.size(0), 2 * labels + 1}, dtype,
            log_probs.device());
  for_each_place(log_alpha.sizes(),
                 [&](const Index& at) { write(log_alpha, at, kNever); });
  for (int64_t i = 0; i < batch; ++i) {
    const Sequence one("_ctc_loss", log_probs, targets, input_lengths,
                       target_lengths, blank, static_cast<size_t>(i));
    const auto alpha = one.beginnings();
    for (int64_t t = 0; t < one.steps; ++t) {
      for (int64_t s = 0; s < one.states; ++s) {
        write(log_alpha, Index{i, t, s},
              alpha[static_cast<size_t>(t)][static_cast<size_t>(s)]);
      }
    }
    write(losses, Index{i}, one.loss(alpha));
  }
  return {losses, log_alpha};
}

// The gradient by log-probabilities that stay normalized: a class's probability
// less its share of the paths.
Tensor _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs,
                          const Tensor& targets, IntArrayRef input_lengths,
                          IntArrayRef target_lengths,
                          const Tensor& neg_log_likelihood,
                          const Tensor& log_alpha, int64_t blank,
                          bool zero_infinity) {
  const Tensor out =
      empty(log_probs.sizes(), log_probs.scalar_type(), log_probs.device());
  for_each_place(out.sizes(), [&](const Index& at) { write(out, at, 0.0); });
  for (int64_t i = 0; i < log_probs.size(1); ++i) {
    const Sequence one("_ctc_loss_backward", log_probs, targets, input_lengths,
                       target_lengths, blank, static_cast<size_t>(i));
    const auto loss = read<double>(neg_log_likelihood, Index{i});
    if (zero_infinity && loss == -kNever) continue;
    const auto by = read<double>(grad, Index{i});
    const auto beta = one.endings();
    for (int64_t t = 0; t < one.steps; ++t) {
      for (int64_t c = 0; c < log_probs.size(2); ++c) {
        double paths = kNever;
        for (int64_t s = 0; s < one.states; ++s) {
          if (one.class_of(s) != c) continue;
          paths = log_sum(
              paths, read<double>(log_alpha, Index{i, t, s}) +
                         beta[static_cast<size_t>(t)][static_cast<size_t>(s)]);
        }
        const auto p = read<double>(log_probs, Index{t, i, c});
        write(out, Index{t, i, c},
              (std::exp(p) - std::exp(paths + loss - p)) * by);
      }
    }
  }
  return out;
}

}  // namespace reference
