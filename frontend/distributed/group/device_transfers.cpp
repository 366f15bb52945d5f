#include <utility>
#include <vector>

#include "frontend/distributed/group/collective_op.h"

// Collectives of a device's memory, as the engine does them.

namespace sy::distributed {

namespace {

class DeviceTransfers final : public DataPhase {
 public:
  DeviceTransfers(const Operation& op, const Buffers& buffers)
      : op_(op), buffers_(buffers) {}

  bool advance(bool* moved) override {
    if (!begun_) {
      for (const Event& e : op_.before) {
        if (!e.is_done()) return false;
      }
      begin();
      *moved = begun_ = true;
    }
    std::erase_if(requests_, [&](Request& r) {
      const bool done = r.test();
      *moved |= done;
      return done;
    });
    return requests_.empty();
  }

  void abandon() noexcept override {
    for (Request& r : requests_) r.abandon();
  }

 private:
  void begin() {
    const Call& call = op_.call();
    const int me = op_.member().rank();
    Transfer t;
    t.what = call.what;
    t.op = call.op == ReduceOp::AVG ? ReduceOp::SUM : call.op;
    t.peer = call.root < 0 ? 0 : call.root;
    for (const Part& p : buffers_.segments) {
      const bool gets = call.what != Collective::kReduce || me == call.root;
      t.in = p.data;
      t.out = gets ? p.data : nullptr;
      add(t, p);
    }
    if (!buffers_.segments.empty()) return;
    const Part* const in = buffers_.in.empty() ? nullptr : buffers_.in.data();
    const Part* const out =
        buffers_.out.empty() ? nullptr : buffers_.out.data();
    t.in = in != nullptr ? in->data : nullptr;
    t.out = out != nullptr ? out->data : nullptr;
    if (call.what == Collective::kAllToAll) {
      for (const Part& p : buffers_.in) in_counts_.push_back(p.count);
      for (const Part& p : buffers_.out) out_counts_.push_back(p.count);
      t.in_counts = in_counts_.data();
      t.out_counts = out_counts_.data();
    }
    // One rank's part.
    add(t, call.what == Collective::kScatter ||
                   call.what == Collective::kReduceScatter
               ? *out
               : *in);
  }

  void add(Transfer t, const Part& p) {
    t.dtype = p.dtype;
    t.count = p.count;
    Request r(*op_.member().device_data(), t);
    if (!r.done()) requests_.push_back(std::move(r));
  }

  const Operation& op_;
  const Buffers& buffers_;
  bool begun_ = false;
  std::vector<int64_t> in_counts_, out_counts_;
  std::vector<Request> requests_;
};

}  // namespace

std::unique_ptr<DataPhase> device_transfers(const Operation& op,
                                            const Buffers& buffers) {
  return std::make_unique<DeviceTransfers>(op, buffers);
}

}  // namespace sy::distributed
