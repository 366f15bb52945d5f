#include <gtest/gtest.h>

#include <cmath>

#include "aten/operators.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "autograd/api.h"
#include "frontend/distributed/operators/collectives.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/ranks.h"

// Gradients of collectives: of the sum of all ranks' losses, by finite
// differences.

namespace sy::distributed {
namespace {

using Values = std::vector<double>;
using Outputs = std::vector<Tensor>;
// Computes a rank's outputs of its own tensor, with collectives.
using Program = std::function<Outputs(const Tensor&)>;

void with_ranks(int n, const std::function<void(int rank)>& f) {
  Ranks(n, Milliseconds(20'000)).run(f);
}

// Other numbers for each rank, output and place; no two alike.
double number(int rank, size_t output, int64_t i) {
  const double seed = rank * 7.3 + static_cast<double>(output) * 3.1 +
                      static_cast<double>(i) * 1.7;
  return 1 + 0.6 * std::sin(seed);
}

Tensor numbers(int rank, size_t output, IntArrayRef sizes) {
  const Tensor t = empty(sizes, TensorOptions(kDouble));
  auto* const p = t.data_ptr<double>();
  for (int64_t i = 0; i < t.numel(); ++i) p[i] = number(rank, output, i);
  return t;
}

// A loss that every output takes part in.
Tensor loss_of(int rank, const Outputs& outputs) {
  Tensor sum = zeros({}, TensorOptions(kDouble));
  for (size_t k = 0; k < outputs.size(); ++k) {
    const Tensor& y = outputs[k];
    sum = sum + (y * y * numbers(rank, k + 1, y.sizes())).sum();
  }
  return sum;
}

double over_all_ranks(const Tensor& loss) {
  return sy_dist::all_reduce(loss.detach()).item<double>();
}

// Compares the gradient by each rank's tensor with differences of the sum of
// all losses. Every rank moves in turn, and all compute.
void check_gradient(int rank, int size, std::vector<int64_t> sizes,
                    const Program& f) {
  const Tensor x = numbers(rank, 0, sizes).requires_grad_();
  const Tensor g = autograd::grad({loss_of(rank, f(x))}, {x})[0];
  ASSERT_EQ(ints(g.sizes()), sizes);
  const Values got = values(g);
  constexpr double kStep = 1e-5;
  for (int moved = 0; moved < size; ++moved) {
    int64_t n = moved == rank ? x.numel() : 0;
    n = sy_dist::all_reduce(full({}, n, TensorOptions(kLong))).item<int64_t>();
    for (int64_t i = 0; i < n; ++i) {
      double losses[2];
      for (int side = 0; side < 2; ++side) {
        const Tensor y = x.detach().clone();
        if (moved == rank) y.data_ptr<double>()[i] += side ? kStep : -kStep;
        // Programs differ in what they do for a gradient.
        y.requires_grad_();
        losses[side] = over_all_ranks(loss_of(rank, f(y)));
      }
      if (moved != rank) continue;
      const double want = (losses[1] - losses[0]) / (2 * kStep);
      EXPECT_NEAR(got[size_t(i)], want, 1e-6 * (1 + std::abs(want)))
          << "rank " << rank << " of " << size << ", element " << i;
    }
  }
}

// First derivatives, and with `second` those of the derivative.
void check(const std::vector<std::vector<int64_t>>& all_sizes,
           const std::function<Outputs(int rank, const Tensor&)>& f,
           bool second = true) {
  for (int n = 1; n <= 3; ++n) {
    with_ranks(n, [&](int rank) {
      for (const auto& sizes : all_sizes) {
        const Program first = [&](const Tensor& x) { return f(rank, x); };
        check_gradient(rank, n, sizes, first);
        if (!second) continue;
        check_gradient(rank, n, sizes, [&](const Tensor& x) {
          return autograd::grad({loss_of(rank, first(x))}, {x}, {},
                                std::nullopt, true);
        });
      }
    });
  }
}

const std::vector<std::vector<int64_t>> kSizes = {{}, {3}, {2, 2}};

TEST(CollectiveGradients, AllReduce) {
  for (const char* const op : {"sum", "avg"}) {
    check(kSizes, [op](int, const Tensor& x) {
      return Outputs{sy_dist::all_reduce(x, op)};
    });
  }
}

TEST(CollectiveGradients, AllReduceByMinAndMax) {
  for (const char* const op : {"min", "max"}) {
    check(kSizes, [op](int, const Tensor& x) {
      return Outputs{sy_dist::all_reduce(x, op)};
    });
  }
}

TEST(CollectiveGradients, TiesShareTheGradientOfAnExtremum) {
  with_ranks(3, [](int rank) {
    const Values v = rank == 0 ? Values{1, 5} : Values{2, 5};
    const Tensor x = empty({2}, TensorOptions(kDouble));
    std::copy(v.begin(), v.end(), x.data_ptr<double>());
    x.requires_grad_();
    const Tensor y = sy_dist::all_reduce(x, "max");
    y.backward(full({2}, 6, TensorOptions(kDouble)));
    // 18 in all: two ranks hold the first, three the second.
    EXPECT_EQ(values(x.grad()), (rank == 0 ? Values{0, 6} : Values{9, 6}));
  });
}

TEST(CollectiveGradients, NanIsHeldByWhoHasIt) {
  with_ranks(2, [](int rank) {
    const Tensor x =
        full({1}, rank == 0 ? std::nan("") : 1, TensorOptions(kFloat))
            .requires_grad_();
    sy_dist::all_reduce(x, "max").backward(ones({1}));
    EXPECT_EQ(values(x.grad()), Values{rank == 0 ? 2.0 : 0.0});
  });
}

TEST(CollectiveGradients, AllReduceInPlace) {
  for (const char* const op : {"sum", "avg"}) {
    check(kSizes, [op](int, const Tensor& x) {
      Tensor y = x * 2;
      sy_dist::all_reduce_(y, op);
      return Outputs{y};
    });
  }
}

TEST(CollectiveGradients, Broadcast) {
  check(kSizes, [](int, const Tensor& x) {
    const int src = get_world_size() - 1;
    return Outputs{sy_dist::broadcast(x, src)};
  });
  check(kSizes, [](int, const Tensor& x) {
    Tensor y = x * 2;
    sy_dist::broadcast_(y);
    return Outputs{y};
  });
}

TEST(CollectiveGradients, Reduce) {
  for (const char* const op : {"sum", "avg"}) {
    check(kSizes, [op](int, const Tensor& x) {
      return Outputs{sy_dist::reduce(x, get_world_size() - 1, op)};
    });
    check(kSizes, [op](int, const Tensor& x) {
      Tensor y = x * 2;
      sy_dist::reduce_(y, 0, op);
      return Outputs{y};
    });
  }
}

TEST(CollectiveGradients, AllGather) {
  check(kSizes, [](int, const Tensor& x) {
    return Outputs{sy_dist::all_gather_into_tensor(x)};
  });
  check(kSizes, [](int, const Tensor& x) { return sy_dist::all_gather(x); });
  // Only the last part is used.
  check({{3}}, [](int, const Tensor& x) {
    return Outputs{sy_dist::all_gather(x).back()};
  });
}

TEST(CollectiveGradients, ReduceScatter) {
  for (const char* const op : {"sum", "avg"}) {
    check({{6}, {6, 2}}, [op](int, const Tensor& x) {
      return Outputs{sy_dist::reduce_scatter_tensor(x, op)};
    });
  }
}

TEST(CollectiveGradients, AllToAll) {
  check({{6}, {6, 2}}, [](int, const Tensor& x) {
    return Outputs{sy_dist::all_to_all_single(x)};
  });
  // Rank r sends r + s + 1 rows to rank s: of 3 ranks, up to 12.
  check({{12, 2}}, [](int rank, const Tensor& x) {
    std::vector<int64_t> in, out;
    int64_t rows = 0;
    for (int r = 0; r < get_world_size(); ++r) {
      in.push_back(rank + r + 1);
      out.push_back(r + rank + 1);
      rows += in.back();
    }
    return Outputs{sy_dist::all_to_all_single(
        x.narrow(0, 0, rows), IntArrayRef(out), IntArrayRef(in))};
  });
}

TEST(CollectiveGradients, Gather) {
  check(kSizes, [](int, const Tensor& x) {
    return sy_dist::gather(x, get_world_size() - 1);
  });
}

TEST(CollectiveGradients, Scatter) {
  for (int n = 1; n <= 3; ++n) {
    with_ranks(n, [&](int rank) {
      check_gradient(
          rank, n, {rank == n - 1 ? 6 : 6 / n, 2},
          [&](const Tensor& x) { return Outputs{sy_dist::scatter(x, n - 1)}; });
    });
  }
}

TEST(CollectiveGradients, SeveralInOneGraph) {
  check({{6}}, [](int rank, const Tensor& x) {
    const Tensor a = sy_dist::all_reduce(x.sin());
    const Tensor b = sy_dist::reduce_scatter_tensor(a * x);
    const Tensor c = sy_dist::all_gather_into_tensor(b.cos());
    return Outputs{sy_dist::broadcast(c + a * (rank + 1), 0)};
  });
}

TEST(CollectiveGradients, OfGroups) {
  with_ranks(3, [](int rank) {
    new_group({0, 2}, "ends");
    if (rank == 1) return;
    const Tensor x = ones({2}).requires_grad_();
    (sy_dist::all_reduce(x, "sum", "ends") * (rank + 1)).sum().backward();
    EXPECT_EQ(values(x.grad()), (Values{4, 4}));
  });
}

TEST(CollectiveGradients, WhatHasNoneSaysSo) {
  with_ranks(2, [](int rank) {
    const Tensor x = ones({2}).requires_grad_();
    SY_EXPECT_ERROR(sy_dist::all_reduce(x, "product").sum().backward(),
                    NotImplementedError, "[all_reduce] op");
    SY_EXPECT_ERROR(sy_dist::reduce(x, 0, "max").sum().backward(),
                    NotImplementedError, "[reduce] op");
    SY_EXPECT_ERROR(sy_dist::reduce_scatter_tensor(x, "min").sum().backward(),
                    NotImplementedError, "[reduce_scatter_tensor] op");
    Tensor y = x * 2;
    sy_dist::all_reduce_(y, "max");
    SY_EXPECT_ERROR(y.sum().backward(), NotImplementedError, "[all_reduce] op");
    Tensor out = empty({4});
    SY_EXPECT_ERROR(sy_dist::all_gather_into_tensor_out(out, x), ValueError,
                    "all_gather_into_tensor");
    const Tensor z = sy_dist::recv(x, 1 - rank);
    sy_dist::send(x, 1 - rank);
    EXPECT_FALSE(z.requires_grad());
    EXPECT_EQ(values(z), (Values{1, 1}));
    Tensor leaf = x;
    SY_EXPECT_ERROR(sy_dist::all_reduce_(leaf), ValueError, "leaf");
  });
}

TEST(CollectiveGradients, WithoutAGradientNothingIsKept) {
  with_ranks(2, [](int) {
    const Tensor x = ones({2}).requires_grad_();
    const Tensor y = sy_dist::all_reduce(x);
    // Sums need neither what they read nor what they gave.
    Tensor z = y;
    z.mul_(3);
    EXPECT_EQ(values(z), (Values{6, 6}));
    z.sum().backward();
    EXPECT_EQ(values(x.grad()), (Values{6, 6}));
    const NoGradGuard no_grad;
    const Tensor m = sy_dist::all_reduce(x, "max");
    EXPECT_FALSE(m.requires_grad());
    EXPECT_EQ(values(m), (Values{1, 1}));
  });
}

}  // namespace
}  // namespace sy::distributed
