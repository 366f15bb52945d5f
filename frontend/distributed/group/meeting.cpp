#include "frontend/distributed/group/meeting.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "c10/process/error.h"

namespace sy::distributed {

namespace {

constexpr Milliseconds kBetweenLooks{50};

std::string key_of(const char* key) {
  std::string full = "engine/";
  return full += key;
}

std::string failed_key(const std::string& group) {
  std::string key = "not_connected/";
  return key += group;
}

}  // namespace

Meeting::Meeting(Store& store, const char* engine, int rank)
    : store_(store), engine_(engine), rank_(rank) {}

Rendezvous Meeting::rendezvous() noexcept {
  Rendezvous r;
  r.context = this;
  r.set = [](void* self, const char* key, const void* data, size_t n) {
    static_cast<Meeting*>(self)->store_.set(
        key_of(key), std::string_view(static_cast<const char*>(data), n));
  };
  r.find = [](void* self, const char* key, void* data, size_t n) {
    auto& m = *static_cast<Meeting*>(self);
    if (!m.ranks_.empty()) m.check();
    const auto value = m.store_.find(key_of(key));
    if (!value) return false;
    SY_CHECK(value->size() == n, Error,
             "[{}] connect: expected {} bytes from another rank, got {}: do "
             "all ranks use the same library?",
             m.engine_, n, value->size());
    if (n > 0) std::memcpy(data, value->data(), n);
    return true;
  };
  return r;
}

void Meeting::begin(const std::string& group, std::vector<int> ranks,
                    Milliseconds timeout) {
  group_ = group;
  ranks_ = std::move(ranks);
  timeout_ = timeout;
  next_look_ = Clock::now();
  until_ = next_look_ + timeout;
}

void Meeting::say_failed(const char* why) noexcept {
  ranks_.clear();
  try {
    const std::string key = failed_key(group_);
    if (store_.find(key)) return;  // that one was first
    std::string text = "rank ";
    text += std::to_string(rank_);
    text += ": ";
    text += why;
    store_.set(key, text);
  } catch (...) {
    // The others find out by the time-out.
  }
}

void Meeting::check() {
  const Clock::time_point now = Clock::now();
  if (now < next_look_) return;
  next_look_ = now + kBetweenLooks;
  const auto failed = store_.find(failed_key(group_));
  SY_CHECK(!failed, Error,
           "[{}] the ranks of group {} do not connect, since one cannot: {}",
           engine_, group_, *failed);
  for (const Departure& d : store_.departed()) {
    SY_CHECK(std::find(ranks_.begin(), ranks_.end(), d.rank) == ranks_.end(),
             Error, "[{}] rank {} is gone ({}) while group {} connects",
             engine_, d.rank, d.why, group_);
  }
  SY_CHECK(now < until_, Error,
           "[{}] the ranks of group {} did not connect within {} ms", engine_,
           group_, timeout_.count());
}

}  // namespace sy::distributed
