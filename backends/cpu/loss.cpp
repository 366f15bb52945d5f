#include <cmath>

#include "aten/engine/copy.h"
#include "backends/cpu/loss.h"
#include "backends/cpu/loss_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// Scores as rows of classes; a vector of scores is one row.
template <class T>
struct Problem {
  using A = typename Accumulate<T>::type;
  const char* op;
  const T* scores;
  int64_t rows, classes;
  int64_t row_stride, class_stride;
  const int64_t* target;
  int64_t target_stride;
  const T* weight;  // nullptr: all 1
  int64_t weight_stride;
  int64_t ignored;

  Problem(const char* name, const Tensor& self, const Tensor& t,
          const std::optional<Tensor>& w, int64_t ignore_index)
      : op(name),
        scores(static_cast<const T*>(self.raw_data())),
        rows(self.dim() == 1 ? 1 : self.sizes()[0]),
        classes(self.sizes().back()),
        row_stride(self.dim() == 1 ? 0 : self.strides()[0]),
        class_stride(self.strides().back()),
        target(static_cast<const int64_t*>(t.raw_data())),
        target_stride(t.dim() == 0 ? 0 : t.strides()[0]),
        weight(w && w->defined() ? static_cast<const T*>(w->raw_data())
                                 : nullptr),
        weight_stride(weight == nullptr ? 0 : w->strides()[0]),
        ignored(ignore_index) {}

  // The class of a row; -1 if it is ignored.
  int64_t class_of(int64_t row) const {
    const int64_t c = target[row * target_stride];
    if (c == ignored) return -1;
    SY_CHECK(c >= 0 && c < classes, Index,
             "[{}] target: expected a class in [0, {}], got {}", op,
             classes - 1, c);
    return c;
  }
  A weight_of(int64_t c) const {
    return weight == nullptr ? A{1} : static_cast<A>(weight[c * weight_stride]);
  }
  A score(int64_t row, int64_t c) const {
    return static_cast<A>(scores[row * row_stride + c * class_stride]);
  }
};

template <class T>
void store(const Tensor& t, int64_t i, double v) {
  static_cast<T*>(t.raw_data())[t.dim() == 0 ? 0 : i * t.strides()[0]] =
      static_cast<T>(static_cast<typename Accumulate<T>::type>(v));
}

}  // namespace

void nll_loss_forward_out(const Tensor& self, const Tensor& target,
                          const std::optional<Tensor>& weight,
                          int64_t reduction, int64_t ignore_index,
                          const Tensor& output, const Tensor& total_weight) {
  visit_floating_dtypes("nll_loss_forward", self.dtype(), [&]<class T>() {
    const Problem<T> p("nll_loss_forward", self, target, weight, ignore_index);
    const bool each = reduction == kNone && self.dim() == 2;
    double total = 0, sum = 0;
    for (int64_t i = 0; i < p.rows; ++i) {
      const int64_t c = p.class_of(i);
      if (c < 0) {
        if (each) store<T>(output, i, 0);
        continue;
      }
      const double w = p.weight_of(c);
      const double loss = -w * static_cast<double>(p.score(i, c));
      total += w;
      sum += loss;
      if (each) store<T>(output, i, loss);
    }
    if (!each) store<T>(output, 0, reduction == kMean ? sum / total : sum);
    store<T>(total_weight, 0, each ? 0 : total);
  });
}

void nll_loss_backward_out(const Tensor& grad_output, const Tensor& self,
                           const Tensor& target,
                           const std::optional<Tensor>& weight,
                           int64_t reduction, int64_t ignore_index,
                           const Tensor& total_weight, const Tensor& out) {
  const bool each = reduction == kNone && self.dim() == 2;
  visit_floating_dtypes("nll_loss_backward", self.dtype(), [&]<class T>() {
    const Problem<T> p("nll_loss_backward", self, target, weight, ignore_index);
    using A = typename Problem<T>::A;
    const Tensor grad = contiguous_cpu(grad_output, self.dtype());
    const T* g = static_cast<const T*>(grad.raw_data());
    const A total = static_cast<A>(*static_cast<const T*>(
        contiguous_cpu(total_weight, self.dtype()).raw_data()));
    T* to = static_cast<T*>(out.raw_data());
    const int64_t row_stride = self.dim() == 1 ? 0 : out.strides()[0];
    const int64_t class_stride = out.strides().back();
    for (int64_t i = 0; i < p.rows; ++i) {
      T* row = to + i * row_stride;
      for (int64_t j = 0; j < p.classes; ++j) {
        row[j * class_stride] = static_cast<T>(A{0});
      }
      const int64_t c = p.class_of(i);
      if (c < 0) continue;
      A v = -p.weight_of(c) * static_cast<A>(g[each ? i : 0]);
      if (reduction == kMean) v /= total;
      row[c * class_stride] = static_cast<T>(v);
    }
  });
}

}  // namespace sy::cpu
