#include "frontend/distributed/training/sync_batch_norm.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/random.h"
#include "aten/ops/view.h"
#include "autograd/api.h"
#include "autograd/gradcheck.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/nn/container/sequential.h"
#include "frontend/nn/modules/instancenorm.h"
#include "frontend/nn/modules/lazy.h"
#include "frontend/nn/modules/linear.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/ranks.h"

namespace sy::nn {
namespace {

using namespace distributed;
using Rows = std::vector<int64_t>;

void expect_close(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(got.defined(), want.defined());
  if (!got.defined()) return;
  ASSERT_EQ(ints(got.sizes()), ints(want.sizes()));
  const auto a = values(got.detach()), b = values(want.detach());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << i;
  }
}

// The part of a joined batch that a rank has.
Tensor part(const Tensor& joined, const Rows& rows, int rank) {
  int64_t start = 0;
  for (int r = 0; r < rank; ++r) start += rows[static_cast<size_t>(r)];
  return joined.narrow(0, start, rows[static_cast<size_t>(rank)]).clone();
}

// The results of one step of training.
struct Step {
  Tensor out, by_input, by_weight, by_bias;
};

template <class M>
Step step(M& norm, const Tensor& input, const Tensor& gradient) {
  const Tensor x = input.detach().clone().requires_grad_();
  if (norm->weight.defined()) norm->zero_grad();
  const Tensor y = norm(x);
  y.backward(gradient);
  Step s{y, x.grad(), {}, {}};
  if (norm->weight.defined()) {
    s.by_weight = norm->weight.grad();
    s.by_bias = norm->bias.grad();
  }
  return s;
}

// Parameters that differ from their defaults, alike on all ranks.
template <class M>
void set_parameters(M& norm) {
  if (!norm->weight.defined()) return;
  const NoGradGuard no_grad;
  norm->weight.copy_(sy::arange(3).add(0.5));
  norm->bias.copy_(sy::arange(3).sub(1));
}

// Trains on the parts of batches, and one BatchNorm on the whole of them.
void expect_joined(const Rows& rows, const std::vector<int64_t>& inner,
                   const BatchNormOptions& options, ScalarType dtype,
                   ScalarType parameters, double tolerance) {
  manual_seed(1);
  const int n = static_cast<int>(rows.size());
  int64_t total = 0;
  for (const int64_t r : rows) total += r;
  std::vector<int64_t> sizes{total, 3};
  sizes.insert(sizes.end(), inner.begin(), inner.end());
  std::vector<Tensor> batches, gradients;
  std::vector<Step> want;
  BatchNorm1d joined1(options);
  BatchNorm2d joined2(options);
  const auto with_joined = [&](const auto& f) {
    inner.size() < 2 ? f(joined1) : f(joined2);
  };
  with_joined([&](auto& joined) {
    joined->to(kDouble);
    set_parameters(joined);
    for (int i = 0; i < 2; ++i) {
      batches.push_back(sy::randn(sizes, kDouble).mul(2).add(1).to(dtype));
      gradients.push_back(sy::randn(sizes, kDouble).to(dtype));
      want.push_back(step(joined, batches.back().to(kDouble),
                          gradients.back().to(kDouble)));
    }
  });

  std::vector<std::vector<Step>> got(rows.size());
  std::vector<SyncBatchNorm> norms(rows.size(), nullptr);
  Ranks ranks(n);
  ranks.run([&](int rank) {
    const auto r = static_cast<size_t>(rank);
    norms[r] = SyncBatchNorm(options);
    norms[r]->to(parameters);
    set_parameters(norms[r]);
    for (size_t i = 0; i < batches.size(); ++i) {
      got[r].push_back(step(norms[r], part(batches[i], rows, rank),
                            part(gradients[i], rows, rank)));
    }
  });
  for (size_t i = 0; i < want.size(); ++i) {
    Tensor by_weight, by_bias;
    for (size_t r = 0; r < rows.size(); ++r) {
      const Step& g = got[r][i];
      EXPECT_EQ(g.out.dtype(), dtype);
      EXPECT_EQ(g.by_input.dtype(), dtype);
      expect_close(g.out, part(want[i].out, rows, static_cast<int>(r)),
                   tolerance);
      expect_close(g.by_input,
                   part(want[i].by_input, rows, static_cast<int>(r)),
                   tolerance);
      if (!g.by_weight.defined()) continue;
      EXPECT_EQ(g.by_weight.dtype(), parameters);
      const Tensor w = g.by_weight.to(kDouble), b = g.by_bias.to(kDouble);
      by_weight = by_weight.defined() ? by_weight + w : w;
      by_bias = by_bias.defined() ? by_bias + b : b;
    }
    expect_close(by_weight, want[i].by_weight, 3 * tolerance);
    expect_close(by_bias, want[i].by_bias, 3 * tolerance);
  }
  with_joined([&](auto& joined) {
    for (const SyncBatchNorm& norm : norms) {
      expect_close(norm->running_mean, joined->running_mean, tolerance);
      expect_close(norm->running_var, joined->running_var, tolerance);
      expect_close(norm->num_batches_tracked, joined->num_batches_tracked, 0);
    }
  });
}

TEST(SyncBatchNorm, EqualsBatchNormOfTheJoinedBatch) {
  for (const Rows& rows : std::vector<Rows>{{4},
                                            {3, 3},
                                            {1, 6},
                                            {5, 0},
                                            {0, 2, 0},
                                            {1, 1, 1},
                                            {2, 0, 1, 4},
                                            {0, 0, 0, 3}}) {
    for (const auto& inner :
         std::vector<std::vector<int64_t>>{{}, {4}, {3, 2}}) {
      expect_joined(rows, inner, 3, kFloat, kFloat, 1e-5);
      expect_joined(rows, inner, 3, kDouble, kDouble, 1e-10);
    }
  }
}

TEST(SyncBatchNorm, TakesTheOptionsOfBatchNorm) {
  for (const Rows& rows : std::vector<Rows>{{4}, {2, 0, 3}}) {
    for (const BatchNormOptions& options :
         {BatchNormOptions(3).eps(0.5).momentum(0.25),
          BatchNormOptions(3).momentum(std::nullopt),
          BatchNormOptions(3).affine(false),
          BatchNormOptions(3).track_running_stats(false)}) {
      expect_joined(rows, {2, 2}, options, kDouble, kDouble, 1e-10);
    }
  }
}

TEST(SyncBatchNorm, ComputesReducedDtypesInFloat32) {
  for (const ScalarType parameters : {kFloat, kBFloat16}) {
    // Statistics in bfloat16 are rounded to 8 bits, twice.
    const double tolerance = parameters == kFloat ? 1e-2 : 3e-2;
    expect_joined({3, 0, 5}, {4, 4}, 3, kBFloat16, parameters, tolerance);
  }
  // 4096 ones and 4096 threes: a sum in bfloat16 would stop at 256.
  Ranks ranks(2);
  ranks.run([](int rank) {
    SyncBatchNorm norm(SyncBatchNormOptions(1).momentum(1));
    norm(sy::full({4096, 1}, 1 + 2 * rank, kBFloat16));
    EXPECT_EQ(values(norm->running_mean), std::vector<double>{2});
    EXPECT_NEAR(values(norm->running_var)[0], 8192.0 / 8191, 1e-5);
  });
}

TEST(SyncBatchNorm, IsABatchNormWithoutOtherRanks) {
  manual_seed(1);
  const Tensor x = sy::randn({4, 3}, kDouble).requires_grad_();
  const auto check = [&] {
    SyncBatchNorm norm(3);
    norm->to(kDouble);
    EXPECT_TRUE(autograd::gradcheck(
        [&](TensorList in) {
          norm->weight = in[1];
          norm->bias = in[2];
          return norm(in[0]);
        },
        {x, sy::rand({3}, kDouble).requires_grad_(),
         sy::rand({3}, kDouble).requires_grad_()}));
    SY_EXPECT_ERROR(norm(sy::ones({1, 3}, kDouble)), ValueError,
                    "[batch_norm] input: expected more than one value per "
                    "channel in training, got sizes [1, 3]");
  };
  check();
  Ranks ranks(1);
  ranks.run([&](int) { check(); });
}

TEST(SyncBatchNorm, MakesOneCallInForwardAndOneInBackward) {
  Ranks ranks(2);
  ranks.run([&](int rank) {
    int64_t before = 0;
    const auto begun = [&] {
      const int64_t now = ranks.threads.begun(rank);
      return now - std::exchange(before, now);
    };
    const Tensor row = sy::ones({8});
    const auto group = distributed::world();
    begun();
    group->allgather_into_tensor(sy::empty({16}), row);
    const int64_t gather = begun();
    group->allreduce(sy::ones({6}));
    const int64_t reduce = begun();
    ASSERT_GT(gather, 0);
    ASSERT_GT(reduce, 0);

    SyncBatchNorm norm(3);
    const Tensor x = sy::rand({4, 3}).requires_grad_();
    const Tensor y = norm(x);
    EXPECT_EQ(begun(), gather);
    y.sum().backward();
    EXPECT_EQ(begun(), reduce);
    // Nobody wants the gradient of the input.
    norm(x.detach()).sum().backward();
    EXPECT_EQ(begun(), gather);
    {
      const NoGradGuard no_grad;
      EXPECT_FALSE(norm(x).requires_grad());
      EXPECT_EQ(begun(), gather);
    }
    norm->eval();
    norm(x).sum().backward();
    EXPECT_EQ(begun(), 0);
    norm->train();
    group->barrier();
  });
}

TEST(SyncBatchNorm, RanksMayDifferInWhetherTheInputWantsAGradient) {
  manual_seed(1);
  const Rows rows{3, 4};
  const Tensor x = sy::randn({7, 3}, kDouble), g = sy::randn({7, 3}, kDouble);
  BatchNorm1d joined(3);
  joined->to(kDouble);
  const Step want = step(joined, x, g);
  Ranks ranks(2);
  ranks.run([&](int rank) {
    SyncBatchNorm norm(3);
    norm->to(kDouble);
    const Tensor own = part(x, rows, rank).requires_grad_(rank == 1);
    norm(own).backward(part(g, rows, rank));
    if (rank == 1) {
      expect_close(own.grad(), part(want.by_input, rows, 1), 1e-10);
    } else {
      EXPECT_FALSE(own.grad().defined());
    }
  });
}

TEST(SyncBatchNorm, TooFewValuesAreAnErrorOnAllRanks) {
  for (const Rows& rows :
       std::vector<Rows>{{1, 0}, {0, 0}, {0, 0, 1}, {0, 1, 0, 0}}) {
    std::atomic<int> errors = 0;
    Ranks ranks(static_cast<int>(rows.size()));
    ranks.run([&](int rank) {
      SyncBatchNorm norm(3);
      const int64_t own = rows[static_cast<size_t>(rank)];
      try {
        norm(sy::ones({own, 3}));
      } catch (const ValueError& e) {
        EXPECT_NE(std::string(e.what()).find(
                      "[batch_norm] input: expected more than one value per "
                      "channel over all ranks in training, got sizes [" +
                      std::to_string(own) + ", 3] here"),
                  std::string::npos)
            << e.what();
        ++errors;
      }
      // The group goes on, and two values are enough.
      expect_close(norm(sy::full({1, 3}, rank, kFloat)).mean(),
                   norm(sy::full({1, 3}, rank, kFloat)).mean(), 0);
    });
    EXPECT_EQ(errors.load(), static_cast<int>(rows.size()));
  }
}

TEST(SyncBatchNorm, TakesAGroup) {
  Ranks ranks(3);
  ranks.run([&](int rank) {
    const auto group = new_group({0, 2});
    SyncBatchNorm norm(SyncBatchNormOptions(1).momentum(1), group);
    if (rank != 1) {
      norm(sy::full({2, 1}, rank, kFloat));
      EXPECT_EQ(values(norm->running_mean), std::vector<double>{1});
    }
    barrier();
  });
}

TEST(SyncBatchNorm, LeavesRunningStatisticsThatAreSwitchedOff) {
  Ranks ranks(2);
  ranks.run([](int) {
    SyncBatchNorm norm(3);
    norm->options.track_running_stats(false);
    norm(sy::rand({4, 3}));
    EXPECT_EQ(values(norm->running_mean), std::vector<double>(3, 0));
  });
}

TEST(SyncBatchNorm, HasNoSecondDerivative) {
  Ranks ranks(2);
  ranks.run([](int) {
    SyncBatchNorm norm(3);
    const Tensor x = sy::rand({4, 3}).requires_grad_();
    const Tensor y = norm(x).square().sum();
    const Tensor g = autograd::grad({y}, {x}, {}, true, true)[0];
    SY_EXPECT_ERROR(g.sum().backward(), NotImplementedError,
                    "once_differentiable");
  });
}

TEST(SyncBatchNorm, WrongInputsAreErrors) {
  SyncBatchNorm norm(3);
  SY_EXPECT_ERROR(norm(sy::ones({3})), ValueError,
                  "[SyncBatchNorm] input: expected at least 2 dimensions, got "
                  "1");
  Ranks ranks(2);
  ranks.run([](int) {
    SyncBatchNorm other(3);
    SY_EXPECT_ERROR(other(sy::ones({2, 4})), ValueError,
                    "running_mean: expected sizes [4], one for each channel, "
                    "got [3]");
  });
}

// As models are in C++: members know their types.
struct NetImpl : Module {
  NetImpl() {
    first = register_module("first", BatchNorm1d(3));
    rest = register_module(
        "rest", Sequential(Linear(3, 3), BatchNorm1d(3), InstanceNorm1d(3)));
    lazy = register_module("lazy", LazyBatchNorm1d());
    last = register_module("last", SyncBatchNorm(3));
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = first->forward(x);
    return last(lazy(rest[1]->as<BatchNorm1d>()->forward(y)));
  }
  BatchNorm1d first{nullptr};
  Sequential rest{nullptr};
  LazyBatchNorm1d lazy{nullptr};
  SyncBatchNorm last{nullptr};
};
SY_MODULE(Net);

TEST(ConvertSyncBatchNorm, SynchronizesTheModulesOfAModel) {
  manual_seed(1);
  const Rows rows{3, 0, 4};
  const Tensor x = sy::randn({7, 3});
  Net joined;
  joined(x);
  const Tensor want = joined(x);
  Ranks ranks(3);
  ranks.run([&](int rank) {
    Net net;
    const auto keys = net->state_dict().keys();
    const Tensor weight = net->first->weight;
    net->rest->eval();
    EXPECT_EQ(convert_sync_batchnorm(net), 4);
    EXPECT_EQ(net->state_dict().keys(), keys);
    EXPECT_TRUE(net->first->weight.is_same(weight));
    EXPECT_FALSE(net->rest[1]->is_training());
    EXPECT_TRUE(net->first->is_training());
    EXPECT_EQ(net->last->path, "last");
    net->train();
    net(part(x, rows, rank));
    expect_close(net(part(x, rows, rank)), part(want, rows, rank), 1e-5);
    expect_close(net->first->running_var, joined->first->running_var, 1e-5);
    expect_close(net->lazy->running_var, joined->lazy->running_var, 1e-5);
    // A copy has statistics of its own, and the same ranks.
    const auto copy = nn::clone(net.ptr());
    expect_close(copy->forward(part(x, rows, rank)), part(want, rows, rank),
                 1e-5);
    EXPECT_EQ(values(copy->first->num_batches_tracked)[0], 3);
    EXPECT_EQ(values(net->first->num_batches_tracked)[0], 2);
    // Evaluation is everyone's own.
    net->eval();
    joined->eval();
    if (rank == 0) net(part(x, rows, rank));
    // The way back.
    net->train();
    net->first->training_forward = nullptr;
    if (rank == 2) net->first(part(x, rows, rank));
    barrier();
  });
}

TEST(ConvertSyncBatchNorm, ErrorsNameThePath) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    const int64_t channels = 3 + rank;
    Sequential net(Linear(2, channels), BatchNorm1d(channels));
    EXPECT_EQ(convert_sync_batchnorm(*net), 1);
    SY_EXPECT_ERROR(net->forward(sy::ones({2, 2})), Error, "batch norm of 1");
  });
}

TEST(ConvertSyncBatchNorm, ErrorsOfBackwardNameThePath) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    Sequential net(Linear(2, 3), BatchNorm1d(3));
    convert_sync_batchnorm(*net);
    const Tensor y = net->forward(sy::rand({2, 2}));
    if (rank == 0) {
      SY_EXPECT_ERROR(y.sum().backward(), Error, "batch norm of 1");
    } else {
      SY_EXPECT_ERROR(distributed::world()->allreduce(sy::ones({4})), Error,
                      "batch norm of 1");
    }
  });
}

TEST(ConvertSyncBatchNorm, ConvertsAModuleAlone) {
  BatchNorm2d norm(3);
  EXPECT_EQ(convert_sync_batchnorm(norm), 1);
  EXPECT_EQ(convert_sync_batchnorm(*Linear(2, 2)), 0);
  // Without ranks it is what it was.
  BatchNorm2d other(3);
  const Tensor x = sy::rand({2, 3, 4, 4});
  expect_close(norm(x), other(x), 1e-6);
  SY_EXPECT_ERROR(norm(sy::ones({2, 3})), ValueError,
                  "[BatchNorm2d] input: expected 4 dimensions, got 2");
}

}  // namespace
}  // namespace sy::nn
