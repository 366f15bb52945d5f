#include "frontend/distributed/group/collective_op.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "c10/process/error.h"
#include "frontend/distributed/group/abandoned.h"
#include "frontend/distributed/group/reduce.h"

namespace sy::distributed {

namespace {

// Segments lie one after another, each aligned for any dtype.
int64_t padded(int64_t bytes) { return (bytes + 7) / 8 * 8; }

int64_t total_bytes(const std::vector<Part>& parts) {
  int64_t sum = 0;
  for (const Part& p : parts) sum += padded(p.bytes());
  return sum;
}

void copy(char* to, const char* from, int64_t bytes) {
  if (bytes > 0 && to != from) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
}

void reduce_parts(char* acc, const char* x, const std::vector<Part>& parts,
                  ReduceOp op) {
  for (const Part& p : parts) {
    reduce_into(acc, x, p.count, p.dtype, op);
    acc += padded(p.bytes());
    x += padded(p.bytes());
  }
}

}  // namespace

DataPhase::~DataPhase() = default;

CollectiveOp::CollectiveOp(std::shared_ptr<Member> member, Call call,
                           Buffers buffers)
    : Operation(std::move(member), std::move(call)),
      buffers_(std::move(buffers)) {}

CollectiveOp::~CollectiveOp() = default;

void agree(const std::shared_ptr<Member>& member, const char* name,
           std::string about, const std::string& refused) {
  Call call;
  call.name = name;
  call.label = std::move(about);
  call.refused = refused;
  Progress& progress = member->progress();
  // The step after agree() has no time-out: a rank that came too late for the
  // others must not go there alone. So all hear that all have heard.
  for (const bool again : {false, true}) {
    auto op = std::make_shared<CollectiveOp>(member, call, Buffers());
    progress.add(op, !refused.empty());
    if (!refused.empty()) return;
    progress.wait(*op, std::nullopt);
    op->finish();
    if (again || member->size() == 1) return;
  }
}

void CollectiveOp::begin_exchange(uint64_t round) {
  uint64_t hash = 0;
  if (!Exchange::is_unchecked()) {
    hash = mixed(call().hash(), member().group_hash());
    hash = mixed(mixed(hash, sequence()), round);
  }
  exchange_.begin(
      member(), hash, call().what == Collective::kAllToAll,
      [this](int r) { return part_for(r); },
      [this](int r, char* to) { fill(r, to); });
}

bool CollectiveOp::advance(bool* moved) {
  if (phase_ == Phase::kBegin) {
    if (!call().refused.empty() && member().size() == 1) return true;
    if (member().size() == 1) {
      finish_alone();
      return true;
    }
    small_ = is_small();
    if (Exchange::is_unchecked() && !small_ &&
        call().what != Collective::kAllToAll) {
      data_ = data_phase();
      phase_ = Phase::kData;
    } else {
      begin_exchange(0);
      phase_ = Phase::kExchange;
    }
    *moved = true;
  }
  if (phase_ == Phase::kExchange) {
    if (!exchange_.test()) return false;
    *moved = true;
    if (!exchange_.agreed()) {
      end(disagreement(*this));
      return true;
    }
    if (!call().refused.empty()) return true;  // on all ranks
    if (call().what == Collective::kAllToAll && !confirming_) {
      // Two ranks may disagree where the others see nothing: all are told, and
      // small parts come along.
      confirming_ = true;
      begin_exchange(sizes_agree() ? 1 : 2);
      return false;
    }
    if (small_) {
      finish_small();
      return true;
    }
    data_ = data_phase();
    if (data_ == nullptr) return true;
    phase_ = Phase::kData;
  }
  return data_->advance(moved);
}

void CollectiveOp::abandon() noexcept {
  exchange_.abandon();
  if (data_ == nullptr) return;
  data_->abandon();
  // The engine may still use the tensors and what the phase holds.
  keep_for_ever(data_.release());
  try {
    keep_for_ever(new std::vector<Tensor>(keep));
  } catch (...) {
    std::abort();
  }
}

Exchange::Part CollectiveOp::part_for(int rank) const {
  if (!call().refused.empty()) return {};
  const int root = call().root, me = member().rank();
  int64_t bytes = 0;
  switch (call().what) {
    case Collective::kAllReduce: bytes = total_bytes(buffers_.segments); break;
    case Collective::kBroadcast:
      if (me == root) bytes = total_bytes(buffers_.segments);
      break;
    case Collective::kReduce:
      if (rank == root) bytes = total_bytes(buffers_.segments);
      break;
    case Collective::kGather:
      if (rank == root) bytes = buffers_.in_for(rank)->bytes();
      break;
    case Collective::kScatter:
      if (me == root) bytes = buffers_.in_for(rank)->bytes();
      break;
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll: bytes = buffers_.in_for(rank)->bytes(); break;
    default: break;
  }
  const bool along =
      call().device != kCPU
          ? false
          : small_ || (call().what == Collective::kAllToAll && confirming_ &&
                       bytes <= static_cast<int64_t>(Exchange::kSmall));
  return {bytes, along ? static_cast<size_t>(bytes) : 0};
}

void CollectiveOp::fill(int rank, char* to) const {
  if (!buffers_.segments.empty()) {
    for (const Part& p : buffers_.segments) {
      copy(to, p.data, p.bytes());
      to += padded(p.bytes());
    }
    return;
  }
  const Part* p = buffers_.in_for(rank);
  copy(to, p->data, p->bytes());
}

// All ranks come to the same answer, for they have the same sizes.
bool CollectiveOp::is_small() const {
  if (member().size() > Exchange::kDirect || !call().refused.empty()) {
    return false;
  }
  if (call().what == Collective::kBarrier) return true;
  if (call().device != kCPU) return false;
  if (call().what == Collective::kAllToAll) return false;  // each pair decides
  int64_t bytes = total_bytes(buffers_.segments);
  for (const auto* parts : {&buffers_.in, &buffers_.out}) {
    for (const Part& p : *parts) bytes = std::max(bytes, p.bytes());
  }
  if (call().what == Collective::kAllGather ||
      call().what == Collective::kReduceScatter) {
    bytes = buffers_.in_for(0)->bytes();
  }
  return bytes <= static_cast<int64_t>(Exchange::kSmall);
}

bool CollectiveOp::sizes_agree() const {
  if (call().what != Collective::kAllToAll) return true;
  for (int r = 0; r < member().size(); ++r) {
    if (r == member().rank()) continue;
    if (exchange_.announced_by(r) != buffers_.out_for(r)->bytes()) return false;
  }
  return true;
}

void CollectiveOp::finish_alone() {
  if (buffers_.in.empty()) return;  // in place
  copy(buffers_.out[0].data, buffers_.in[0].data, buffers_.in[0].bytes());
}

void CollectiveOp::finish_small() {
  const int n = member().size(), me = member().rank(), root = call().root;
  const auto& segments = buffers_.segments;
  switch (call().what) {
    case Collective::kAllReduce:
    case Collective::kReduce:
    case Collective::kReduceScatter: {
      if (call().what == Collective::kReduce && me != root) return;
      const bool scatters = call().what == Collective::kReduceScatter;
      const std::vector<Part> mine =
          scatters ? std::vector<Part>{*buffers_.in_for(me)} : segments;
      std::vector<int64_t> acc(static_cast<size_t>(total_bytes(mine) / 8 + 1));
      std::vector<int64_t> own(acc.size());
      char* const sum = reinterpret_cast<char*>(acc.data());
      char* const x = reinterpret_cast<char*>(own.data());
      char* to = x;
      for (const Part& p : mine) {
        copy(to, p.data, p.bytes());
        to += padded(p.bytes());
      }
      const auto bytes = total_bytes(mine);
      for (int r = 0; r < n; ++r) {
        const char* const from = r == me ? x : exchange_.from(r);
        if (r == 0) {
          copy(sum, from, bytes);
        } else {
          reduce_parts(sum, from, mine, call().op);
        }
      }
      const char* from = sum;
      for (size_t i = 0; i < mine.size(); ++i) {
        char* const out = scatters ? buffers_.out[0].data : mine[i].data;
        copy(out, from, mine[i].bytes());
        if (call().op == ReduceOp::AVG) {
          divide(out, mine[i].count, mine[i].dtype, n);
        }
        from += padded(mine[i].bytes());
      }
      return;
    }
    case Collective::kBroadcast: {
      if (me == root) return;
      const char* from = exchange_.from(root);
      for (const Part& p : segments) {
        copy(p.data, from, p.bytes());
        from += padded(p.bytes());
      }
      return;
    }
    case Collective::kScatter: {
      const Part& out = buffers_.out[0];
      copy(out.data,
           me == root ? buffers_.in_for(me)->data : exchange_.from(root),
           out.bytes());
      return;
    }
    case Collective::kGather:
      if (me != root) return;
      [[fallthrough]];
    case Collective::kAllGather:
      for (int r = 0; r < n; ++r) {
        const Part& out = *buffers_.out_for(r);
        copy(out.data, r == me ? buffers_.in_for(r)->data : exchange_.from(r),
             out.bytes());
      }
      return;
    default: return;
  }
}

std::unique_ptr<DataPhase> CollectiveOp::data_phase() {
  if (call().device != kCPU) return device_transfers(*this, buffers_);
  switch (call().what) {
    case Collective::kAllReduce:
    case Collective::kReduce: {
      if (member().size() <= Exchange::kDirect) return halves(*this, buffers_);
      bool own = member().deterministic.load();
      for (const Part& p : buffers_.segments) {
        own |= !member().data().supports(
            call().what, p.dtype,
            call().op == ReduceOp::AVG ? ReduceOp::SUM : call().op);
      }
      return own ? ordered_reduction(*this, buffers_)
                 : engine_pieces(*this, buffers_);
    }
    case Collective::kBroadcast: return engine_pieces(*this, buffers_);
    case Collective::kReduceScatter:
      return member().size() <= Exchange::kDirect
                 ? halves(*this, buffers_)
                 : ordered_reduction(*this, buffers_);
    case Collective::kAllToAll:
      for (int r = 0; r < member().size(); ++r) {
        const Part& out = *buffers_.out_for(r);
        const bool came = out.bytes() <= static_cast<int64_t>(Exchange::kSmall);
        if (r == member().rank()) {
          copy(out.data, buffers_.in_for(r)->data, out.bytes());
        } else if (came) {
          copy(out.data, exchange_.from(r), out.bytes());
        }
      }
      return pair_transfers(*this, buffers_);
    case Collective::kAllGather:
    case Collective::kGather:
    case Collective::kScatter: return pair_transfers(*this, buffers_);
    default: return nullptr;
  }
}

}  // namespace sy::distributed
