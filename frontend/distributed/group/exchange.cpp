#include "frontend/distributed/group/exchange.h"

#include <cstdlib>
#include <cstring>

#include "c10/process/environment.h"
#include "c10/process/error.h"
#include "frontend/distributed/group/abandoned.h"

namespace sy::distributed {

namespace {

struct Header {
  uint64_t hash;
  int64_t announced;
  uint64_t bytes;  // behind the header
};

constexpr int kTag = 60002;  // of no send() of a program

// Whether data goes without a header, and nothing is compared: only to measure
// the cost of the fingerprint.
bool bare() noexcept {
  static const bool is =
      environment("SWITCHYARD_DISTRIBUTED_UNCHECKED") != nullptr;
  return is;
}

size_t header_bytes() noexcept { return bare() ? 0 : sizeof(Header); }

Header header_in(const char* buffer) {
  Header h;
  std::memcpy(&h, buffer, sizeof(h));
  return h;
}

}  // namespace

void Exchange::begin(Member& member, uint64_t hash, bool direct,
                     const std::function<Part(int)>& part,
                     const std::function<void(int, char*)>& fill) {
  member_ = &member;
  hash_ = hash;
  direct_ = direct || member.size() <= kDirect;
  Communicator& c = member.control();
  if (!direct_) {
    // All are alike if the least is also the greatest.
    const auto half = static_cast<int64_t>(hash >> 1);
    least_.reset(new int64_t[2]);
    least_[0] = half;
    least_[1] = -half;
    Transfer t;
    t.what = Collective::kAllReduce;
    t.dtype = kLong;
    t.op = ReduceOp::MIN;
    t.in = t.out = least_.get();
    t.count = 2;
    requests_.emplace_back(c, t);
    return;
  }
  const auto n = static_cast<size_t>(member.size());
  if (member.incoming.size() != n) {
    member.incoming.resize(n);
    member.outgoing.resize(n);
  }
  requests_.reserve(2 * n);
  for (int k = 1; k < member.size(); ++k) {
    // Begins with the next rank, so that not all send to the same one.
    const int r = (member.rank() + k) % member.size();
    auto& in = member.incoming[static_cast<size_t>(r)];
    auto& out = member.outgoing[static_cast<size_t>(r)];
    if (in == nullptr) {
      in.reset(new char[sizeof(Header) + kSmall]);
      out.reset(new char[sizeof(Header) + kSmall]);
    }
    Transfer recv;
    recv.what = Collective::kRecv;
    recv.out = in.get();
    recv.count = sizeof(Header) + kSmall;
    recv.peer = r;
    recv.tag = kTag;
    requests_.emplace_back(c, recv);
    const Part p = part(r);
    if (!bare()) {
      const Header h{hash, p.announced, p.bytes};
      std::memcpy(out.get(), &h, sizeof(h));
    }
    if (p.bytes > 0) fill(r, out.get() + header_bytes());
    Transfer send;
    send.what = Collective::kSend;
    send.in = out.get();
    send.count = static_cast<int64_t>(header_bytes() + p.bytes);
    send.peer = r;
    send.tag = kTag;
    requests_.emplace_back(c, send);
  }
}

bool Exchange::is_unchecked() noexcept { return bare(); }

bool Exchange::test() {
  bool all = true;
  for (Request& r : requests_) all &= r.test();
  if (!all) return false;
  requests_.clear();
  if (!direct_) {
    const auto half = static_cast<int64_t>(hash_ >> 1);
    agreed_ = least_[0] == half && least_[1] == -half;
    return true;
  }
  for (int r = 0; r < member_->size() && !bare(); ++r) {
    if (r == member_->rank()) continue;
    const Header h = header_in(member_->incoming[static_cast<size_t>(r)].get());
    agreed_ &= h.hash == hash_;
  }
  return true;
}

const char* Exchange::from(int rank) const {
  return member_->incoming[static_cast<size_t>(rank)].get() + header_bytes();
}

int64_t Exchange::announced_by(int rank) const {
  return header_in(member_->incoming[static_cast<size_t>(rank)].get())
      .announced;
}

void Exchange::abandon() noexcept {
  if (requests_.empty()) return;
  requests_.clear();
  // The engine may still write there.
  keep_for_ever(least_.release());
}

}  // namespace sy::distributed
