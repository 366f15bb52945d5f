#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "frontend/distributed/group/collective_op.h"
#include "frontend/distributed/group/reduce.h"

// Large collectives by the engine's own transfers.

namespace sy::distributed {

namespace {

// Engines take longer for one large message than for its pieces: MPI maps
// memory for it, call by call. Measured best with Open MPI 4.1.
constexpr int64_t kPiece = int64_t{1} << 20;
constexpr size_t kInFlight = 2;

// Pieces of tensors, one after another, some of them under way.
class EnginePieces final : public DataPhase {
 public:
  EnginePieces(const Operation& op, const Buffers& buffers)
      : call_(op.call()),
        c_(op.member().data()),
        rank_(op.member().rank()),
        size_(op.member().size()),
        segments_(buffers.segments) {}

  bool advance(bool* moved) override {
    while (!flying_.empty() && flying_.front().request.test()) {
      const Piece& p = flying_.front();
      if (call_.op == ReduceOp::AVG && writes()) {
        divide(p.data, p.count, p.dtype, size_);
      }
      flying_.erase(flying_.begin());
      *moved = true;
    }
    while (flying_.size() < kInFlight && segment_ < segments_.size()) {
      start();
      *moved = true;
    }
    return flying_.empty();
  }

  void abandon() noexcept override {
    for (Piece& p : flying_) p.request.abandon();
  }

 private:
  struct Piece {
    char* data;
    int64_t count;
    ScalarType dtype;
    Request request;
  };

  bool reduces() const {
    return call_.what == Collective::kAllReduce ||
           call_.what == Collective::kReduce;
  }
  bool writes() const {
    return reduces() &&
           (call_.what == Collective::kAllReduce || rank_ == call_.root);
  }

  void start() {
    const Part& s = segments_[segment_];
    const auto item = static_cast<int64_t>(element_size(s.dtype));
    const int64_t n = std::min(kPiece / item, s.count - at_);
    char* const data = s.data + at_ * item;
    at_ += n;
    if (at_ == s.count) {
      at_ = 0;
      ++segment_;
    }
    if (n == 0) return;
    Transfer t;
    t.what = call_.what;
    t.dtype = reduces() ? s.dtype : ScalarType::Byte;
    t.op = call_.op == ReduceOp::AVG ? ReduceOp::SUM : call_.op;
    t.in = data;
    t.out =
        t.what == Collective::kReduce && rank_ != call_.root ? nullptr : data;
    t.count = reduces() ? n : n * item;
    t.peer = std::max(call_.root, 0);
    flying_.push_back({data, n, s.dtype, Request(c_, t)});
  }

  const Call& call_;
  Communicator& c_;
  const int rank_, size_;
  const std::vector<Part>& segments_;
  std::vector<Piece> flying_;
  size_t segment_ = 0;
  int64_t at_ = 0;  // elements of the segment that are begun
};

// Messages between pairs, in pieces. Each pair has its order, and pairs do not
// wait for each other.
class Pairs final : public DataPhase {
 public:
  Pairs(const Operation& op, const Buffers& buffers) : c_(op.member().data()) {
    const Member& m = op.member();
    const int me = m.rank(), root = op.call().root;
    const Collective what = op.call().what;
    const bool all = what == Collective::kAllToAll;
    for (int k = 0; k < m.size(); ++k) {
      const int r = (me + k) % m.size();
      const Part* in = buffers.in_for(r);
      const Part* out = buffers.out_for(r);
      if (what == Collective::kGather) {
        if (r != root) in = nullptr;
        if (me != root) out = nullptr;
      } else if (what == Collective::kScatter) {
        if (me != root) in = nullptr;
        if (r != root) out = nullptr;
      }
      if (r == me) {
        if (in != nullptr && out != nullptr && in->data != out->data &&
            in->bytes() > 0) {
          std::memcpy(out->data, in->data, static_cast<size_t>(in->bytes()));
        }
        continue;
      }
      const auto large = [&](const Part* p) {
        return p != nullptr && p->bytes() > 0 &&
               (!all || p->bytes() > static_cast<int64_t>(Exchange::kSmall));
      };
      if (large(out)) lanes_.push_back({out->data, out->bytes(), r, false, {}});
      if (large(in)) lanes_.push_back({in->data, in->bytes(), r, true, {}});
    }
  }

  bool advance(bool* moved) override {
    bool all = true;
    for (Lane& l : lanes_) {
      while (!l.flying.empty() && l.flying.front().test()) {
        l.flying.erase(l.flying.begin());
        *moved = true;
      }
      while (l.left > 0 && l.flying.size() < kInFlight) {
        start(l);
        *moved = true;
      }
      all &= l.flying.empty();
    }
    return all;
  }

  void abandon() noexcept override {
    for (Lane& l : lanes_) {
      for (Request& r : l.flying) r.abandon();
    }
  }

 private:
  struct Lane {
    char* data;
    int64_t left;  // bytes
    int peer;
    bool sends;
    std::vector<Request> flying;
  };

  void start(Lane& l) {
    Transfer t;
    t.what = l.sends ? Collective::kSend : Collective::kRecv;
    t.in = t.out = l.data;
    t.count = std::min(kPiece, l.left);
    t.peer = l.peer;
    t.tag = 30001;  // of no send() of a program
    l.data += t.count;
    l.left -= t.count;
    l.flying.emplace_back(c_, t);
  }

  Communicator& c_;
  std::vector<Lane> lanes_;
};

}  // namespace

std::unique_ptr<DataPhase> engine_pieces(const Operation& op,
                                         const Buffers& buffers) {
  return std::make_unique<EnginePieces>(op, buffers);
}

std::unique_ptr<DataPhase> pair_transfers(const Operation& op,
                                          const Buffers& buffers) {
  return std::make_unique<Pairs>(op, buffers);
}

}  // namespace sy::distributed
