#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/sy.h>

#include "frontend/distributed/operators/collectives.h"
#include "test/frontend/distributed/ranks.h"

// The collectives of a callable are parts of its graph, in the order of the
// code.

namespace sy::distributed {
namespace {

using Values = std::vector<double>;

Tensor filled(int64_t n, double value) {
  return full({n}, value, TensorOptions(kFloat));
}

Values values(const Tensor& t) {
  const Tensor host = t.detach().to(Device(kCPU)).to(kDouble).contiguous();
  const double* const p = host.data_ptr<double>();
  return {p, p + host.numel()};
}

// All calls but the first fit its graph; some of these are recorded again to
// compare, ever fewer.
template <class F>
void expect_replays(const F& f, int64_t fitting) {
  const CompileCounters c = f.counters();
  EXPECT_EQ(c.replays + c.checked, fitting) << f.explain();
  EXPECT_GE(c.replays, 1) << f.explain();
  EXPECT_EQ(c.untold, 0) << f.explain();
}

TEST(CompiledCollectives, AreReplayed) {
  Ranks(2).run([](int rank) {
    auto f = compile([](const Tensor& x) {
      const Tensor y = sy_dist::all_reduce(x * 2) + 1;
      sy_dist::all_reduce(x);  // nobody reads it
      sy_dist::barrier();
      Tensor z = y * 1;
      sy_dist::broadcast_(z, 1);
      return sy_dist::all_gather_into_tensor(z + x);
    });
    for (int i = 0; i < 20; ++i) {
      const Tensor x = filled(2, rank + i);
      const double z = 2 * (2 * i + 1) + 1;
      EXPECT_EQ(values(f(x)), (Values{z + i, z + i, z + i + 1, z + i + 1}));
      EXPECT_EQ(values(sy_dist::all_reduce(x)), Values(2, 2 * i + 1.0));
    }
    EXPECT_EQ(f.counters().captures, 1) << f.explain();
    expect_replays(f, 19);
    EXPECT_EQ(f.counters().breaks, 0) << f.explain();
  });
}

TEST(CompiledCollectives, InPlaceOutAndLists) {
  Ranks(2).run([](int rank) {
    Tensor sum = zeros({2});
    auto f = compile([&](const Tensor& x) {
      sum.add_(x);
      sy_dist::all_reduce_(sum);
      Tensor all = empty({4});
      sy_dist::all_gather_into_tensor_out(all, x);
      const std::vector<Tensor> parts = sy_dist::all_gather(x);
      return all.narrow(0, 0, 2) + parts[1];
    });
    double want = 0;
    for (int i = 0; i < 4; ++i) {
      const Tensor x = filled(2, rank + i);
      EXPECT_EQ(values(f(x)), Values(2, 2 * i + 1.0));
      want = 2 * want + 2 * i + 1;
      EXPECT_EQ(values(sum), Values(2, want));
    }
    EXPECT_EQ(f.counters().breaks, 0) << f.explain();
  });
}

TEST(CompiledCollectives, SendAndReceive) {
  Ranks(2).run([](int rank) {
    auto f = compile([rank](const Tensor& x) {
      if (rank == 0) {
        sy_dist::send(x + 1, 1);
        return x * 1;
      }
      return sy_dist::recv(x, 0) * 2;
    });
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(values(f(filled(2, i))),
                Values(2, rank == 0 ? i : 2 * (i + 1.0)));
    }
    sy_dist::barrier();
  });
}

// Each rank calls recv before send, because a sender waits for its receiver.
TEST(CompiledCollectives, AReceiverGoesOnToSend) {
  Ranks(3).run([](int rank) {
    const int next = (rank + 1) % 3, last = (rank + 2) % 3;
    auto f = compile([&](const Tensor& x) {
      const Tensor a = sy_dist::recv(x, last), none = sy_dist::recv(x, last, 1);
      const Tensor b = sy_dist::all_reduce(x);
      sy_dist::send(x * 2, next);
      sy_dist::send(x, next, 1);
      return a + b;
    });
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(values(f(filled(2, rank + i))),
                Values(2, 2.0 * (last + i) + 3 * i + 3));
    }
    expect_replays(f, 19);
    EXPECT_EQ(f.counters().breaks, 0) << f.explain();
  });
}

TEST(CompiledCollectives, Gradients) {
  Ranks(2).run([](int rank) {
    auto f = compile([](const Tensor& x) {
      const Tensor y = sy_dist::all_reduce(x * x);
      return sy_dist::all_reduce(y + x, "avg").sum();
    });
    for (int i = 0; i < 20; ++i) {
      const Tensor x = filled(2, i + 1).requires_grad_();
      (f(x) * (rank + 1)).backward();
      // The gradient of y is 3 / 2 on each rank, of which all_reduce makes 3.
      EXPECT_EQ(values(x.grad()), Values(2, 2 * (i + 1) * 3.0 + 1.5));
    }
    expect_replays(f, 19);
    EXPECT_EQ(f.counters().backwards, 20) << f.explain();
  });
}

TEST(CompiledCollectives, StepsOfTraining) {
  Ranks(2).run([](int rank) {
    const auto train = [&](bool compiled) {
      Tensor w = filled(3, 1).requires_grad_();
      const auto step = [&](const Tensor& x) {
        const Tensor loss = sy_dist::all_reduce((w * x).max() + w, "max").sum();
        loss.backward();
        const NoGradGuard no_grad;
        Tensor g = w.grad();
        sy_dist::all_reduce_(g, "avg");
        w.sub_(g * 0.25);
        w.mutable_grad().reset();
        sy_dist::barrier();
        return loss.detach();
      };
      auto f = compile(step);
      Values seen;
      for (int i = 0; i < 20; ++i) {
        const Tensor x = filled(3, i * rank + 1);
        const Values loss = values(compiled ? f(x) : step(x));
        seen.insert(seen.end(), loss.begin(), loss.end());
      }
      if (compiled) expect_replays(f, 19);
      const Values end = values(w);
      seen.insert(seen.end(), end.begin(), end.end());
      return seen;
    };
    EXPECT_EQ(train(true), train(false));
  });
}

TEST(CompiledCollectives, RandomNumbersAndCollectivesMix) {
  Ranks(2).run([](int rank) {
    auto f = compile([](const Tensor& x) {
      const Tensor mine = x + rand({2});
      sy_dist::barrier();
      return sy_dist::all_reduce(mine) + rand({2}) * 0;
    });
    Values before;
    for (int i = 0; i < 3; ++i) {
      const Values now = values(f(filled(2, rank)));
      EXPECT_NE(now, before);
      EXPECT_EQ(values(sy_dist::broadcast(f(filled(2, rank)))).size(), 2u);
      before = now;
    }
  });
}

TEST(CompiledCollectives, ErrorsComeOutOfTheCall) {
  Ranks(2).run([](int rank) {
    auto f =
        compile([](const Tensor& x) { return sy_dist::all_reduce(x) + 1; });
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(values(f(ones({2}))), Values(2, 3.0));
      EXPECT_NE(error_of([&] { values(f(ones({3 + rank}))); }), "");
    }
  });
}

// A compiled function may read a result that is under way.
TEST(CompiledCollectives, ReadResultsThatAreUnderWay) {
  Ranks(2).run([](int) {
    const Tensor outer = sy_dist::all_reduce(filled(3, 1));
    CompileOptions options;
    options.fullgraph = true;
    auto f = compile(
        [&](Tensor x) {
          x.add_(1);
          return x * outer;
        },
        options);
    for (int i = 0; i < 4; ++i) {
      const Tensor x = sy_dist::all_reduce(filled(3, i));
      if (i % 2 == 1) sy_dist::wait_tensor(x);
      EXPECT_EQ(values(f(x)), Values(3, 4.0 * i + 2)) << i;
      EXPECT_EQ(values(x), Values(3, 2.0 * i + 1)) << i;
    }
    EXPECT_EQ(f.counters().captures, 1) << f.explain();
    auto square = compile([](const Tensor& x) { return x * x; });
    for (int i = 0; i < 3; ++i) {
      const Tensor x = filled(3, 1).requires_grad_();
      square(x).backward(sy_dist::all_reduce(filled(3, i)));
      EXPECT_EQ(values(x.grad()), Values(3, 4.0 * i)) << i;
    }
  });
}

TEST(CompiledCollectives, OfTensorsThatAreNoArguments) {
  Ranks(2).run([](int rank) {
    Tensor outer = filled(2, 0);
    auto f = compile([&](const Tensor& x) {
      return x + sy_dist::all_reduce(outer) + sy_dist::all_reduce(ones({2}));
    });
    for (int i = 0; i < 4; ++i) {
      outer.fill_(rank + i);
      EXPECT_EQ(values(f(filled(2, i))), Values(2, 3.0 * i + 3)) << i;
    }
    EXPECT_EQ(f.counters().captures, 1) << f.explain();
  });
}

// A piece of the graph ends where elements are read; the order stays.
TEST(CompiledCollectives, BranchesOnTheirResults) {
  Ranks(2).run([](int) {
    auto f = compile([](const Tensor& x) {
      const Tensor y = sy_dist::all_reduce(x);
      const Tensor z = sy_dist::all_reduce(x * 2);
      return y.sum().item<float>() > 5 ? z + 1 : z;
    });
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(values(f(filled(2, i))), Values(2, 4.0 * i + (i > 1)));
    }
  });
}

// One rank replays what the other captures.
TEST(CompiledCollectives, RanksMayCaptureAtOtherTimes) {
  Ranks(2).run([](int rank) {
    auto f = compile([](const Tensor& x) {
      sy_dist::barrier();
      return sy_dist::all_gather_into_tensor(sy_dist::all_reduce(x.sum()));
    });
    for (int i = 0; i < 4; ++i) {
      const Tensor x = filled(rank == 0 ? 2 + i : 2, 1);
      EXPECT_EQ(values(f(x)), Values(2, 4.0 + i));
    }
    const CompileCounters c = f.counters();
    EXPECT_EQ(c.captures + c.sizes, rank == 0 ? 4 : 1) << f.explain();
  });
}

TEST(CompiledCollectives, OfGroups) {
  Ranks(3).run([](int rank) {
    new_group({0, 2}, "ends");
    auto f = compile([rank](const Tensor& x) {
      const Tensor y =
          rank == 1 ? x * 1 : sy_dist::all_reduce(x, "max", "ends");
      return sy_dist::all_reduce(y);
    });
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(values(f(filled(2, rank))), Values(2, 5.0));
    }
  });
}

TEST(CompiledCollectives, GradientsOfEveryOne) {
  Ranks(2).run([](int rank) {
    const auto body = [rank](const Tensor& x) {
      const Tensor a = sy_dist::broadcast(x * 2, 1);
      const Tensor b = sy_dist::reduce_scatter_tensor(a * x);
      const Tensor c = sy_dist::all_gather_into_tensor(b);
      const Tensor d = sy_dist::reduce(c * x, 1);
      const std::vector<Tensor> e = sy_dist::gather(d, 0);
      const Tensor f = sy_dist::scatter(rank == 0 ? c : c.narrow(0, 0, 2), 0);
      Tensor g = sy_dist::all_to_all_single(c);
      sy_dist::all_reduce_(g);
      const Tensor h = sy_dist::all_reduce(g * x, "max");
      return e[0].sum() + f.sum() * 3 + (h * h).sum() * (rank + 1);
    };
    auto f = compile(body);
    for (int i = 0; i < 3; ++i) {
      const Tensor x = arange(4, TensorOptions(kFloat)) + (rank + i);
      const Tensor a = x.clone().requires_grad_();
      const Tensor b = x.clone().requires_grad_();
      const Tensor compiled = f(a), plain = body(b);
      EXPECT_EQ(values(compiled), values(plain));
      compiled.backward();
      plain.backward();
      EXPECT_EQ(values(a.grad()), values(b.grad()));
    }
    EXPECT_EQ(f.counters().captures, 1) << f.explain();
  });
}

// One rank replays while the other makes another call: both are told, and the
// graph can be used further.
TEST(CompiledCollectives, RanksThatDisagreeInAReplay) {
  Ranks(2).run([](int rank) {
    auto f = compile([](const Tensor& x) {
      return sy_dist::all_reduce(sy_dist::all_reduce(x * 2)) + 1;
    });
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(values(f(ones({2}))), Values(2, 9.0));
      const std::string what = error_of([&] {
        if (rank == 0) {
          values(f(ones({2})));
        } else {
          sy_dist::barrier();
        }
      });
      EXPECT_NE(what.find("barrier"), std::string::npos) << what;
      EXPECT_NE(what.find("all_reduce"), std::string::npos) << what;
    }
  });
}

}  // namespace
}  // namespace sy::distributed
