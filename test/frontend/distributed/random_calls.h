#pragma once

#include <sy/distributed.h>
#include <sy/sy.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

// Random sequences of collectives over random groups of 4 ranks, some begun and
// waited for later, against what one process computes.

namespace sy::distributed {

inline constexpr int kRandomRanks = 4;

// The elements that a rank gives to call `n`.
inline Tensor given(int rank, int n, int64_t size, ScalarType dtype) {
  const Tensor t = sy::arange(size, TensorOptions().dtype(kLong));
  return (t * (rank + 2) + n * 13 + rank).remainder(17).to(dtype);
}

// One call as all ranks draw it.
struct Draw {
  int kind, group, root;
  int64_t size;
  ScalarType dtype;
  ReduceOp op;
  bool async;
};

inline Draw draw(std::mt19937& random) {
  const auto below = [&](int n) {
    return static_cast<int>(random() % static_cast<unsigned>(n));
  };
  constexpr ScalarType kDtypes[] = {kFloat, kLong, kInt, kBFloat16, kByte};
  constexpr ReduceOp kOps[] = {ReduceOp::SUM, ReduceOp::MAX, ReduceOp::MIN};
  constexpr int64_t kSizes[] = {0, 1, 7, 1000, 2500, 30'000, 300'000};
  Draw d{};
  d.kind = below(6);
  d.group = below(4);
  d.root = below(2);
  d.size = kSizes[below(below(5) == 0 ? 7 : 5)];
  d.dtype = kDtypes[below(5)];
  d.op = kOps[below(3)];
  d.async = below(2) == 0;
  return d;
}

inline Tensor reduced(const std::vector<int>& ranks, int n, const Draw& d) {
  Tensor s = given(ranks[0], n, d.size, d.dtype);
  for (size_t i = 1; i < ranks.size(); ++i) {
    const Tensor x = given(ranks[i], n, d.size, d.dtype);
    s = d.op == ReduceOp::SUM   ? s + x
        : d.op == ReduceOp::MAX ? sy::maximum(s, x)
                                : sy::minimum(s, x);
  }
  return s;
}

struct Waiting {
  Work work;
  Tensor result, expected;
  int n;
};

// Makes one call on this rank.
inline Waiting call(ProcessGroup& g, int rank, int n, const Draw& d) {
  const std::vector<int>& ranks = g.ranks();
  const Async async = d.async ? kAsync : kSync;
  Waiting w;
  w.n = n;
  Tensor mine = given(rank, n, d.size, d.dtype);
  const auto root = static_cast<size_t>(d.root);
  std::vector<Tensor> all;
  for (const int r : ranks) all.push_back(given(r, n, d.size, d.dtype));
  switch (d.kind) {
    case 0:
    case 1:
      w.work = g.allreduce(mine, d.op, async);
      w.result = mine;
      w.expected = reduced(ranks, n, d);
      break;
    case 2:
      w.work = g.broadcast(mine, d.root, async);
      w.result = mine;
      w.expected = all[root];
      break;
    case 3:
      w.work = g.reduce(mine, d.root, d.op, async);
      w.result = mine;
      w.expected = g.rank() == d.root ? reduced(ranks, n, d)
                                      : given(rank, n, d.size, d.dtype);
      break;
    case 4:
      w.result = sy::empty({g.size() * d.size}, TensorOptions().dtype(d.dtype));
      w.work = g.allgather_into_tensor(w.result, mine, async);
      w.expected = sy::cat(all);
      break;
    default: {
      std::vector<Tensor> parts;
      if (g.rank() == d.root) parts = all;
      w.result = sy::empty_like(mine);
      w.work = g.scatter(w.result, parts, d.root, async);
      w.expected = mine;
      break;
    }
  }
  return w;
}

// The groups of all sequences; all ranks call it.
inline std::vector<std::shared_ptr<ProcessGroup>> random_groups() {
  std::vector<std::shared_ptr<ProcessGroup>> groups;
  for (const std::vector<int>& ranks : std::vector<std::vector<int>>{
           {0, 1, 2, 3}, {0, 2}, {1, 2, 3}, {0, 1, 3}}) {
    groups.push_back(new_group(ranks));
  }
  return groups;
}

// One sequence on this rank. Returns what was wrong, "" for nothing.
inline std::string random_calls(
    unsigned seed, int rank,
    const std::vector<std::shared_ptr<ProcessGroup>>& groups) {
  std::string wrong;
  std::mt19937 random(seed);
  std::vector<Waiting> waiting;
  const auto check = [&](const Waiting& w) {
    w.work.wait();
    if (w.result.equal(w.expected)) return;
    wrong += "seed " + std::to_string(seed) + ", call " + std::to_string(w.n);
    wrong += ": wrong elements\n";
  };
  for (int n = 0; n < 60; ++n) {
    const Draw d = draw(random);
    const bool some_end = random() % 4 == 0;
    if (const auto& g = groups[static_cast<size_t>(d.group)]) {
      waiting.push_back(call(*g, rank, n, d));
      if (!d.async) check(waiting.back());
    }
    if (some_end) {
      for (const Waiting& w : waiting) check(w);
      waiting.clear();
    }
  }
  for (auto it = waiting.rbegin(); it != waiting.rend(); ++it) check(*it);
  return wrong;
}

}  // namespace sy::distributed
