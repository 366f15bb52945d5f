#include "autograd/backward_callbacks.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/reduction.h"
#include "autograd/api.h"
#include "autograd/checkpoint.h"
#include "autograd/function.h"
#include "autograd/hooks.h"
#include "test/c10/expect_error.h"

// The events of a run of backward that others learn of: its beginning, its end,
// and leaves that it will not reach.

namespace sy::autograd {
namespace {

using Log = std::vector<std::string>;
using Indices = std::vector<size_t>;

Tensor leaf(double value = 1) { return full({2}, value).requires_grad_(); }

// A loss whose backward calls f in a hook. Recorded also in hooks.
Tensor loss_with(const Tensor& x, std::function<void()> f) {
  const AutoGradMode on(true);
  const Tensor y = x * 2;
  y.register_hook([f](const Tensor&) { f(); });
  return y.sum();
}

TEST(QueueCallback, RunsWhenTheRunHasEndedInTheOrderQueued) {
  const Tensor x = leaf();
  Log log;
  const Tensor loss = loss_with(x, [&] {
    queue_callback(
        [&] { log.push_back(x.grad().defined() ? "first" : "too early"); });
    queue_callback([&] { log.push_back("second"); });
    log.push_back("hook");
  });
  loss.backward();
  EXPECT_EQ(log, Log({"hook", "first", "second"}));
  x.sum().backward();  // once only
  EXPECT_EQ(log.size(), 3u);
}

TEST(QueueCallback, RunsAtTheEndOfTheOutermostRun) {
  const Tensor x = leaf(), inner = leaf();
  Log log;
  const Tensor loss = loss_with(x, [&] {
    loss_with(inner, [&] {
      queue_callback(
          [&] { log.push_back(x.grad().defined() ? "end" : "too early"); });
    }).backward();
    EXPECT_TRUE(inner.grad().defined());
    log.push_back("inner run has ended");
  });
  loss.backward();
  EXPECT_EQ(log, Log({"inner run has ended", "end"}));
}

// 200 runs within each other are on several stacks, which are threads.
TEST(QueueCallback, BelongsToTheOutermostRunOnAnyStack) {
  const Tensor x = leaf();
  const auto outer = std::this_thread::get_id();
  int hooks = 0, ended = 0;
  std::function<void(int)> nest = [&](int depth) {
    loss_with(x, [&, depth] {
      ++hooks;
      queue_callback([&] {
        ++ended;
        EXPECT_EQ(hooks, 200);
        EXPECT_EQ(std::this_thread::get_id(), outer);
      });
      if (depth < 199) nest(depth + 1);
    }).backward();
    if (depth > 0) {
      EXPECT_EQ(ended, 0);
    }
  };
  nest(0);
  EXPECT_EQ(ended, 200);
}

TEST(QueueCallback, MayQueueMoreAndRunBackward) {
  const Tensor x = leaf(), y = leaf();
  Log log;
  loss_with(x, [&] {
    queue_callback([&] {
      log.push_back("a");
      loss_with(y, [&] {
        queue_callback([&] { log.push_back("c"); });
      }).backward();
      log.push_back("b");
      EXPECT_TRUE(y.grad().defined());
    });
  }).backward();
  EXPECT_EQ(log, Log({"a", "b", "c"}));
}

TEST(QueueCallback, IsDroppedByARunThatFails) {
  const Tensor x = leaf();
  const auto alive = std::make_shared<int>();
  bool ran = false;
  const Tensor loss = loss_with(x, [&] {
    queue_callback([&ran, alive] { ran = true; });
    throw std::runtime_error("hook");
  });
  EXPECT_THROW(loss.backward({}, true), Error);
  EXPECT_FALSE(ran);
  EXPECT_EQ(alive.use_count(), 1);  // the callback is gone
  SY_EXPECT_ERROR(queue_callback([] {}), Error, "[queue_callback]");
  x.sum().backward();
  EXPECT_FALSE(ran);
}

TEST(QueueCallback, StaysWhenOnlyAnInnerRunFails) {
  const Tensor x = leaf(), y = leaf();
  int ran = 0;
  loss_with(x, [&] {
    const Tensor inner = loss_with(y, [&] {
      queue_callback([&] { ++ran; });
      throw std::runtime_error("inner");
    });
    EXPECT_THROW(inner.backward(), Error);
  }).backward();
  EXPECT_EQ(ran, 1);
}

TEST(QueueCallback, WhatItThrowsBackwardThrows) {
  const Tensor x = leaf();
  bool later = false;
  const Tensor loss = loss_with(x, [&] {
    queue_callback([] { throw std::out_of_range("callback"); });
    queue_callback([&] { later = true; });
  });
  EXPECT_THROW(loss.backward(), std::out_of_range);
  EXPECT_FALSE(later);
  EXPECT_TRUE(x.grad().defined());
}

TEST(QueueCallback, RunsAfterGradToo) {
  const Tensor x = leaf();
  int ran = 0;
  const Tensor loss = loss_with(x, [&] { queue_callback([&] { ++ran; }); });
  EXPECT_TRUE(grad(loss, x)[0].defined());
  EXPECT_EQ(ran, 1);
}

TEST(QueueCallback, RecordsOnlyWhereTheRunDoes) {
  for (const bool create_graph : {false, true}) {
    const Tensor x = leaf();
    std::optional<bool> records;
    loss_with(x, [&] {
      queue_callback([&] { records = GradMode::is_enabled(); });
    }).backward({}, false, create_graph);
    EXPECT_EQ(records, create_graph);
    x.mutable_grad().reset();
  }
}

TEST(QueueCallback, IsForThreadsThatRunBackward) {
  SY_EXPECT_ERROR(queue_callback([] {}), Error,
                  "expected a call while backward runs in this thread");
  const Tensor x = leaf();
  loss_with(x, [&] {
    std::thread([] {
      SY_EXPECT_ERROR(queue_callback([] {}), Error, "[queue_callback]");
    }).join();
    SY_EXPECT_ERROR(queue_callback(nullptr), ValueError, "empty");
  }).backward();
}

struct Watched {
  std::vector<Indices> calls;
  LeafWatch watch;
  explicit Watched(std::vector<Tensor> leaves)
      : watch(watch_leaves(std::move(leaves), [this](const Indices& unreached) {
          calls.push_back(unreached);
        })) {}
};

TEST(WatchLeaves, NamesThoseThatARunDoesNotReach) {
  const Tensor a = leaf(), b = leaf(), c = leaf();
  Watched w({a, b, c});
  (a * c).sum().backward();
  (a * b * c).sum().backward();
  b.sum().backward();
  EXPECT_EQ(w.calls, std::vector<Indices>({{1}, {}, {0, 2}}));
}

TEST(WatchLeaves, IgnoresRunsThatReachNoneAndGrad) {
  const Tensor a = leaf(), other = leaf();
  Watched w({a});
  other.sum().backward();
  grad((a * 2).sum(), a);
  EXPECT_TRUE(w.calls.empty());
}

TEST(WatchLeaves, TellsBeforeAnyNodeRuns) {
  const Tensor a = leaf(), b = leaf();
  Log log;
  const LeafWatch watch = watch_leaves({a, b}, [&](const Indices&) {
    log.push_back("start");
    queue_callback([&] { log.push_back("end"); });
  });
  loss_with(a, [&] { log.push_back("node"); }).backward();
  EXPECT_EQ(log, Log({"start", "node", "end"}));
}

TEST(WatchLeaves, EndsWithItsHandle) {
  const Tensor a = leaf();
  int first = 0, second = 0;
  LeafWatch moved;
  {
    LeafWatch x = watch_leaves({a}, [&](const Indices&) { ++first; });
    const LeafWatch y = watch_leaves({a}, [&](const Indices&) { ++second; });
    a.sum().backward();
    moved = std::move(x);
  }
  a.sum().backward();
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 1);
  moved = LeafWatch();
  a.sum().backward();
  EXPECT_EQ(first, 2);
}

TEST(WatchLeaves, WhatItThrowsBackwardThrowsAndTheGraphIsUsable) {
  const Tensor a = leaf();
  const Tensor loss = (a * a).sum();
  {
    const LeafWatch watch = watch_leaves(
        {a}, [](const Indices&) { throw std::out_of_range("watch"); });
    EXPECT_THROW(loss.backward(), std::out_of_range);
  }
  EXPECT_FALSE(a.grad().defined());
  loss.backward();
  EXPECT_TRUE(a.grad().defined());
}

// Its backward runs backward again, through w.
struct Reentrant : Function<Reentrant> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x,
                        const Tensor& w) {
    ctx->save_for_backward({x, w});
    return x * w;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const AutoGradMode on(true);
    (saved[1] * saved[0].detach()).sum().backward();
    return {grads[0] * saved[1].detach(), Tensor()};
  }
};

TEST(WatchLeaves, SeesRunsWithinRuns) {
  const Tensor x = leaf(), w = leaf(), hidden = leaf();
  Watched all({x, w, hidden});
  const Tensor seen = w.detach().requires_grad_();
  Watched inner({seen, hidden});
  Reentrant::apply(x, seen).sum().backward();
  // x is reached by the outer run, `seen` by both.
  EXPECT_EQ(all.calls, std::vector<Indices>({{1, 2}}));
  EXPECT_EQ(inner.calls, std::vector<Indices>({{1}, {1}}));
}

TEST(WatchLeaves, ReachesLeavesInCheckpointsAtOnce) {
  const Tensor x = leaf(), w = leaf(), other = leaf();
  Watched all({x, w, other});
  checkpoint([&](const std::vector<Tensor>& in) { return (in[0] * w).exp(); },
             {x})
      .sum()
      .backward();
  EXPECT_EQ(all.calls, std::vector<Indices>({{2}}));
}

TEST(WatchLeaves, TakesLeavesThatRequireAGradient) {
  const Tensor a = leaf();
  const auto f = [](const Indices&) {};
  SY_EXPECT_ERROR((void)watch_leaves({a, ones({2})}, f), ValueError,
                  "leaves[1]: expected a leaf that requires a gradient");
  SY_EXPECT_ERROR((void)watch_leaves({a * 2}, f), ValueError, "leaves[0]");
  SY_EXPECT_ERROR((void)watch_leaves({Tensor()}, f), ValueError, "leaves[0]");
  SY_EXPECT_ERROR((void)watch_leaves({a}, nullptr), ValueError, "on_start");
}

TEST(WatchLeaves, ComesAndGoesWhileOtherThreadsRun) {
  const Tensor shared = leaf();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const Tensor mine = leaf();
        std::vector<Indices> calls;
        const auto id = std::this_thread::get_id();
        const LeafWatch watch =
            watch_leaves({mine, shared}, [&, id](const Indices& unreached) {
              if (std::this_thread::get_id() == id) calls.push_back(unreached);
            });
        (mine + shared).sum().backward();
        EXPECT_EQ(calls, std::vector<Indices>(1));
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace sy::autograd
