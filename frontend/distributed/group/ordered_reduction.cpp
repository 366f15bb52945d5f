#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "frontend/distributed/group/collective_op.h"
#include "frontend/distributed/group/reduce.h"

// Reductions in the order of ranks. Each rank adds a part of every piece: parts
// go to their rank, are added there from rank 0 on, and come back. So an
// element's result depends on the ranks' elements alone, for any dtype.

namespace sy::distributed {

namespace {

constexpr int64_t kPiece = int64_t{1} << 20;

class OrderedReduction final : public DataPhase {
 public:
  OrderedReduction(const Operation& op, const Buffers& buffers)
      : call_(op.call()),
        c_(op.member().data()),
        rank_(op.member().rank()),
        size_(op.member().size()),
        buffers_(buffers) {}

  bool advance(bool* moved) override {
    for (;;) {
      if (!request_.test()) return false;
      *moved = true;
      switch (phase_) {
        case Phase::kNext:
          if (!next()) return true;
          break;
        case Phase::kAdd: add(); break;
        case Phase::kBack: back(); break;
      }
    }
  }

  void abandon() noexcept override { request_.abandon(); }

 private:
  enum class Phase : uint8_t { kNext, kAdd, kBack };

  bool scatters() const { return call_.what == Collective::kReduceScatter; }
  int64_t item() const {
    return static_cast<int64_t>(element_size(now_.dtype));
  }
  char* part(std::vector<char>& v, int r) const {
    return v.data() + r * each_ * item();
  }

  // Sends the parts of the next piece. False: there is none.
  bool next() {
    if (scatters()) {
      now_ = buffers_.out[0];
    } else {
      while (segment_ < buffers_.segments.size() &&
             at_ == buffers_.segments[segment_].count) {
        ++segment_;
        at_ = 0;
      }
      if (segment_ == buffers_.segments.size()) return false;
      now_ = buffers_.segments[segment_];
    }
    const int64_t most =
        std::max<int64_t>(kPiece / item() / (scatters() ? size_ : 1), 1);
    count_ = std::min(most, now_.count - at_);
    if (count_ == 0) return false;
    each_ = scatters() ? count_ : (count_ + size_ - 1) / size_;
    const auto bytes =
        static_cast<size_t>(each_ * item()) * static_cast<size_t>(size_);
    out_.resize(std::max(out_.size(), bytes));
    in_.resize(std::max(in_.size(), bytes));
    for (int r = 0; r < size_; ++r) {
      const auto [from, n] = piece_for(r);
      if (n > 0) {
        std::memcpy(part(out_, r), from, static_cast<size_t>(n * item()));
      }
    }
    counts_.assign(static_cast<size_t>(size_), each_ * item());
    Transfer t;
    t.what = Collective::kAllToAll;
    t.in = out_.data();
    t.out = in_.data();
    t.in_counts = t.out_counts = counts_.data();
    request_ = Request(c_, t);
    phase_ = Phase::kAdd;
    return true;
  }

  // The first of the elements that rank `r` adds, and their number.
  std::pair<char*, int64_t> piece_for(int r) const {
    if (scatters()) {
      return {buffers_.in_for(r)->data + at_ * item(), count_};
    }
    const int64_t begin = std::min(r * each_, count_);
    return {now_.data + (at_ + begin) * item(),
            std::min(each_, count_ - begin)};
  }

  void add() {
    const int64_t n = piece_for(rank_).second;
    char* const sum = in_.data();  // rank 0's
    for (int r = 1; r < size_; ++r) {
      reduce_into(sum, part(in_, r), n, now_.dtype, call_.op);
    }
    if (call_.op == ReduceOp::AVG) divide(sum, n, now_.dtype, size_);
    if (scatters()) {
      if (n > 0) {
        std::memcpy(now_.data + at_ * item(), sum,
                    static_cast<size_t>(n * item()));
      }
      at_ += count_;
      phase_ = Phase::kNext;
      return;
    }
    Transfer t;
    t.what = Collective::kAllGather;
    t.in = sum;
    t.out = out_.data();
    t.count = each_ * item();
    request_ = Request(c_, t);
    phase_ = Phase::kBack;
  }

  void back() {
    if (call_.what != Collective::kReduce || rank_ == call_.root) {
      for (int r = 0; r < size_; ++r) {
        const auto [to, n] = piece_for(r);
        if (n > 0) {
          std::memcpy(to, part(out_, r), static_cast<size_t>(n * item()));
        }
      }
    }
    at_ += count_;
    phase_ = Phase::kNext;
  }

  const Call& call_;
  Communicator& c_;
  const int rank_, size_;
  const Buffers& buffers_;
  Phase phase_ = Phase::kNext;
  Request request_;
  Part now_;
  size_t segment_ = 0;
  int64_t at_ = 0, count_ = 0, each_ = 0;
  std::vector<char> out_, in_;
  std::vector<int64_t> counts_;
};

}  // namespace

std::unique_ptr<DataPhase> ordered_reduction(const Operation& op,
                                             const Buffers& buffers) {
  return std::make_unique<OrderedReduction>(op, buffers);
}

}  // namespace sy::distributed
