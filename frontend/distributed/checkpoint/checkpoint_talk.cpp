#include "frontend/distributed/checkpoint/checkpoint_talk.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "aten/ops/factory.h"
#include "c10/process/error.h"
#include "frontend/distributed/context.h"

namespace sy::distributed {

namespace {

// The most bytes of an error that goes to other ranks, and the most ranks whose
// errors a message has.
constexpr size_t kLongestError = 1000;
constexpr int kMostErrors = 3;

// As many bytes as the longest text has: its length, then itself.
Tensor bytes_of(const std::string& text, int64_t longest) {
  const Tensor t =
      zeros({longest + static_cast<int64_t>(sizeof(int64_t))}, kByte);
  auto* const to = static_cast<char*>(t.mutable_data_ptr());
  const auto size = static_cast<int64_t>(text.size());
  std::memcpy(to, &size, sizeof size);
  std::copy(text.begin(), text.end(), to + sizeof size);
  return t;
}

std::string text_of(const Tensor& bytes) {
  const auto* const from = static_cast<const char*>(bytes.const_data_ptr());
  int64_t size = 0;
  std::memcpy(&size, from, sizeof size);
  return {from + sizeof size, static_cast<size_t>(size)};
}

}  // namespace

Talk::Talk(const char* op, std::shared_ptr<ProcessGroup> group)
    : op_(op), group_(std::move(group)) {
  if (group_ == nullptr) {
    if (Context::current() == nullptr) init();
    // One process goes on alone if there is no world any more.
    if (is_initialized() || Context::current()->size() > 1) group_ = world();
  }
  if (group_ != nullptr && group_->size() == 1) group_ = nullptr;
}

int Talk::rank() const noexcept {
  return group_ == nullptr ? 0 : group_->rank();
}

int Talk::size() const noexcept {
  return group_ == nullptr ? 1 : group_->size();
}

int64_t Talk::most(int64_t own) const {
  const Tensor t = full({}, own, kLong);
  group_->allreduce(t, ReduceOp::MAX);
  return t.item<int64_t>();
}

void Talk::step(const std::function<void()>& f) const {
  if (group_ == nullptr) return f();
  std::exception_ptr own;
  std::string text;
  try {
    f();
  } catch (const std::exception& e) {
    own = std::current_exception();
    text = e.what();
    text.resize(std::min(text.size(), kLongestError));
    if (text.empty()) text = "an error without a text";
  }
  const CallLabel label(op_);
  const int64_t longest = most(static_cast<int64_t>(text.size()));
  if (longest == 0) return;
  std::vector<Tensor> all;
  const Tensor in = bytes_of(text, longest);
  for (int r = 0; r < size(); ++r) all.push_back(empty_like(in));
  group_->allgather(all, in);
  if (own != nullptr) std::rethrow_exception(own);
  std::string message;
  int failed = 0;
  for (int r = 0; r < size(); ++r) {
    const std::string theirs = text_of(all[static_cast<size_t>(r)]);
    if (theirs.empty() || ++failed > kMostErrors) continue;
    message += str("{}rank {}: {}", failed > 1 ? "\n" : "", r, theirs);
  }
  if (failed > kMostErrors) {
    message += str("\nand {} more ranks", failed - kMostErrors);
  }
  throw Error(str("[{}] {}", op_, message));
}

std::string Talk::from_root(const std::string& text) const {
  if (group_ == nullptr) return text;
  const CallLabel label(op_);
  const int64_t longest =
      most(rank() == 0 ? static_cast<int64_t>(text.size()) : 0);
  const Tensor t = bytes_of(rank() == 0 ? text : "", longest);
  group_->broadcast(t, 0);
  return text_of(t);
}

std::vector<std::string> Talk::to_root(const std::string& text) const {
  if (group_ == nullptr) return {text};
  const CallLabel label(op_);
  const int64_t longest = most(static_cast<int64_t>(text.size()));
  const Tensor in = bytes_of(text, longest);
  std::vector<Tensor> all;
  for (int r = 0; rank() == 0 && r < size(); ++r) all.push_back(empty_like(in));
  group_->gather(all, in, 0);
  std::vector<std::string> texts;
  for (const Tensor& t : all) texts.push_back(text_of(t));
  return texts;
}

}  // namespace sy::distributed
