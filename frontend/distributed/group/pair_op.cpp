#include "frontend/distributed/group/pair_op.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "c10/process/error.h"
#include "frontend/distributed/group/abandoned.h"

namespace sy::distributed {

namespace {

constexpr size_t kText = 400;  // most bytes of what a rank calls
constexpr int64_t kPiece = int64_t{1} << 20;

struct Word {
  uint64_t hash;
  int64_t bytes;  // of the data, with the word or after it
  uint64_t text;
};

constexpr size_t kMost = sizeof(Word) + kText + Exchange::kSmall;

}  // namespace

PairOp::PairOp(std::shared_ptr<Member> member, Call call, Part part)
    : Operation(std::move(member), std::move(call)), part_(part) {}

// Whether the data comes along with the word.
bool PairOp::is_small() const noexcept {
  return call().device == kCPU &&
         part_.bytes() <= static_cast<int64_t>(Exchange::kSmall);
}

void PairOp::begin() {
  const std::string text = call().full_text().substr(0, kText);
  // The label is not compared: it is one rank's.
  uint64_t hash = mixed(call().tensors_hash, static_cast<uint64_t>(call().tag));
  if (call().device != kCPU) {
    hash = mixed(hash, static_cast<uint64_t>(call().device));
  }
  if (!call().refused.empty()) hash = ~hash;
  const Word w{hash, part_.bytes(), text.size()};
  out_.reset(new char[kMost]);
  in_.reset(new char[kMost]);
  char* to = out_.get();
  std::memcpy(to, &w, sizeof(w));
  std::memcpy(to + sizeof(w), text.data(), text.size());
  int64_t bytes = static_cast<int64_t>(sizeof(w) + text.size());
  if (sends() && call().refused.empty() && is_small() && w.bytes > 0) {
    std::memcpy(to + bytes, part_.data, static_cast<size_t>(w.bytes));
    bytes += w.bytes;
  }
  Transfer recv;
  recv.what = Collective::kRecv;
  recv.out = in_.get();
  recv.count = kMost;
  recv.peer = call().root;
  // A rank may send to, and receive from, one rank with one tag.
  recv.tag = 2 * call().tag + (sends() ? 1 : 0);
  requests_.emplace_back(member().control(), recv);
  Transfer send;
  send.what = Collective::kSend;
  send.in = to;
  send.count = bytes;
  send.peer = call().root;
  send.tag = 2 * call().tag + (sends() ? 0 : 1);
  requests_.emplace_back(member().control(), send);
}

std::exception_ptr PairOp::compare() const {
  Word mine, other;
  std::memcpy(&mine, out_.get(), sizeof(mine));
  std::memcpy(&other, in_.get(), sizeof(other));
  if (mine.hash == other.hash && mine.bytes == other.bytes) return nullptr;
  std::string s = "[";
  s += call().name;
  s += "] of group ";
  s += member().name();
  s += ": the ranks disagree\n  ";
  s += member().name_of(member().rank());
  s += ": ";
  s.append(out_.get() + sizeof(Word), mine.text);
  s += "\n  ";
  s += member().name_of(call().root);
  s += ": ";
  s.append(in_.get() + sizeof(Word), std::min<uint64_t>(other.text, kText));
  return std::make_exception_ptr(Error(std::move(s)));
}

bool PairOp::advance(bool* moved) {
  if (phase_ == Phase::kBegin) {
    if (!member().is_next_beside(*this)) return false;
    begin();
    *moved = true;
    phase_ = Phase::kCompare;
  }
  if (phase_ == Phase::kCompare) {
    bool all = true;
    for (Request& r : requests_) all &= r.test();
    if (!all) return false;
    *moved = true;
    requests_.clear();
    if (auto error = compare()) {
      end(std::move(error));
      return true;
    }
    if (is_small()) {
      Word other;
      std::memcpy(&other, in_.get(), sizeof(other));
      if (!sends() && part_.bytes() > 0) {
        std::memcpy(part_.data, in_.get() + sizeof(other) + other.text,
                    static_cast<size_t>(part_.bytes()));
      }
      return true;
    }
    phase_ = Phase::kData;
  }
  while (!requests_.empty() && requests_.front().test()) {
    requests_.erase(requests_.begin());
    *moved = true;
  }
  const bool on_device = call().device != kCPU;
  for (const Event& e : before) {
    if (!e.is_done()) return false;
  }
  while (requests_.size() < 2 && moved_ < part_.bytes()) {
    Transfer t;
    t.what = call().what;
    t.in = t.out = part_.data + moved_;
    t.count = part_.bytes() - moved_;
    if (!on_device) t.count = std::min(kPiece, t.count);
    t.peer = call().root;
    t.tag = call().tag;
    moved_ += t.count;
    requests_.emplace_back(
        on_device ? *member().device_data() : member().data(), t);
    *moved = true;
  }
  return requests_.empty();
}

void PairOp::abandon() noexcept {
  if (requests_.empty()) return;
  for (Request& r : requests_) r.abandon();
  requests_.clear();
  // The engine may still use them.
  keep_for_ever(out_.release());
  keep_for_ever(in_.release());
  try {
    keep_for_ever(new std::vector<Tensor>(keep));
  } catch (...) {
    std::abort();
  }
}

}  // namespace sy::distributed
