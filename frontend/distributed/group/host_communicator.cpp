#include "frontend/distributed/group/host_communicator.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "c10/process/error.h"
#include "frontend/distributed/group/abandoned.h"
#include "frontend/distributed/group/call.h"

namespace sy::distributed {

// A transfer: messages, and for some a next step when they are done.
struct HostCommunicator::Request {
  virtual ~Request() = default;
  // Begins further messages; false: there are none.
  virtual bool next() { return false; }
  std::vector<HostMesh::Handle> messages;
};

namespace {

int64_t bytes_of(const Transfer& t) {
  return t.count * static_cast<int64_t>(element_size(t.dtype));
}

std::vector<int> all_of(int size) {
  std::vector<int> ranks(static_cast<size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

// broadcast: each rank that has the data sends it to half of those that are
// left.
class HostCommunicator::Spread final : public Request {
 public:
  Spread(HostCommunicator& c, const Transfer& t)
      : c_(c),
        line_(c.next_line()),
        data_(t.out != nullptr ? t.out : const_cast<void*>(t.in)),
        bytes_(bytes_of(t)),
        root_(t.peer) {
    const int n = c.size();
    place_ = (c.rank() - root_ + n) % n;
    if (place_ == 0) {
      if (t.in != nullptr && t.in != t.out && t.out != nullptr && bytes_ > 0) {
        std::memcpy(t.out, t.in, static_cast<size_t>(bytes_));
      }
      while (reach_ < n) reach_ *= 2;
      return;
    }
    reach_ = place_ & -place_;
    messages.push_back(
        c.receive(rank_at(place_ - reach_), line_, data_, bytes_));
  }

  bool next() override {
    if (std::exchange(sent_, true)) return false;
    for (int far = reach_ / 2; far > 0; far /= 2) {
      if (place_ + far >= c_.size()) continue;
      messages.push_back(c_.send(rank_at(place_ + far), line_, data_, bytes_));
    }
    return true;
  }

 private:
  int rank_at(int place) const { return (place + root_) % c_.size(); }

  HostCommunicator& c_;
  const HostMesh::Line line_;
  void* const data_;
  const int64_t bytes_;
  const int root_;
  int place_ = 0, reach_ = 1;
  bool sent_ = false;
};

// The least of all ranks' numbers: in every round a rank hears of twice as many
// ranks as before. A barrier is that of no numbers.
class HostCommunicator::Least final : public Request {
 public:
  Least(HostCommunicator& c, const Transfer& t)
      : c_(c), line_(c.next_line()), out_(static_cast<int64_t*>(t.out)) {
    if (t.what == Collective::kBarrier || t.count == 0) return;
    const auto* const in = static_cast<const int64_t*>(t.in);
    least_.assign(in, in + t.count);
  }

  bool next() override {
    for (size_t i = 0; far_ > 1 && i < least_.size(); ++i) {
      least_[i] = std::min(least_[i], came_[i]);
    }
    const int n = c_.size();
    if (far_ >= n) {
      std::copy(least_.begin(), least_.end(), out_);
      return false;
    }
    sent_ = least_;
    came_.resize(least_.size());
    const auto bytes = static_cast<int64_t>(least_.size() * sizeof(int64_t));
    line_.tag = far_;
    messages.push_back(
        c_.send((c_.rank() + far_) % n, line_, sent_.data(), bytes));
    messages.push_back(
        c_.receive((c_.rank() - far_ % n + n) % n, line_, came_.data(), bytes));
    far_ *= 2;
    return true;
  }

 private:
  HostCommunicator& c_;
  HostMesh::Line line_;
  int64_t* const out_;
  int far_ = 1;
  std::vector<int64_t> least_, sent_, came_;
};

HostCommunicator::HostCommunicator(std::shared_ptr<HostMesh> mesh,
                                   std::vector<int> ranks, uint64_t number)
    : mesh_(std::move(mesh)), ranks_(std::move(ranks)), number_(number) {
  const auto me = std::find(ranks_.begin(), ranks_.end(), mesh_->rank());
  SY_CHECK(me != ranks_.end(), Value,
           "[distributed] split: expected rank {} among the ranks",
           mesh_->rank());
  rank_ = static_cast<int>(me - ranks_.begin());
}

HostCommunicator::HostCommunicator(std::shared_ptr<HostMesh> mesh)
    : HostCommunicator(mesh, all_of(mesh->size()), 1) {}

bool HostCommunicator::supports(Collective what, ScalarType dtype,
                                ReduceOp op) const noexcept {
  switch (what) {
    case Collective::kAllReduce:
      return dtype == ScalarType::Long && op == ReduceOp::MIN;
    case Collective::kReduce:
    case Collective::kReduceScatter:
    case Collective::kGather:
    case Collective::kScatter: return false;
    default: return true;
  }
}

HostMesh::Line HostCommunicator::next_line() {
  return {mixed(number_, ++collectives_), 0};
}

HostMesh::Handle HostCommunicator::send(int to, const HostMesh::Line& line,
                                        const void* data, int64_t bytes) {
  return mesh_->send(ranks_[static_cast<size_t>(to)], line, data,
                     static_cast<size_t>(bytes));
}

HostMesh::Handle HostCommunicator::receive(int from, const HostMesh::Line& line,
                                           void* data, int64_t bytes) {
  return mesh_->receive(ranks_[static_cast<size_t>(from)], line, data,
                        static_cast<size_t>(bytes));
}

// all_gather and all_to_all: what each rank gets goes to it directly.
void HostCommunicator::begin_all(const Transfer& t, Request& r) {
  const HostMesh::Line line = next_line();
  const bool gathers = t.what == Collective::kAllGather;
  const auto item = static_cast<int64_t>(element_size(t.dtype));
  const char* in = static_cast<const char*>(t.in);
  char* out = static_cast<char*>(t.out);
  if (gathers && t.in == t.out) in += rank_ * bytes_of(t);
  for (int k = 0; k < size(); ++k) {
    const int64_t gives = gathers ? bytes_of(t) : t.in_counts[k] * item;
    const int64_t takes = gathers ? bytes_of(t) : t.out_counts[k] * item;
    if (k != rank_) {
      if (takes > 0) r.messages.push_back(receive(k, line, out, takes));
      if (gives > 0) r.messages.push_back(send(k, line, in, gives));
    } else if (takes > 0 && in != out) {
      std::memcpy(out, in, static_cast<size_t>(takes));
    }
    out += takes;
    if (!gathers) in += gives;
  }
}

void* HostCommunicator::begin(const Transfer& t) {
  std::unique_ptr<Request> r;
  switch (t.what) {
    case Collective::kBarrier: r = std::make_unique<Least>(*this, t); break;
    case Collective::kAllReduce:
      SY_CHECK(supports(t.what, t.dtype, t.op), NotImplemented,
               "[distributed] all_reduce of the host: expected the minimum of "
               "int64, got that of {}",
               dtype_name(t.dtype));
      r = std::make_unique<Least>(*this, t);
      break;
    case Collective::kBroadcast: r = std::make_unique<Spread>(*this, t); break;
    case Collective::kSend:
    case Collective::kRecv: {
      SY_CHECK(t.peer >= 0 && t.peer < size() && t.peer != rank_, Value,
               "[distributed] message: expected another rank below {}, got {}",
               size(), t.peer);
      r = std::make_unique<Request>();
      const HostMesh::Line line{number_, t.tag};
      r->messages.push_back(t.what == Collective::kSend
                                ? send(t.peer, line, t.in, bytes_of(t))
                                : receive(t.peer, line, t.out, bytes_of(t)));
      break;
    }
    case Collective::kAllGather:
    case Collective::kAllToAll:
      r = std::make_unique<Request>();
      begin_all(t, *r);
      break;
    default:
      sy::fail(ErrorKind::NotImplemented,
               "[distributed] the host has no transfer of this kind");
  }
  return r.release();
}

bool HostCommunicator::test(void* request, size_t* received) {
  auto* const r = static_cast<Request*>(request);
  const auto done = [&] {
    return std::all_of(r->messages.begin(), r->messages.end(),
                       [](const auto& m) { return m->done; });
  };
  do {
    if (!done()) mesh_->progress();
    if (!done()) return false;
    size_t bytes = 0;
    for (const HostMesh::Handle& m : r->messages) {
      SY_CHECK(m->error.empty(), Error, "[distributed] message: {}", m->error);
      bytes = m->bytes;
    }
    if (received != nullptr) *received = bytes;
    r->messages.clear();
  } while (r->next());
  delete r;
  return true;
}

void HostCommunicator::abandon(void* request) noexcept {
  // Messages still use what it holds.
  keep_for_ever(request);
}

Communicator* HostCommunicator::split(const int* ranks, int n, int tag) {
  uint64_t number = mixed(number_, static_cast<uint64_t>(tag));
  std::vector<int> of_world;
  for (int i = 0; i < n; ++i) {
    of_world.push_back(ranks_[static_cast<size_t>(ranks[i])]);
    number = mixed(number, static_cast<uint64_t>(of_world.back()));
  }
  // The same again is another one, on all its ranks alike.
  number = mixed(number, static_cast<uint64_t>(splits_[number]++));
  return new HostCommunicator(mesh_, std::move(of_world), number);
}

}  // namespace sy::distributed
