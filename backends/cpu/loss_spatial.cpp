#include <vector>

#include "aten/engine/copy.h"
#include "backends/cpu/loss.h"
#include "backends/cpu/loss_spatial_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/scratch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 16384;

// Contiguous scores as images x classes x places, one target for each image
// and place.
template <class T>
struct Scores {
  using A = typename Accumulate<T>::type;
  const char* op;
  Tensor classes_of, weights;
  int64_t images, classes, places;
  int64_t ignored;
  const int64_t* target;
  const T* weight = nullptr;  // nullptr: all 1

  Scores(const char* name, const Tensor& self, const Tensor& t,
         const std::optional<Tensor>& w, int64_t ignore_index)
      : op(name),
        classes_of(contiguous_cpu(t)),
        images(self.sizes()[0]),
        classes(self.sizes()[1]),
        places(self.sizes()[2] * self.sizes()[3]),
        ignored(ignore_index),
        target(static_cast<const int64_t*>(classes_of.raw_data())) {
    if (w && w->defined()) {
      weights = contiguous_cpu(*w);
      weight = static_cast<const T*>(weights.raw_data());
    }
  }

  // f(place, class, weight) for the places of an image that count, and
  // skip(place) for the others.
  template <class F, class G>
  void visit(int64_t image, const F& f, const G& skip) const {
    const int64_t* t = target + image * places;
    for (int64_t i = 0; i < places; ++i) {
      const int64_t c = t[i];
      if (c == ignored) {
        skip(i);
        continue;
      }
      SY_CHECK(c >= 0 && c < classes, Index,
               "[{}] target: expected a class in [0, {}], got {}", op,
               classes - 1, c);
      f(i, c, weight == nullptr ? A{1} : static_cast<A>(weight[c]));
    }
  }

  // f(image) for all of them.
  template <class F>
  void for_images(int64_t work, const F& f) const {
    const int64_t grain =
        std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work));
    parallel_for(0, images, grain, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) f(n);
    });
  }
};

template <class T>
void put(const Tensor& t, double v) {
  *static_cast<T*>(t.raw_data()) =
      static_cast<T>(static_cast<typename Accumulate<T>::type>(v));
}

}  // namespace

void nll_loss2d_forward_out(const Tensor& self, const Tensor& target,
                            const std::optional<Tensor>& weight,
                            int64_t reduction, int64_t ignore_index,
                            const Tensor& output, const Tensor& total_weight) {
  visit_floating_dtypes("nll_loss2d_forward", self.dtype(), [&]<class T>() {
    using A = typename Scores<T>::A;
    const Scores<T> s("nll_loss2d_forward", self, target, weight, ignore_index);
    const Tensor dense = contiguous_cpu(self);
    const T* scores = static_cast<const T*>(dense.raw_data());
    const auto loss = [&](int64_t n, int64_t i, int64_t c, A w) {
      return -w * static_cast<A>(scores[(n * s.classes + c) * s.places + i]);
    };
    if (reduction == kNone) {
      fill_contiguous<T>(output, [&](T* out) {
        s.for_images(s.places, [&](int64_t n) {
          T* to = out + n * s.places;
          s.visit(
              n,
              [&](int64_t i, int64_t c, A w) {
                to[i] = static_cast<T>(loss(n, i, c, w));
              },
              [&](int64_t i) { to[i] = static_cast<T>(A{0}); });
        });
      });
      put<T>(total_weight, 0);
      return;
    }
    // One sum for each image, added in order: the same for any threads.
    ScratchVector<double> sums(static_cast<size_t>(s.images));
    ScratchVector<double> totals(static_cast<size_t>(s.images));
    s.for_images(s.places, [&](int64_t n) {
      double sum = 0, total = 0;
      s.visit(
          n,
          [&](int64_t i, int64_t c, A w) {
            sum += static_cast<double>(loss(n, i, c, w));
            total += static_cast<double>(w);
          },
          [](int64_t) {});
      sums[static_cast<size_t>(n)] = sum;
      totals[static_cast<size_t>(n)] = total;
    });
    double sum = 0, total = 0;
    for (size_t n = 0; n < sums.size(); ++n) {
      sum += sums[n];
      total += totals[n];
    }
    put<T>(output, reduction == kMean ? sum / total : sum);
    put<T>(total_weight, total);
  });
}

void nll_loss2d_backward_out(const Tensor& grad_output, const Tensor& self,
                             const Tensor& target,
                             const std::optional<Tensor>& weight,
                             int64_t reduction, int64_t ignore_index,
                             const Tensor& total_weight, const Tensor& out) {
  visit_floating_dtypes("nll_loss2d_backward", self.dtype(), [&]<class T>() {
    using A = typename Scores<T>::A;
    const Scores<T> s("nll_loss2d_backward", self, target, weight,
                      ignore_index);
    const Tensor grad = contiguous_cpu(grad_output, self.dtype());
    const T* g = static_cast<const T*>(grad.raw_data());
    const A total = static_cast<A>(*static_cast<const T*>(
        contiguous_cpu(total_weight, self.dtype()).raw_data()));
    const int64_t image = s.classes * s.places;
    fill_contiguous<T>(out, [&](T* elements) {
      s.for_images(image, [&](int64_t n) {
        T* to = elements + n * image;
        std::fill(to, to + image, static_cast<T>(A{0}));
        s.visit(
            n,
            [&](int64_t i, int64_t c, A w) {
              A v = -w * static_cast<A>(
                             g[reduction == kNone ? n * s.places + i : 0]);
              if (reduction == kMean) v /= total;
              to[c * s.places + i] = static_cast<T>(v);
            },
            [](int64_t) {});
      });
    });
  });
}

}  // namespace sy::cpu
