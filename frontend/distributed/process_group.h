#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aten/tensor.h"
#include "frontend/distributed/reduce_op.h"
#include "frontend/distributed/work.h"

namespace sy::distributed {

class Context;
class Member;  // this rank's part of a group: group/member.h

// Names what the calls of this thread in its scope are about, in errors and in
// the fingerprint: "gradients of fc1.weight, fc1.bias". All ranks give the same
// text. Scopes nest: the innermost counts.
class SY_API CallLabel {
 public:
  explicit CallLabel(std::string text);
  ~CallLabel();
  CallLabel(const CallLabel&) = delete;
  CallLabel& operator=(const CallLabel&) = delete;
  static const std::string& current() noexcept;

 private:
  std::string before_;
};

// Whether a call returns before its results are there.
enum Async : bool { kSync = false, kAsync = true };

// Some of the ranks, who call collectives together. Every rank of the group
// makes the same calls in the same order; calls of different groups may
// interleave. Each call is checked: if the ranks of a group disagree (operator,
// reduction, dtype, sizes, root, label), all of them get an Error that says who
// called what, and the group can be used further. If a rank does not come
// within the time-out, or is gone, the others get an Error that names it, and
// so does every later call of the group.
//
// Tensors may lie on any device; where the engine does not serve it, they go
// through the host. Tensors that are written must not have elements that share
// memory (ValueError). A call that throws for its arguments makes the other
// ranks throw as well. Ranks are numbers of the group, from 0.
//
// Calls return when the results are there, or with kAsync at once; then
// Work::wait() waits. One thread at a time calls a group, unless the ranks'
// order is kept otherwise.
class SY_API ProcessGroup {
 public:
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  const std::string& name() const noexcept;
  int rank() const noexcept;
  int size() const noexcept;
  // The world's number of each rank.
  const std::vector<int>& ranks() const noexcept;
  const char* engine() const noexcept;
  // The Context of this rank; it lives as long as the group is in use.
  Context& context() const noexcept;
  Milliseconds timeout() const noexcept;
  void set_timeout(Milliseconds t) noexcept;
  // Whether reductions add in the order of ranks, piece by piece alike: then
  // results do not depend on sizes, buckets or the engine, only on the number
  // of ranks. False: large ones are added as the engine does. At first:
  // InitOptions::deterministic.
  bool deterministic() const noexcept;
  void set_deterministic(bool on) noexcept;

  // ---- in place, or into tensors that are given. Names are c10d's.

  // Each tensor becomes the reduction over all ranks. Several tensors are one
  // call, and may differ in dtype.
  Work allreduce(const Tensor& t, ReduceOp op = ReduceOp::SUM,
                 Async async = kSync);
  Work allreduce_coalesced(std::span<const Tensor> tensors,
                           ReduceOp op = ReduceOp::SUM, Async async = kSync);
  // Every rank gets the root's elements.
  Work broadcast(const Tensor& t, int root = 0, Async async = kSync);
  Work broadcast_coalesced(std::span<const Tensor> tensors, int root = 0,
                           Async async = kSync);
  // The root's tensor becomes the reduction; others stay as they are.
  Work reduce(const Tensor& t, int root = 0, ReduceOp op = ReduceOp::SUM,
              Async async = kSync);
  // out [size * n, ...] becomes the ranks' `in` [n, ...], one after another.
  // The same with one tensor for each rank.
  Work allgather_into_tensor(const Tensor& out, const Tensor& in,
                             Async async = kSync);
  Work allgather(std::span<const Tensor> outs, const Tensor& in,
                 Async async = kSync);
  // out [n, ...] becomes this rank's part of the reduction of `in`
  // [size * n, ...].
  Work reduce_scatter_tensor(const Tensor& out, const Tensor& in,
                             ReduceOp op = ReduceOp::SUM, Async async = kSync);
  // Parts of `in` along dim 0 go to the ranks; `out` gets theirs. Without
  // splits, parts are equal. Splits count rows; each rank's in_splits[r] must
  // be r's out_splits[rank].
  Work alltoall_base(const Tensor& out, const Tensor& in,
                     std::span<const int64_t> out_splits = {},
                     std::span<const int64_t> in_splits = {},
                     Async async = kSync);
  // The root's `outs` become the ranks' `in`; others give no `outs`.
  Work gather(std::span<const Tensor> outs, const Tensor& in, int root = 0,
              Async async = kSync);
  // The reverse.
  Work scatter(const Tensor& out, std::span<const Tensor> ins, int root = 0,
               Async async = kSync);
  // Rank `to` must receive a tensor of the same dtype and sizes with that tag.
  // Messages of one pair and tag arrive in order. Calls of different pairs or
  // tags, and collectives, do not wait for each other. tag: 0 to 30000.
  Work send(const Tensor& t, int to, int tag = 0, Async async = kSync);
  Work recv(const Tensor& t, int from, int tag = 0, Async async = kSync);
  // Returns when all ranks have called it.
  Work barrier(Async async = kSync);

  // ---- for the classes of this folder

  // The member object of this rank; keeps the engine's communicators.
  const std::shared_ptr<Member>& member() const noexcept { return member_; }
  explicit ProcessGroup(std::shared_ptr<Member> member);

 private:
  std::shared_ptr<Member> member_;
};

}  // namespace sy::distributed
