#include "c10/dispatch/capture.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "c10/dispatch/thread_state.h"

namespace sy {

CaptureHooks::CaptureHooks()
    : number_([] {
        static std::atomic<uint64_t> last{0};
        return ++last;
      }()) {}
CaptureHooks::~CaptureHooks() = default;
void CaptureHooks::on_note(const CaptureNote&) {}
Dependence::~Dependence() = default;

void tell_capture(const CaptureNote& note) {
  if (thread_state.capture != nullptr) thread_state.capture->on_note(note);
}
void tell_capture_acts(const char* what) {
  if (thread_state.capture != nullptr) {
    tell_capture({CaptureNote::kActs, what});
  }
}

// Watched memory may lie between variables, where a sanitizer lets nobody read,
// and its neighbours may belong to other threads.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("address", "thread"), noinline)) void
WatchedBytes::take(const void* from, void* to, size_t bytes) noexcept {
  const auto* const a = static_cast<const volatile unsigned char*>(from);
  for (size_t i = 0; i < bytes; ++i) static_cast<unsigned char*>(to)[i] = a[i];
}
#else
void WatchedBytes::take(const void* from, void* to, size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}
#endif

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
bool same(const unsigned char* at, const std::vector<unsigned char>& was) {
  std::vector<unsigned char> now(was.size());
  WatchedBytes::take(at, now.data(), now.size());
  return now == was;
}
#else
bool same(const unsigned char* at, const std::vector<unsigned char>& was) {
  return std::memcmp(at, was.data(), was.size()) == 0;
}
#endif

}  // namespace

WatchedBytes::WatchedBytes(const void* at, size_t bytes)
    : at_(static_cast<const unsigned char*>(at)), was_(bytes) {
  take(at_, was_.data(), bytes);
}

bool WatchedBytes::had(const void* pointer) const {
  for (size_t i = 0; i + sizeof pointer <= was_.size(); i += sizeof pointer) {
    if (std::memcmp(was_.data() + i, &pointer, sizeof pointer) == 0)
      return true;
  }
  return false;
}

bool WatchedBytes::hold() const {
  return same(at_, was_) || (!ignored_.empty() && hold_but_for_ignored());
}

std::vector<bool> WatchedBytes::difference() const {
  std::vector<unsigned char> now(was_.size());
  take(at_, now.data(), now.size());
  std::vector<bool> differ((was_.size() + kUnit - 1) / kUnit);
  for (size_t i = 0; i < was_.size(); ++i) {
    if (now[i] != was_[i]) differ[i / kUnit] = true;
  }
  return differ;
}

bool WatchedBytes::hold_but_for_ignored() const {
  const std::vector<bool> differ = difference();
  for (size_t i = 0; i < differ.size(); ++i) {
    if (differ[i] && !ignored_[i]) return false;
  }
  return true;
}

void WatchedBytes::note_difference() { differ_ = difference(); }

void WatchedBytes::accept() {
  if (differ_.empty()) return;
  ignored_.resize(differ_.size());
  for (size_t i = 0; i < differ_.size(); ++i) {
    ignored_[i] = ignored_[i] || differ_[i];
  }
  differ_.clear();
}

}  // namespace sy
