#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/loss.h"
#include "backends/cpu/loss_sequence_kernels_gen.h"
#include "backends/cpu/support/scratch.h"
#include "c10/process/parallel.h"

// Connectionist temporal classification, in log-probabilities: A. Graves,
// S. Fernandez, F. Gomez, J. Schmidhuber, "Connectionist temporal
// classification: labelling unsegmented sequence data with recurrent neural
// networks", 2006. State s of a sequence of labels is a blank where s is even,
// else label (s - 1) / 2.

namespace sy::cpu {

namespace {

template <class T>
constexpr T kNever = -std::numeric_limits<T>::infinity();

template <class T>
T log_sum(T a, T b) {
  const T most = std::max(a, b);
  if (most == kNever<T>) return most;
  return most + std::log1p(std::exp(std::min(a, b) - most));
}
template <class T>
T log_sum(T a, T b, T c) {
  const T most = std::max({a, b, c});
  if (most == kNever<T>) return most;
  return most +
         std::log(std::exp(a - most) + std::exp(b - most) + std::exp(c - most));
}

template <class T>
struct Sequences {
  const char* op;
  Tensor dense, dense_targets;
  int64_t steps, batch, classes, blank;
  IntArrayRef step_counts, label_counts;
  const T* log_probs;
  const int64_t* labels;
  ScratchVector<int64_t> first;  // label of each sequence, in `labels`
  int64_t max_states;

  Sequences(const char* name, const Tensor& x, const Tensor& targets,
            IntArrayRef input_lengths, IntArrayRef target_lengths, int64_t b)
      : op(name),
        dense(contiguous_cpu(x)),
        dense_targets(contiguous_cpu(targets, kLong)),
        steps(x.sizes()[0]),
        batch(x.sizes()[1]),
        classes(x.sizes()[2]),
        blank(b),
        step_counts(input_lengths),
        label_counts(target_lengths),
        log_probs(static_cast<const T*>(dense.raw_data())),
        labels(static_cast<const int64_t*>(dense_targets.raw_data())) {
    int64_t at = 0, most = 0;
    for (int64_t i = 0; i < batch; ++i) {
      const int64_t count = label_counts[static_cast<size_t>(i)];
      if (targets.dim() == 2) at = i * targets.sizes()[1];
      first.push_back(at);
      for (int64_t k = at; k < at + count; ++k) {
        SY_CHECK(labels[k] >= 0 && labels[k] < classes, Index,
                 "[{}] targets: expected a class in [0, {}], got {}", op,
                 classes - 1, labels[k]);
      }
      at += count;
      most = std::max(most, count);
    }
    max_states = 2 * most + 1;
  }

  // f(sequence) for all.
  template <class F>
  void visit(const F& f) const {
    const int64_t grain =
        std::max<int64_t>(1, 4096 / std::max<int64_t>(1, steps * max_states));
    parallel_for(0, batch, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) f(i);
    });
  }
};

template <class T>
struct OneSequence {
  int64_t steps, labels, states;
  const T* log_probs;
  int64_t step_stride;
  const int64_t* label;
  int64_t blank;

  OneSequence(const Sequences<T>& all, int64_t i)
      : steps(all.step_counts[static_cast<size_t>(i)]),
        labels(all.label_counts[static_cast<size_t>(i)]),
        states(2 * labels + 1),
        log_probs(all.log_probs + i * all.classes),
        step_stride(all.batch * all.classes),
        label(all.labels + all.first[static_cast<size_t>(i)]),
        blank(all.blank) {}

  int64_t class_of(int64_t s) const { return s & 1 ? label[s / 2] : blank; }
  // Whether state s may follow s - 2: two blanks, or equal labels, may not.
  bool skips(int64_t s) const {
    return (s & 1) != 0 && s >= 3 && label[s / 2] != label[s / 2 - 1];
  }
  T log_prob(int64_t step, int64_t s) const {
    return log_probs[step * step_stride + class_of(s)];
  }

  // alpha[step][s], rows of `width`: that of all beginnings that end in state s
  // at that step. Fills `rows` rows, -inf where there is no such beginning.
  void forward(T* alpha, int64_t rows, int64_t width) const {
    std::fill_n(alpha, rows * width, kNever<T>);
    if (steps == 0) return;
    alpha[0] = log_prob(0, 0);
    if (labels > 0) alpha[1] = log_prob(0, 1);
    for (int64_t step = 1; step < steps; ++step) {
      const T* from = alpha + (step - 1) * width;
      T* to = alpha + step * width;
      for (int64_t s = 0; s < states; ++s) {
        to[s] = log_sum(from[s], s > 0 ? from[s - 1] : kNever<T>,
                        skips(s) ? from[s - 2] : kNever<T>) +
                log_prob(step, s);
      }
    }
  }
  T loss(const T* alpha, int64_t width) const {
    if (steps == 0) return labels == 0 ? T{0} : -kNever<T>;
    const T* last = alpha + (steps - 1) * width;
    if (labels == 0) return -last[0];
    return -log_sum(last[2 * labels], last[2 * labels - 1]);
  }

  // beta[s] of the step before, in place: that of all endings that begin in
  // state s. At `step` == steps - 1 those of one step.
  void back(T* beta, int64_t step) const {
    if (step == steps - 1) {
      std::fill_n(beta, states, kNever<T>);
      beta[2 * labels] = log_prob(step, 2 * labels);
      if (labels > 0) beta[2 * labels - 1] = log_prob(step, 2 * labels - 1);
      return;
    }
    for (int64_t s = 0; s < states; ++s) {
      const bool skipped = s + 2 < states && skips(s + 2);
      beta[s] = log_sum(beta[s], s + 1 < states ? beta[s + 1] : kNever<T>,
                        skipped ? beta[s + 2] : kNever<T>) +
                log_prob(step, s);
    }
  }
};

template <class T>
void forward(const Sequences<T>& all, const Tensor& losses,
             const Tensor& log_alpha) {
  fill_contiguous<T>(losses, [&](T* loss) {
    fill_contiguous<T>(log_alpha, [&](T* alpha) {
      all.visit([&](int64_t i) {
        const OneSequence<T> one(all, i);
        T* own = alpha + i * all.steps * all.max_states;
        one.forward(own, all.steps, all.max_states);
        loss[i] = one.loss(own, all.max_states);
      });
    });
  });
}

template <class T>
void backward(const Sequences<T>& all, const Tensor& grad, const Tensor& losses,
              const Tensor& log_alpha, bool zero_infinity, const Tensor& out) {
  const Tensor dense_grad = contiguous_cpu(grad);
  const Tensor dense_losses = contiguous_cpu(losses);
  const Tensor dense_alpha = contiguous_cpu(log_alpha);
  const auto* alpha = static_cast<const T*>(dense_alpha.raw_data());
  const int64_t stride = all.batch * all.classes;
  fill_contiguous<T>(out, [&](T* to) {
    all.visit([&](int64_t i) {
      const OneSequence<T> one(all, i);
      const T loss = static_cast<const T*>(dense_losses.raw_data())[i];
      const T by = static_cast<const T*>(dense_grad.raw_data())[i];
      T* rows = to + i * all.classes;
      const bool zero = zero_infinity && loss == -kNever<T>;
      for (int64_t step = zero ? 0 : one.steps; step < all.steps; ++step) {
        std::fill_n(rows + step * stride, all.classes, T{0});
      }
      if (zero) return;
      ScratchVector<T> beta(static_cast<size_t>(one.states));
      for (int64_t step = one.steps - 1; step >= 0; --step) {
        one.back(beta.data(), step);
        T* row = rows + step * stride;
        const T* a = alpha + (i * all.steps + step) * all.max_states;
        std::fill_n(row, all.classes, kNever<T>);
        for (int64_t s = 0; s < one.states; ++s) {
          T& sum = row[one.class_of(s)];
          sum = log_sum(sum, a[s] + beta[static_cast<size_t>(s)]);
        }
        const T* p = one.log_probs + step * stride;
        for (int64_t c = 0; c < all.classes; ++c) {
          row[c] = (std::exp(p[c]) - std::exp(row[c] + loss - p[c])) * by;
        }
      }
    });
  });
}

}  // namespace

void ctc_loss_out(const Tensor& log_probs, const Tensor& targets,
                  IntArrayRef input_lengths, IntArrayRef target_lengths,
                  int64_t blank, bool /*zero_infinity*/, const Tensor& losses,
                  const Tensor& log_alpha) {
  const auto run = [&]<class T>() {
    forward(Sequences<T>("_ctc_loss", log_probs, targets, input_lengths,
                         target_lengths, blank),
            losses, log_alpha);
  };
  log_probs.dtype() == kFloat ? run.template operator()<float>()
                              : run.template operator()<double>();
}

void ctc_loss_backward_out(const Tensor& grad, const Tensor& log_probs,
                           const Tensor& targets, IntArrayRef input_lengths,
                           IntArrayRef target_lengths,
                           const Tensor& neg_log_likelihood,
                           const Tensor& log_alpha, int64_t blank,
                           bool zero_infinity, const Tensor& out) {
  const auto run = [&]<class T>() {
    backward(Sequences<T>("_ctc_loss_backward", log_probs, targets,
                          input_lengths, target_lengths, blank),
             grad, neg_log_likelihood, log_alpha, zero_infinity, out);
  };
  log_probs.dtype() == kFloat ? run.template operator()<float>()
                              : run.template operator()<double>();
}

}  // namespace sy::cpu
