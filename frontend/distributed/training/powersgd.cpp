#include <algorithm>
#include <unordered_map>
#include <utility>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/copy.h"
#include "aten/ops/copy_cast.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/math.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "frontend/distributed/group/call.h"
#include "frontend/distributed/training/comm_hooks.h"

// Gradients as products of thin matrices. M is a gradient, and Q a thin matrix
// that all ranks have. The ranks average P = M Q and make its columns
// orthonormal; then they average Q = M^T P, and P Q^T stands for the average of
// all M.

namespace sy::distributed {

namespace {

// Numbers of [-1, 1) that are the same on all ranks and leave the program's
// generators alone.
Tensor random_matrix(int64_t rows, int64_t columns, uint64_t seed) {
  const Tensor t = empty({rows, columns}, kFloat);
  auto* const p = static_cast<float*>(t.data_ptr());
  for (int64_t i = 0; i < rows * columns; ++i) {
    const uint64_t bits = mixed(seed, static_cast<uint64_t>(i)) >> 40;
    p[i] = static_cast<float>(bits) / static_cast<float>(1 << 23) - 1;
  }
  return t;
}

// Gram and Schmidt, column by column, and twice, as once leaves rounding errors
// where columns are nearly parallel. A column that depends on those before it
// becomes zeros: it then adds nothing.
void make_orthonormal(const Tensor& p) {
  constexpr double kDepends = 1e-4, kTiny = 1e-30;
  const auto norm = [](const Tensor& t) { return t.mul(t).sum().sqrt(); };
  for (int64_t i = 0; i < p.size(1); ++i) {
    const Tensor column = p.narrow(1, i, 1), before = norm(column);
    for (int pass = 0; pass < 2 && i > 0; ++pass) {
      const Tensor others = p.narrow(1, 0, i);
      column.sub_(others.matmul(others.t().matmul(column)));
    }
    const Tensor after = norm(column);
    column.div_(after.clamp_min(kTiny)).mul_(after.gt(before.mul(kDepends)));
  }
}

class PowerSGD {
 public:
  explicit PowerSGD(const PowerSGDOptions& options) : options_(options) {}

  std::function<void()> operator()(const std::shared_ptr<PowerSGD>& self,
                                   GradBucket& b) {
    if (b.index() == 0) ++step_;
    if (step_ <= options_.start_after) {
      const Work work = b.group().allreduce(b.buffer(), ReduceOp::AVG, kAsync);
      return [work] { work.wait(); };
    }
    auto sent = std::make_shared<Sent>();
    for (size_t i = 0; i < b.gradients().size(); ++i) {
      const Tensor& g = b.gradients()[i];
      if (!is_thin(g)) {
        sent->plain.push_back(g);
        continue;
      }
      Factors& f = factors_[b.names()[i]];
      start(f, g, b.names()[i]);
      sent->matrices.push_back(f.matrix);
      sent->p.push_back(f.matrix.matmul(f.q));
      sent->factors.push_back(&f);
      sent->gradients.push_back(g);
    }
    std::vector<Tensor> first = sent->p;
    first.insert(first.end(), sent->plain.begin(), sent->plain.end());
    const Work work =
        b.group().allreduce_coalesced(first, ReduceOp::AVG, kAsync);
    return [self, sent, work, &group = b.group()] {
      work.wait();
      self->finish(*sent, group);
    };
  }

 private:
  // The matrices of one parameter, by its name: buckets change.
  struct Factors {
    Tensor q, lost, matrix;
    Tensor fresh;  // replaces columns of q that have become zeros
  };
  struct Sent {
    std::vector<Tensor> p, plain, gradients, matrices;
    std::vector<Factors*> factors;  // of a map whose elements stay in place
  };

  static int64_t rows(const Tensor& g) { return g.size(0); }
  static int64_t columns(const Tensor& g) { return g.numel() / g.size(0); }
  int64_t rank_of(const Tensor& g) const {
    return std::min({options_.rank, rows(g), columns(g)});
  }
  bool is_thin(const Tensor& g) const {
    if (g.dim() < 2 || g.numel() == 0) return false;
    const int64_t numbers = rank_of(g) * (rows(g) + columns(g));
    return static_cast<double>(g.numel()) >=
           options_.least_compression * static_cast<double>(numbers);
  }

  void start(Factors& f, const Tensor& g, const std::string& name) const {
    f.matrix = g.reshape({rows(g), columns(g)}).to(kFloat);
    if (f.lost.defined()) f.matrix = f.matrix + f.lost;
    if (f.q.defined() && options_.warm_start) return;
    uint64_t seed = mixed(options_.seed, name);
    if (!options_.warm_start) seed = mixed(seed, static_cast<uint64_t>(step_));
    f.q = random_matrix(columns(g), rank_of(g), seed).to(g.device());
    f.fresh = f.q;
  }

  void finish(Sent& s, ProcessGroup& group) const {
    if (s.p.empty()) return;
    std::vector<Tensor> q;
    for (size_t i = 0; i < s.p.size(); ++i) {
      make_orthonormal(s.p[i]);
      q.push_back(s.matrices[i].t().matmul(s.p[i]));
    }
    group.allreduce_coalesced(q, ReduceOp::AVG);
    for (size_t i = 0; i < s.p.size(); ++i) {
      Factors& f = *s.factors[i];
      const Tensor product = s.p[i].matmul(q[i].t());
      if (options_.error_feedback) f.lost = s.matrices[i] - product;
      const Tensor is_zero = q[i].mul(q[i]).sum({0}, /*keepdim=*/true).eq(0);
      f.q = q[i].add(f.fresh.mul(is_zero));
      f.matrix.reset();
      s.gradients[i].copy_(product.view(s.gradients[i].sizes()));
    }
  }

  const PowerSGDOptions options_;
  int64_t step_ = 0;
  std::unordered_map<std::string, Factors> factors_;
};

}  // namespace

CommHook powersgd_hook(const PowerSGDOptions& options) {
  SY_CHECK(options.rank >= 1, Value,
           "[powersgd_hook] rank: expected at least 1, got {}", options.rank);
  const auto state = std::make_shared<PowerSGD>(options);
  return [state](GradBucket& b) { return (*state)(state, b); };
}

}  // namespace sy::distributed
