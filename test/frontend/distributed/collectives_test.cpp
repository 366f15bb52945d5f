#include "frontend/distributed/operators/collectives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "aten/operators.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/ranks.h"

// Values of every collective, on every dtype and size, against plain loops.

namespace sy::distributed {
namespace {

using Values = std::vector<double>;

void with_ranks(int n, const std::function<void(int rank)>& f) {
  Ranks(n, Milliseconds(20'000)).run(f);
}

constexpr ScalarType kDtypes[] = {kByte, kChar,  kShort,  kInt,  kLong,
                                  kHalf, kFloat, kDouble, kBool, kBFloat16};
const std::vector<std::vector<int64_t>> kSizes = {{}, {0}, {1}, {7}, {3, 5}};

int64_t count_of(const std::vector<int64_t>& sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

// The value of a rank at a place. Small, so that every dtype holds its
// products.
double value_at(int rank, int64_t i, ScalarType t) {
  const int64_t n = (rank * 5 + i * 3) % 4;
  return t == kBool ? static_cast<double>(n % 2) : static_cast<double>(n);
}

Values values_of(int rank, int64_t n, ScalarType t) {
  Values v;
  for (int64_t i = 0; i < n; ++i) v.push_back(value_at(rank, i, t));
  return v;
}

Tensor tensor_of(const Values& v, const std::vector<int64_t>& sizes,
                 ScalarType t) {
  Tensor x = empty({static_cast<int64_t>(v.size())}, TensorOptions(kDouble));
  std::copy(v.begin(), v.end(), x.data_ptr<double>());
  return x.to(t).reshape(sizes);
}

Tensor input(int rank, const std::vector<int64_t>& sizes, ScalarType t) {
  return tensor_of(values_of(rank, count_of(sizes), t), sizes, t);
}

double combine(const std::string& op, double a, double b, ScalarType t) {
  const auto i = static_cast<int64_t>(a), j = static_cast<int64_t>(b);
  if (t == kBool) {
    if (op == "sum" || op == "max" || op == "bor") return a != 0 || b != 0;
    if (op == "bxor") return (a != 0) != (b != 0);
    return a != 0 && b != 0;
  }
  if (op == "product") return a * b;
  if (op == "min") return std::min(a, b);
  if (op == "max") return std::max(a, b);
  if (op == "band") return static_cast<double>(i & j);
  if (op == "bor") return static_cast<double>(i | j);
  if (op == "bxor") return static_cast<double>(i ^ j);
  return a + b;
}

Values reduced(const std::string& op, int ranks, int64_t n, ScalarType t) {
  Values v = values_of(0, n, t);
  for (int r = 1; r < ranks; ++r) {
    for (int64_t i = 0; i < n; ++i) {
      v[size_t(i)] = combine(op, v[size_t(i)], value_at(r, i, t), t);
    }
  }
  if (op == "avg") {
    for (double& x : v) x /= ranks;
  }
  return v;
}

bool reduces(const std::string& op, ScalarType t) {
  if (op == "avg") return is_floating_type(t);
  if (op[0] == 'b') return !is_floating_type(t);
  return true;
}

// The dtype and the elements; averages of 16 bits are rounded.
void expect(const Tensor& t, const Values& want, ScalarType dtype,
            const std::string& what) {
  EXPECT_EQ(t.scalar_type(), dtype) << what;
  const Values got = values(t.to(kDouble));
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], 0.02 * std::abs(want[i])) << what << " " << i;
  }
}

// Calls f(rank, dtype, sizes) on 1 to 4 ranks.
void for_all(const std::function<void(int, int, ScalarType,
                                      const std::vector<int64_t>&)>& f) {
  for (int n = 1; n <= 4; ++n) {
    with_ranks(n, [&](int rank) {
      for (const ScalarType t : kDtypes) {
        for (const auto& sizes : kSizes) f(rank, n, t, sizes);
      }
    });
  }
}

std::vector<int64_t> with_rows(std::vector<int64_t> sizes, int64_t times) {
  if (sizes.empty()) return {times};
  sizes[0] *= times;
  return sizes;
}

TEST(Collectives, AllReduceOfEveryKind) {
  for_all([](int rank, int n, ScalarType t, const std::vector<int64_t>& sizes) {
    for (const char* const op :
         {"sum", "avg", "product", "min", "max", "band", "bor", "bxor"}) {
      if (!reduces(op, t)) continue;
      const Tensor x = input(rank, sizes, t);
      const Tensor y = sy_dist::all_reduce(x, op);
      const std::string what = str("{} of {}{}", op, t, x.sizes());
      EXPECT_EQ(ints(y.sizes()), sizes);
      expect(y, reduced(op, n, x.numel(), t), t, what);
      expect(x, values_of(rank, x.numel(), t), t, what);
      Tensor z = x.clone();
      EXPECT_TRUE(sy_dist::all_reduce_(z, op).is_same(z));
      expect(z, reduced(op, n, x.numel(), t), t, what);
    }
  });
}

TEST(Collectives, BroadcastFromEveryRank) {
  for_all([](int rank, int n, ScalarType t, const std::vector<int64_t>& sizes) {
    for (int src = 0; src < n; ++src) {
      const Tensor x = input(rank, sizes, t);
      const Values want = values_of(src, x.numel(), t);
      expect(sy_dist::broadcast(x, src), want, t, "broadcast");
      expect(x, values_of(rank, x.numel(), t), t, "its argument");
      Tensor y = x.clone();
      sy_dist::broadcast_(y, src);
      expect(y, want, t, "broadcast_");
    }
  });
}

TEST(Collectives, ReduceToEveryRank) {
  for_all([](int rank, int n, ScalarType t, const std::vector<int64_t>& sizes) {
    for (int dst = 0; dst < n; ++dst) {
      const Tensor x = input(rank, sizes, t);
      const Values want = rank == dst ? reduced("max", n, x.numel(), t)
                                      : values_of(rank, x.numel(), t);
      expect(sy_dist::reduce(x, dst, "max"), want, t, "reduce");
      Tensor y = x.clone();
      sy_dist::reduce_(y, dst, "max");
      expect(y, want, t, "reduce_");
    }
  });
}

TEST(Collectives, AllGatherInOneTensorAndInMany) {
  for_all([](int rank, int n, ScalarType t, const std::vector<int64_t>& sizes) {
    const Tensor x = input(rank, sizes, t);
    Values want;
    for (int r = 0; r < n; ++r) {
      const Values part = values_of(r, x.numel(), t);
      want.insert(want.end(), part.begin(), part.end());
    }
    const Tensor y = sy_dist::all_gather_into_tensor(x);
    EXPECT_EQ(ints(y.sizes()), with_rows(sizes, n));
    expect(y, want, t, "all_gather_into_tensor");
    Tensor out = empty(with_rows(sizes, n), x.options());
    sy_dist::all_gather_into_tensor_out(out, x);
    expect(out, want, t, "all_gather_into_tensor.out");
    const std::vector<Tensor> list = sy_dist::all_gather(x);
    ASSERT_EQ(list.size(), size_t(n));
    for (int r = 0; r < n; ++r) {
      EXPECT_EQ(ints(list[size_t(r)].sizes()), sizes);
      expect(list[size_t(r)], values_of(r, x.numel(), t), t, "all_gather");
    }
  });
}

TEST(Collectives, ReduceScatter) {
  for_all([](int rank, int n, ScalarType t, const std::vector<int64_t>& sizes) {
    for (const char* const op : {"sum", "avg", "min"}) {
      if (!reduces(op, t)) continue;
      const Tensor x = input(rank, with_rows(sizes, n), t);
      const int64_t part = x.numel() / n;
      const Values all = reduced(op, n, x.numel(), t);
      const Values want(all.begin() + rank * part,
                        all.begin() + (rank + 1) * part);
      expect(sy_dist::reduce_scatter_tensor(x, op), want, t, "reduce_scatter");
      Tensor out = empty(sizes, x.options());
      sy_dist::reduce_scatter_tensor_out(out, x, op);
      expect(out, want, t, "reduce_scatter.out");
    }
  });
}

TEST(Collectives, AllToAllOfEqualParts) {
  for_all([](int rank, int n, ScalarType t, const std::vector<int64_t>& sizes) {
    const Tensor x = input(rank, with_rows(sizes, n), t);
    const int64_t part = x.numel() / n;
    Values want;
    for (int r = 0; r < n; ++r) {
      for (int64_t i = 0; i < part; ++i) {
        want.push_back(value_at(r, rank * part + i, t));
      }
    }
    expect(sy_dist::all_to_all_single(x), want, t, "all_to_all");
  });
}

// Rank r sends (r + s) % 3 rows to rank s.
TEST(Collectives, AllToAllWithSplits) {
  for (int n = 1; n <= 4; ++n) {
    with_ranks(n, [&](int rank) {
      std::vector<int64_t> in, out;
      Values want;
      for (int r = 0; r < n; ++r) {
        in.push_back((rank + r) % 3);
        out.push_back((r + rank) % 3);
        int64_t at = 0;
        for (int s = 0; s < rank; ++s) at += (r + s) % 3;
        for (int64_t i = 2 * at; i < 2 * (at + out.back()); ++i) {
          want.push_back(value_at(r, i, kFloat));
        }
      }
      int64_t rows = 0;
      for (const int64_t s : in) rows += s;
      const Tensor x = input(rank, {rows, 2}, kFloat);
      expect(sy_dist::all_to_all_single(x, IntArrayRef(out), IntArrayRef(in)),
             want, kFloat, "all_to_all");
    });
  }
}

TEST(Collectives, GatherAndScatter) {
  for_all([](int rank, int n, ScalarType t, const std::vector<int64_t>& sizes) {
    for (int root = 0; root < n; ++root) {
      const Tensor x = input(rank, sizes, t);
      const std::vector<Tensor> list = sy_dist::gather(x, root);
      ASSERT_EQ(list.size(), size_t(n));
      for (int r = 0; r < n; ++r) {
        const Values want =
            rank == root ? values_of(r, x.numel(), t) : Values{};
        expect(list[size_t(r)], want, t, "gather");
      }
      const std::vector<int64_t> part = with_rows(sizes, 1);
      const Tensor whole =
          input(root, rank == root ? with_rows(sizes, n) : part, t);
      Values want;
      for (int64_t i = 0; i < x.numel(); ++i) {
        want.push_back(value_at(root, rank * x.numel() + i, t));
      }
      const Tensor y = sy_dist::scatter(whole, root);
      EXPECT_EQ(ints(y.sizes()), part);
      expect(y, want, t, "scatter");
    }
  });
}

TEST(Collectives, SendAndReceive) {
  for_all([](int rank, int n, ScalarType t, const std::vector<int64_t>& sizes) {
    if (n == 1) return;
    const int next = (rank + 1) % n, last = (rank + n - 1) % n;
    const Tensor like = empty(sizes, TensorOptions(t));
    Tensor in_place = empty(sizes, TensorOptions(t));
    // Each rank calls recv before send: a sender waits for its receiver.
    const Tensor a = sy_dist::recv(like, last, 1);
    sy_dist::send(input(rank, sizes, t), next, 1);
    expect(a, values_of(last, a.numel(), t), t, "recv");
    if (rank == 0) {
      sy_dist::send(input(0, sizes, t), 1);
    } else if (rank == 1) {
      sy_dist::recv_(in_place, 0);
      expect(in_place, values_of(0, a.numel(), t), t, "recv_");
    }
    sy_dist::barrier();
  });
}

TEST(Collectives, StridedArgumentsAndTheirViews) {
  with_ranks(2, [](int rank) {
    const Tensor x = input(rank, {4, 3}, kFloat);
    const Tensor y = sy_dist::all_reduce(x.t());
    EXPECT_TRUE(y.is_contiguous());
    EXPECT_EQ(
        values(y),
        values((input(0, {4, 3}, kFloat) + input(1, {4, 3}, kFloat)).t()));
    Tensor z = x.clone();
    Tensor column = z.select(1, 1);
    sy_dist::all_reduce_(column);
    EXPECT_EQ(values(z.select(1, 0)), values(x.select(1, 0)));
    EXPECT_EQ(values(z.select(1, 1)), values(y.select(0, 1)));
    EXPECT_EQ(values(sy_dist::all_gather_into_tensor(x.t())).size(), 24u);
    Tensor wide = x.narrow(0, 0, 1).expand({4, 3});
    SY_EXPECT_ERROR(sy_dist::all_reduce_(wide), ValueError, "all_reduce");
    expect(sy_dist::all_reduce(x.narrow(0, 0, 1).expand({4, 3})).sum(),
           Values{4 * values(y.select(1, 0).sum())[0]}, kFloat, "expanded");
  });
}

TEST(Collectives, GroupsAreNamed) {
  with_ranks(3, [](int rank) {
    const auto pair = new_group({0, 2}, "ends");
    const auto made_up = new_group({0, 1, 2});
    const Tensor x = input(rank, {4}, kFloat);
    if (rank != 1) {
      const Tensor want = input(0, {4}, kFloat) + input(2, {4}, kFloat);
      EXPECT_EQ(values(sy_dist::all_reduce(x, "sum", "ends")), values(want));
      EXPECT_EQ(ints(sy_dist::all_gather_into_tensor(x, "ends").sizes()),
                std::vector<int64_t>{8});
      // Ranks are those of the group.
      EXPECT_EQ(values(sy_dist::broadcast(x, 1, "ends")),
                values_of(2, 4, kFloat));
      sy_dist::barrier("ends");
    }
    EXPECT_EQ(values(sy_dist::all_reduce(x, "sum", made_up->name())),
              reduced("sum", 3, 4, kFloat));
    EXPECT_EQ(values(sy_dist::all_reduce(x, "sum", "world")),
              reduced("sum", 3, 4, kFloat));
    SY_EXPECT_ERROR(sy_dist::all_reduce(x, "sum", "middle"), ValueError,
                    "middle");
    SY_EXPECT_ERROR(sy_dist::barrier("middle"), ValueError, "middle");
  });
}

// A program that no launcher started.
TEST(Collectives, AProcessAloneIsAWorld) {
  init_process_group();
  const Tensor x = input(0, {3}, kFloat).requires_grad_();
  const Values want = values_of(0, 3, kFloat);
  for (const Tensor& y :
       {sy_dist::all_reduce(x), sy_dist::broadcast(x), sy_dist::reduce(x),
        sy_dist::all_gather_into_tensor(x), sy_dist::all_gather(x)[0],
        sy_dist::reduce_scatter_tensor(x), sy_dist::all_to_all_single(x),
        sy_dist::gather(x)[0], sy_dist::scatter(x)}) {
    expect(y.detach(), want, kFloat, "alone");
    y.sum().backward();
  }
  EXPECT_EQ(values(x.grad()), Values(3, 9.0));
  sy_dist::barrier();
  SY_EXPECT_ERROR(sy_dist::send(x.detach(), 0), ValueError, "another rank");
  destroy_process_group();
  SY_EXPECT_ERROR(sy_dist::barrier(), Error, "destroy_process_group");
}

}  // namespace
}  // namespace sy::distributed
