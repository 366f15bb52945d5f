#include <algorithm>
#include <vector>

#include "aten/engine/copy.h"
#include "backends/cpu/loss.h"
#include "backends/cpu/loss_ranking_kernels_gen.h"
#include "backends/cpu/support/scratch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 16384;

template <class F>
void visit_dtype(ScalarType t, const F& f) {
  if (t == kFloat) {
    f.template operator()<float>();
  } else {
    f.template operator()<double>();
  }
}

// Contiguous scores as rows of classes.
template <class T>
struct Rows {
  Tensor dense, dense_target;
  int64_t rows, classes;
  const T* scores;
  const int64_t* target;

  Rows(const Tensor& self, const Tensor& t)
      : dense(contiguous_cpu(self)),
        dense_target(contiguous_cpu(t)),
        rows(self.dim() == 2 ? self.sizes()[0] : 1),
        classes(self.dim() == 0 ? 1 : self.sizes().back()),
        scores(static_cast<const T*>(dense.raw_data())),
        target(static_cast<const int64_t*>(dense_target.raw_data())) {}

  // f(row) for all; `work` is about how much one takes.
  template <class F>
  void visit(int64_t work, const F& f) const {
    const int64_t grain = std::max<int64_t>(1, kGrain / work);
    parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) f(i);
    });
  }

  // The losses of the rows, or what they reduce to, the sum always in the same
  // order.
  void store(const ScratchVector<T>& losses, int64_t reduction,
             const Tensor& out) const {
    fill_contiguous<T>(out, [&](T* to) {
      if (reduction == kNone) {
        std::copy(losses.begin(), losses.end(), to);
        return;
      }
      double sum = 0;
      for (const T loss : losses) sum += static_cast<double>(loss);
      if (reduction == kMean && rows > 0) sum /= static_cast<double>(rows);
      *to = static_cast<T>(sum);
    });
  }

  // The factor of a row's gradient, beside its element of grad_output.
  T scale(int64_t reduction) const {
    return T{1} / static_cast<T>(reduction == kMean ? rows * classes : classes);
  }
};

// The element of grad_output for row i: one for each, or one for all.
template <class T>
T grad_of(const Tensor& grad, int64_t i) {
  return static_cast<const T*>(grad.raw_data())[grad.numel() == 1 ? 0 : i];
}

template <class T>
struct MultiMargin : Rows<T> {
  const char* op;
  bool square;
  T margin;
  Tensor weights;

  MultiMargin(const char* name, const Tensor& self, const Tensor& t,
              const Scalar& p, const Scalar& m,
              const std::optional<Tensor>& weight)
      : Rows<T>(self, t),
        op(name),
        square(p.to_double() == 2),
        margin(static_cast<T>(m.to_double())) {
    if (weight && weight->defined()) weights = contiguous_cpu(*weight);
  }

  int64_t class_of(int64_t row) const {
    const int64_t c = this->target[row];
    SY_CHECK(c >= 0 && c < this->classes, Index,
             "[{}] target: expected a class in [0, {}], got {}", op,
             this->classes - 1, c);
    return c;
  }
  T weight_of(int64_t c) const {
    return weights.defined() ? static_cast<const T*>(weights.raw_data())[c]
                             : T{1};
  }
  // f(class, what it has too much) for the other classes.
  template <class F>
  void others(int64_t row, int64_t c, const F& f) const {
    const T* x = this->scores + row * this->classes;
    const T base = margin - x[c];
    for (int64_t d = 0; d < c; ++d) f(d, base + x[d]);
    for (int64_t d = c + 1; d < this->classes; ++d) f(d, base + x[d]);
  }
};

template <class T>
struct MultiLabel : Rows<T> {
  using Rows<T>::Rows;

  // The targets of a row: those before the first that is negative.
  ArrayRef<int64_t> targets(const char* op, int64_t row) const {
    const int64_t n = this->classes;
    const int64_t* t = this->target + row * n;
    for (int64_t i = 0; i < n; ++i) {
      SY_CHECK(t[i] >= -1 && t[i] < n, Index,
               "[{}] target: expected a class in [0, {}] or -1, got {}", op,
               n - 1, t[i]);
    }
    const int64_t* end =
        std::find_if(t, t + n, [](int64_t c) { return c < 0; });
    return {t, static_cast<size_t>(end - t)};
  }
  // f(class, too much) for the classes that are no targets.
  template <class F>
  void others(int64_t row, int64_t c, const T* is_target, const F& f) const {
    const T* x = this->scores + row * this->classes;
    const T base = T{1} - x[c];
    for (int64_t d = 0; d < this->classes; ++d) {
      if (is_target[d] == T{0}) f(d, base + x[d]);
    }
  }
};

}  // namespace

void multi_margin_loss_out(const Tensor& self, const Tensor& target,
                           const Scalar& p, const Scalar& margin,
                           const std::optional<Tensor>& weight,
                           int64_t reduction, const Tensor& out) {
  visit_dtype(self.dtype(), [&]<class T>() {
    const MultiMargin<T> m("multi_margin_loss", self, target, p, margin,
                           weight);
    ScratchVector<T> losses(static_cast<size_t>(m.rows));
    m.visit(m.classes, [&](int64_t i) {
      const int64_t c = m.class_of(i);
      T sum{0};
      m.others(i, c, [&](int64_t, T z) {
        if (z > T{0}) sum += m.square ? z * z : z;
      });
      losses[static_cast<size_t>(i)] =
          sum * m.weight_of(c) / static_cast<T>(m.classes);
    });
    m.store(losses, reduction, out);
  });
}

void multi_margin_loss_backward_out(const Tensor& grad_output,
                                    const Tensor& self, const Tensor& target,
                                    const Scalar& p, const Scalar& margin,
                                    const std::optional<Tensor>& weight,
                                    int64_t reduction, const Tensor& out) {
  const Tensor grad = contiguous_cpu(grad_output);
  visit_dtype(self.dtype(), [&]<class T>() {
    const MultiMargin<T> m("multi_margin_loss_backward", self, target, p,
                           margin, weight);
    fill_contiguous<T>(out, [&](T* elements) {
      m.visit(m.classes, [&](int64_t i) {
        const int64_t c = m.class_of(i);
        T* to = elements + i * m.classes;
        const T g = m.scale(reduction) * m.weight_of(c) * grad_of<T>(grad, i);
        T all{0};
        m.others(i, c, [&](int64_t d, T z) {
          const T h = z > T{0} ? (m.square ? 2 * g * z : g) : T{0};
          to[d] = h;
          all += h;
        });
        to[c] = -all;
      });
    });
  });
}

void multilabel_margin_loss_forward_out(const Tensor& self,
                                        const Tensor& target, int64_t reduction,
                                        const Tensor& output,
                                        const Tensor& is_target) {
  visit_dtype(self.dtype(), [&]<class T>() {
    const MultiLabel<T> m(self, target);
    ScratchVector<T> losses(static_cast<size_t>(m.rows));
    fill_contiguous<T>(is_target, [&](T* marks) {
      m.visit(4 * m.classes, [&](int64_t i) {
        T* mark = marks + i * m.classes;
        const auto targets = m.targets("multilabel_margin_loss_forward", i);
        std::fill(mark, mark + m.classes, T{0});
        for (const int64_t c : targets) mark[c] = T{1};
        T sum{0};
        for (const int64_t c : targets) {
          m.others(i, c, mark, [&](int64_t, T z) {
            if (z > T{0}) sum += z;
          });
        }
        losses[static_cast<size_t>(i)] = sum / static_cast<T>(m.classes);
      });
    });
    m.store(losses, reduction, output);
  });
}

void multilabel_margin_loss_backward_out(
    const Tensor& grad_output, const Tensor& self, const Tensor& target,
    int64_t reduction, const Tensor& is_target, const Tensor& out) {
  const Tensor grad = contiguous_cpu(grad_output);
  const Tensor marks = contiguous_cpu(is_target);
  visit_dtype(self.dtype(), [&]<class T>() {
    const MultiLabel<T> m(self, target);
    const T* mark = static_cast<const T*>(marks.raw_data());
    fill_contiguous<T>(out, [&](T* elements) {
      m.visit(4 * m.classes, [&](int64_t i) {
        T* to = elements + i * m.classes;
        std::fill(to, to + m.classes, T{0});
        const T g = m.scale(reduction) * grad_of<T>(grad, i);
        for (const int64_t c :
             m.targets("multilabel_margin_loss_backward", i)) {
          m.others(i, c, mark + i * m.classes, [&](int64_t d, T z) {
            if (!(z > T{0})) return;
            to[d] += g;
            to[c] -= g;
          });
        }
      });
    });
  });
}

}  // namespace sy::cpu
