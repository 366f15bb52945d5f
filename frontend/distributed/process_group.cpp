#include "frontend/distributed/process_group.h"

#include <numeric>
#include <optional>
#include <utility>

#include "c10/dispatch/trace.h"
#include "c10/process/error.h"
#include "frontend/distributed/group/member.h"
#include "frontend/distributed/group/pair_op.h"
#include "frontend/distributed/group/prepare.h"
#include "frontend/distributed/group/reduce.h"
#include "frontend/distributed/group/state.h"

namespace sy::distributed {

namespace {

thread_local std::string label;

Work begin(const std::shared_ptr<Operation>& op, Async async) {
  Progress& progress = op->member().progress();
  progress.add(op, async == kAsync);
  Work work(op);
  if (async == kSync) work.wait();
  return work;
}

Call call_of(Collective what, const char* name) {
  Call c;
  c.what = what;
  c.name = name;
  c.label = label;
  return c;
}

bool has_root(Collective what) {
  return what == Collective::kBroadcast || what == Collective::kReduce ||
         what == Collective::kGather || what == Collective::kScatter;
}

// Prepares a collective and begins it. If its arguments are refused, the other
// ranks are told, since they wait for this one.
template <class F>
Work collective(const std::shared_ptr<Member>& m, Call call, Async async,
                const F& prepare) {
  Buffers buffers;
  std::optional<Prepared> prepared;
  try {
    SY_CHECK(call.root < m->size() && (!has_root(call.what) || call.root >= 0),
             Value, "[{}] root: expected a rank of group {}, 0 to {}, got {}",
             call.name, m->name(), m->size() - 1, call.root);
    call.device = Prepared::device_of(*m, call);
    prepare(call, prepared.emplace(*m, call), buffers);
    if (!prepared->fits()) {
      // The host moves what the engine does not.
      call.device = kCPU;
      call.tensors.clear();
      call.tensors_hash = 0;
      buffers = {};
      prepare(call, prepared.emplace(*m, call), buffers);
    }
    if (call.tensors.empty()) call.device = kCPU;
    check_apart(call, m->rank(), buffers);
  } catch (const Error& e) {
    if (m->size() > 1) {
      call.device = kCPU;
      call.refused = e.message();
      try {
        m->progress().add(std::make_shared<CollectiveOp>(m, call, Buffers()),
                          true);
      } catch (const Error&) {
        // The group has failed: then nobody waits.
      }
    }
    throw;
  }
  auto op =
      std::make_shared<CollectiveOp>(m, std::move(call), std::move(buffers));
  prepared->give_to(*op);
  return begin(op, async);
}

void check_reducible(const char* name, const Tensor& t, ReduceOp op) {
  SY_CHECK(reducible(t.scalar_type(), op), Type,
           "[{}] op: expected a reduction of {} elements, got {}", name,
           t.scalar_type(), name_of(op));
}

void check_like(const char* name, const char* argument, const Tensor& t,
                const Tensor& like, int64_t times) {
  SY_CHECK(t.scalar_type() == like.scalar_type(), Type,
           "[{}] {}: expected dtype {}, got {}", name, argument,
           like.scalar_type(), t.scalar_type());
  SY_CHECK(t.numel() == times * like.numel(), Value,
           "[{}] {}: expected {} elements, got {}", name, argument,
           times * like.numel(), t.numel());
}

}  // namespace

CallLabel::CallLabel(std::string text)
    : before_(std::exchange(label, std::move(text))) {}
CallLabel::~CallLabel() { label = std::move(before_); }
const std::string& CallLabel::current() noexcept { return label; }

void Work::wait(std::optional<Milliseconds> timeout) const {
  if (op_ == nullptr) return;
  if (!op_->ended()) {
    const TraceSpan span("wait", [&] { return op_->describe(); });
    std::optional<Clock::time_point> until;
    if (timeout) until = Clock::now() + *timeout;
    SY_CHECK(op_->member().progress().wait(*op_, until), Error,
             "[{}] {} has not ended within {} ms", op_->call().name,
             op_->describe(), timeout->count());
  }
  op_->finish();
}

bool Work::is_completed() const noexcept {
  return op_ == nullptr || op_->ended();
}

bool Work::is_success() const noexcept {
  return is_completed() && exception() == nullptr;
}

std::exception_ptr Work::exception() const noexcept {
  return op_ != nullptr && op_->ended() ? op_->error() : nullptr;
}

std::string Work::describe() const {
  return op_ == nullptr ? "" : op_->describe();
}

ProcessGroup::ProcessGroup(std::shared_ptr<Member> member)
    : member_(std::move(member)) {}
ProcessGroup::~ProcessGroup() = default;

const std::string& ProcessGroup::name() const noexcept {
  return member_->name();
}
int ProcessGroup::rank() const noexcept { return member_->rank(); }
int ProcessGroup::size() const noexcept { return member_->size(); }
const std::vector<int>& ProcessGroup::ranks() const noexcept {
  return member_->ranks();
}
const char* ProcessGroup::engine() const noexcept {
  return member_->state().engine == nullptr ? "none" : member_->engine().name();
}
Context& ProcessGroup::context() const noexcept {
  return *member_->state().owner;
}
Milliseconds ProcessGroup::timeout() const noexcept {
  return Milliseconds(member_->timeout_ms.load());
}
void ProcessGroup::set_timeout(Milliseconds t) noexcept {
  member_->timeout_ms = t.count();
}
bool ProcessGroup::deterministic() const noexcept {
  return member_->deterministic;
}
void ProcessGroup::set_deterministic(bool on) noexcept {
  member_->deterministic = on;
}

Work ProcessGroup::allreduce(const Tensor& t, ReduceOp op, Async async) {
  return allreduce_coalesced({&t, 1}, op, async);
}

Work ProcessGroup::allreduce_coalesced(std::span<const Tensor> tensors,
                                       ReduceOp op, Async async) {
  Call call = call_of(Collective::kAllReduce, "all_reduce");
  call.op = op;
  return collective(member_, std::move(call), async,
                    [&](Call& c, Prepared& p, Buffers& b) {
                      for (const Tensor& t : tensors) {
                        b.segments.push_back(p.update(t, "tensor"));
                        check_reducible(c.name, t, op);
                        c.add(t);
                      }
                    });
}

Work ProcessGroup::broadcast(const Tensor& t, int root, Async async) {
  return broadcast_coalesced({&t, 1}, root, async);
}

Work ProcessGroup::broadcast_coalesced(std::span<const Tensor> tensors,
                                       int root, Async async) {
  Call call = call_of(Collective::kBroadcast, "broadcast");
  call.root = root;
  return collective(
      member_, std::move(call), async, [&](Call& c, Prepared& p, Buffers& b) {
        for (const Tensor& t : tensors) {
          b.segments.push_back(rank() == root ? p.read(t, "tensor")
                                              : p.write(t, "tensor"));
          c.add(t);
        }
      });
}

Work ProcessGroup::reduce(const Tensor& t, int root, ReduceOp op, Async async) {
  Call call = call_of(Collective::kReduce, "reduce");
  call.root = root;
  call.op = op;
  return collective(
      member_, std::move(call), async, [&](Call& c, Prepared& p, Buffers& b) {
        b.segments.push_back(rank() == root ? p.update(t, "tensor")
                                            : p.read(t, "tensor"));
        check_reducible(c.name, t, op);
        c.add(t);
      });
}

Work ProcessGroup::allgather_into_tensor(const Tensor& out, const Tensor& in,
                                         Async async) {
  return collective(member_, call_of(Collective::kAllGather, "all_gather"),
                    async, [&](Call& c, Prepared& p, Buffers& b) {
                      b.in = {p.read(in, "in")};
                      c.add(in);
                      check_like(c.name, "out", out, in, size());
                      b.out = Prepared::cut(p.write(out, "out"), size());
                    });
}

Work ProcessGroup::allgather(std::span<const Tensor> outs, const Tensor& in,
                             Async async) {
  return collective(
      member_, call_of(Collective::kAllGather, "all_gather"), async,
      [&](Call& c, Prepared& p, Buffers& b) {
        b.in = {p.read(in, "in")};
        c.add(in);
        SY_CHECK(outs.size() == static_cast<size_t>(size()), Value,
                 "[{}] outs: expected {} tensors, one for each rank, got {}",
                 c.name, size(), outs.size());
        for (const Tensor& t : outs) check_like(c.name, "outs", t, in, 1);
        b.out = p.write_all(outs, "outs");
      });
}

Work ProcessGroup::reduce_scatter_tensor(const Tensor& out, const Tensor& in,
                                         ReduceOp op, Async async) {
  Call call = call_of(Collective::kReduceScatter, "reduce_scatter");
  call.op = op;
  return collective(member_, std::move(call), async,
                    [&](Call& c, Prepared& p, Buffers& b) {
                      const Part whole = p.read(in, "in");
                      check_reducible(c.name, in, op);
                      check_like(c.name, "in", in, out, size());
                      c.add(in);
                      b.in = Prepared::cut(whole, size());
                      b.out = {p.write(out, "out")};
                    });
}

Work ProcessGroup::alltoall_base(const Tensor& out, const Tensor& in,
                                 std::span<const int64_t> out_splits,
                                 std::span<const int64_t> in_splits,
                                 Async async) {
  // One part for each rank, and whether the splits are the tensor's.
  const auto cut = [&](const char* name, const char* argument, const Tensor& t,
                       const Part& whole, std::span<const int64_t> splits) {
    const int64_t rows = t.dim() == 0 ? 1 : t.size(0);
    if (splits.empty()) {
      SY_CHECK(rows % size() == 0, Value,
               "[{}] {}: expected rows for {} ranks, got {}", name, argument,
               size(), rows);
      return Prepared::cut(whole, size());
    }
    SY_CHECK(splits.size() == static_cast<size_t>(size()), Value,
             "[{}] {}_splits: expected {} numbers, got {}", name, argument,
             size(), splits.size());
    std::vector<Part> parts;
    Part at = whole;
    int64_t sum = 0;
    for (const int64_t n : splits) {
      SY_CHECK(n >= 0, Value, "[{}] {}_splits: expected rows, got {}", name,
               argument, n);
      SY_CHECK(n <= rows - sum, Value,
               "[{}] {}_splits: expected {} rows, got more", name, argument,
               rows);
      at.count = rows == 0 ? 0 : n * (t.numel() / rows);
      parts.push_back(at);
      at.data += at.bytes();
      sum += n;
    }
    SY_CHECK(sum == rows, Value, "[{}] {}_splits: expected {} rows, got {}",
             name, argument, rows, sum);
    return parts;
  };
  return collective(
      member_, call_of(Collective::kAllToAll, "all_to_all"), async,
      [&](Call& c, Prepared& p, Buffers& b) {
        b.in = cut(c.name, "in", in, p.read(in, "in"), in_splits);
        SY_CHECK(out.scalar_type() == in.scalar_type(), Type,
                 "[{}] out: expected dtype {}, got {}", c.name,
                 in.scalar_type(), out.scalar_type());
        c.add(in, true);
        b.out = cut(c.name, "out", out, p.write(out, "out"), out_splits);
        const auto me = static_cast<size_t>(rank());
        SY_CHECK(b.in[me].count == b.out[me].count, Value,
                 "[{}] out: expected {} elements from this rank itself, got {}",
                 c.name, b.in[me].count, b.out[me].count);
      });
}

Work ProcessGroup::gather(std::span<const Tensor> outs, const Tensor& in,
                          int root, Async async) {
  Call call = call_of(Collective::kGather, "gather");
  call.root = root;
  return collective(
      member_, std::move(call), async, [&](Call& c, Prepared& p, Buffers& b) {
        b.in = {p.read(in, "in")};
        c.add(in);
        const auto wanted = static_cast<size_t>(rank() == root ? size() : 0);
        SY_CHECK(outs.size() == wanted, Value,
                 "[{}] outs: expected {} tensors on rank {} (root {}), got {}",
                 c.name, wanted, rank(), root, outs.size());
        for (const Tensor& t : outs) check_like(c.name, "outs", t, in, 1);
        b.out = p.write_all(outs, "outs");
      });
}

Work ProcessGroup::scatter(const Tensor& out, std::span<const Tensor> ins,
                           int root, Async async) {
  Call call = call_of(Collective::kScatter, "scatter");
  call.root = root;
  return collective(
      member_, std::move(call), async, [&](Call& c, Prepared& p, Buffers& b) {
        b.out = {p.write(out, "out")};
        c.add(out);
        const auto wanted = static_cast<size_t>(rank() == root ? size() : 0);
        SY_CHECK(ins.size() == wanted, Value,
                 "[{}] ins: expected {} tensors on rank {} (root {}), got {}",
                 c.name, wanted, rank(), root, ins.size());
        for (const Tensor& t : ins) check_like(c.name, "ins", t, out, 1);
        b.in = p.read_all(ins, "ins");
      });
}

Work ProcessGroup::barrier(Async async) {
  return collective(member_, call_of(Collective::kBarrier, "barrier"), async,
                    [](Call&, Prepared&, Buffers&) {});
}

namespace {

constexpr int kMostTag = 30000;

template <class F>
Work pair(const std::shared_ptr<Member>& m, Collective what, const char* name,
          int peer, int tag, Async async, const F& prepare) {
  Call call = call_of(what, name);
  SY_CHECK(peer >= 0 && peer < m->size() && peer != m->rank(), Value,
           "[{}] rank: expected another rank of group {}, 0 to {}, got {}",
           name, m->name(), m->size() - 1, peer);
  SY_CHECK(tag >= 0 && tag <= kMostTag, Value,
           "[{}] tag: expected 0 to {}, got {}", name, kMostTag, tag);
  call.root = peer;
  call.tag = tag;
  std::optional<Prepared> prepared;
  Part part;
  try {
    call.device = Prepared::device_of(*m, call);
    part = prepare(prepared.emplace(*m, call));
    if (!prepared->fits()) {
      call.device = kCPU;
      part = prepare(prepared.emplace(*m, call));
    }
  } catch (const Error& e) {
    call.device = kCPU;
    call.refused = e.message();
    try {
      m->progress().add(std::make_shared<PairOp>(m, call, Part()), true);
    } catch (const Error&) {
      // The group has failed: then nobody waits.
    }
    throw;
  }
  call.add(prepared->last());
  auto op = std::make_shared<PairOp>(m, std::move(call), part);
  prepared->give_to(*op);
  return begin(op, async);
}

}  // namespace

Work ProcessGroup::send(const Tensor& t, int to, int tag, Async async) {
  return pair(member_, Collective::kSend, "send", to, tag, async,
              [&](Prepared& p) { return p.read(t, "tensor"); });
}

Work ProcessGroup::recv(const Tensor& t, int from, int tag, Async async) {
  return pair(member_, Collective::kRecv, "recv", from, tag, async,
              [&](Prepared& p) { return p.write(t, "tensor"); });
}

}  // namespace sy::distributed
