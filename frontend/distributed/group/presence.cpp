#include "frontend/distributed/group/presence.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "c10/dispatch/trace_interval.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"
#include "frontend/distributed/group/launch.h"
#include "frontend/distributed/group/watched.h"
#include "frontend/distributed/store/job_secret.h"

namespace sy::distributed {

namespace {

constexpr Milliseconds kDefaultTimeout{300'000};
constexpr double kMostSeconds = 1e9;  // 30 years
// How long rank 0 serves its store to others that have not ended.
constexpr Milliseconds kLinger{1500};
constexpr const char* kEnded = "ended";

// The key of a rank that is there for the n-th time.
std::string here(const Context::State& s, int rank) {
  std::string key = "here/";
  if (s.times_begun > 1) key += std::to_string(s.times_begun) + "/";
  return key += std::to_string(rank);
}

// Waits until all ranks have said that they are there.
void meet(Context::State& s) {
  s.store->set(here(s, s.rank), std::to_string(s.size));
  const auto until = Clock::now() + s.timeout;
  // A rank that waited in vain may be gone before the last one comes. A rank
  // that ended in order did so in a world before this one.
  for (const Departure& d : s.store->departed()) {
    const bool came = s.times_begun > 1 || s.store->find(here(s, d.rank));
    SY_CHECK(d.clean && came, Error, "[init] rank {} is gone{} ({})", d.rank,
             came ? "" : " before it called init", d.why);
  }
  for (int r = 0; r < s.size; ++r) {
    const std::string key = here(s, r);
    while (true) {
      const auto size = s.store->find(key);
      if (size) {
        SY_CHECK(*size == std::to_string(s.size), Error,
                 "[init] rank {} is in a world of {}, this rank ({}) in one of "
                 "{}: two programs use one store",
                 r, *size, s.rank, s.size);
        break;
      }
      for (const Departure& d : s.store->departed()) {
        if (d.clean && s.times_begun > 1) continue;  // it may come again
        SY_CHECK(d.rank != r, Error,
                 "[init] rank {} is gone before it called init ({})", r, d.why);
      }
      if (Clock::now() < until) {
        std::this_thread::sleep_for(Milliseconds(5));
        continue;
      }
      std::string missing;
      for (int k = 0; k < s.size; ++k) {
        if (s.store->find(here(s, k))) continue;
        if (!missing.empty()) missing += ", ";
        missing += std::to_string(k);
      }
      fail(ErrorKind::Error,
           "[init] these of {} ranks did not call init within {} ms: {}",
           s.size, s.timeout.count(), missing);
    }
  }
}

// Makes a transfer of the communicator that was there first, with a time-out.
bool run_alone(Context::State& s, const Transfer& t, Milliseconds timeout) {
  Request r(*s.base, t);
  const auto until = Clock::now() + timeout;
  while (!r.test()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

// The store of `sy launch`, else one that rank 0 serves.
void open_store(Context::State& s) {
  if (s.store != nullptr) return;
  constexpr int64_t kMost = 384;
  char where[kMost] = {};
  if (s.rank == 0) {
    const std::string host = own_address(s.size);
    const std::string secret = new_secret();
    s.server = std::make_unique<TcpStoreServer>(
        host == "127.0.0.1" ? host : "0.0.0.0", uint16_t{0}, secret);
    const std::string text =
        str("{}:{} {}", host, int{s.server->port()}, secret);
    SY_CHECK(text.size() < kMost, Error, "[init] host name too long: {}", host);
    std::memcpy(where, text.data(), text.size());
  }
  Transfer t;
  t.what = Collective::kBroadcast;
  t.in = t.out = where;
  t.count = kMost;
  SY_CHECK(run_alone(s, t, s.timeout), Error,
           "[init] rank 0 did not say within {} ms where its store is",
           s.timeout.count());
  const std::string_view text = where;
  const size_t space = text.find(' ');
  s.store = connect_store(std::string(text.substr(0, space)), s.timeout,
                          std::string(text.substr(space + 1)));
}

// The key by which a rank says that it leaves without waiting for others.
std::string broken_key(const Context::State& s) {
  std::string key = "broken/";
  return key += std::to_string(s.times_begun);
}

// Makes what the ranks need before an engine of a device connects them: it
// meets through the store, and the host's memory goes another way.
void prepare_device_engine(Context::State& s) {
  const bool threads = dynamic_cast<HashStore*>(s.store.get()) != nullptr;
  std::string prefix = "init";
  prefix += std::to_string(s.times_begun);
  s.meeting_store = std::make_shared<PrefixStore>(prefix, s.store);
  s.meeting =
      std::make_unique<Meeting>(*s.meeting_store, s.engine->name(), s.rank);
  s.engine->set_rendezvous(s.meeting->rendezvous());
  s.host = std::make_unique<HostCommunicator>(
      std::make_shared<HostMesh>(s.meeting_store, s.rank, s.size,
                                 threads ? "127.0.0.1" : own_address(s.size)));
}

void connect_engine(Context::State& s) {
  const auto connect = [engine = s.engine, rank = s.rank, size = s.size] {
    return engine->connect(rank, size);
  };
  std::vector<int> all(static_cast<size_t>(s.size));
  std::iota(all.begin(), all.end(), 0);
  if (s.meeting == nullptr) {
    const Watch watch{"init", "world", all, s.rank, s.timeout, s.store.get()};
    s.base.reset(watched(watch, connect));
    return;
  }
  s.base.reset(s.meeting->connect("world", all, s.timeout, connect));
}

// Whether all other ranks want to end as well.
bool all_leave(Context::State& s) {
  Transfer t;
  t.what = Collective::kBarrier;
  Request r(s.host_base(), t);
  constexpr Milliseconds kLook{1000};
  // Ranks that left come here; nobody is told what stops them there.
  constexpr int kMostWaits = 5;
  auto look = Clock::now() + kLook;
  int silent = 0, all_left = 0, departures = 0;
  int64_t pauses = 0;
  while (!r.test()) {
    if (++pauses > 200) std::this_thread::sleep_for(Milliseconds(1));
    std::vector<bool> left(static_cast<size_t>(s.size), false);
    const int before = std::exchange(departures, s.store->departures());
    if (departures != before && s.store->find(broken_key(s))) return false;
    for (const Departure& d : s.store->departed()) {
      if (!d.clean) return false;
      if (d.rank >= 0 && d.rank < s.size) left[size_t(d.rank)] = true;
    }
    if (Clock::now() < look) continue;
    // A rank that left waits here too; others must be able to say what they do.
    bool all_answer = true;
    for (int k = 0; k < s.size && all_answer; ++k) {
      all_answer =
          k == s.rank || left[size_t(k)] || s.store->ask(k, kLook).has_value();
    }
    silent = all_answer ? 0 : silent + 1;
    left[size_t(s.rank)] = true;
    if (std::find(left.begin(), left.end(), false) == left.end()) ++all_left;
    if (silent > 2 || all_left > kMostWaits) return false;
    look = Clock::now() + kLook;
  }
  return true;
}

}  // namespace

Milliseconds timeout_of(const InitOptions& options) {
  if (options.timeout.count() > 0) return options.timeout;
  const char* const text = environment("SWITCHYARD_DISTRIBUTED_TIMEOUT");
  if (text == nullptr) return kDefaultTimeout;
  char* end = nullptr;
  const double s = std::strtod(text, &end);
  SY_CHECK(end != text && *end == '\0' && s > 0 && s <= kMostSeconds, Value,
           "[init] SWITCHYARD_DISTRIBUTED_TIMEOUT: expected seconds, got '{}'",
           text);
  return Milliseconds(static_cast<int64_t>(s * 1000));
}

void choose_engine(Context::State& s) {
  const InitOptions& o = s.options;
  s.engine = o.with_engine;
  if (s.engine == nullptr) {
    const std::string name = engine_name(o.engine);
    if (!name.empty()) s.engine = &engine_of(name.c_str());
  }
  if (s.engine == nullptr || !s.engine->launched(&s.rank, &s.size)) {
    const bool told = s.engine != nullptr && o.rank >= 0 && o.size > o.rank;
    s.rank = told ? o.rank : 0;
    s.size = told ? o.size : 1;
  }
  SY_CHECK(o.size < 0 || o.size == s.size, Value,
           "[init] size: expected {}, as the launcher says, got {}", s.size,
           o.size);
  SY_CHECK(o.rank < 0 || o.rank == s.rank, Value,
           "[init] rank: expected {}, as the launcher says, got {}", s.rank,
           o.rank);
  if (s.size == 1) s.engine = nullptr;
}

void enter(const std::shared_ptr<Context::State>& state) {
  Context::State& s = *state;
  const auto answer = [weak = std::weak_ptr(state)]() -> std::string {
    const auto mine = weak.lock();
    return mine == nullptr ? "has ended" : mine->status();
  };
  if (s.store == nullptr) s.store = launcher_store(s.timeout);
  const bool on_device = s.engine->device_type() != static_cast<int>(kCPU);
  if (on_device && s.store == nullptr) {
    s.store = master_store(s.rank, s.timeout, &s.server);
    s.store_ends_with_rank0 = true;
  }
  if (s.store == nullptr) {
    connect_engine(s);
    open_store(s);
    s.store_ends_with_rank0 = true;
    s.store->join(s.rank, answer);
    meet(s);
    return;
  }
  s.store->join(s.rank, answer);
  std::string begun = "begun/";
  begun += std::to_string(s.rank);
  s.times_begun = s.store->add(begun, 1);
  if (on_device) prepare_device_engine(s);
  meet(s);
  connect_engine(s);
}

void say_clock(Context::State& s) {
  auto* const store = dynamic_cast<TcpStore*>(s.store.get());
  if (store == nullptr || !is_traced()) return;
  set_trace_clock_offset(std::chrono::nanoseconds(store->clock_offset()));
}

bool leave(Context::State& s, bool clean) noexcept {
  try {
    if (!clean) s.store->set(broken_key(s), "");
  } catch (...) {
    // The store is gone, and others find out.
  }
  s.store->leave();
  try {
    return clean && all_leave(s);
  } catch (...) {
    return false;
  }
}

void linger(Context::State& s, bool clean) noexcept {
  if (!s.store_ends_with_rank0 || s.store == nullptr) return;
  try {
    if (s.rank != 0) {
      if (clean) s.store->add(kEnded, 1);
      return;
    }
    const auto wait_for_others = [&] {
      if (clean) return s.server->find(kEnded) != std::to_string(s.size - 1);
      int here = s.size - 1;
      for (const Departure& d : s.store->departed()) here -= d.rank != 0;
      return here > 0;
    };
    const auto until = Clock::now() + kLinger;
    while (wait_for_others() && Clock::now() < until) {
      std::this_thread::sleep_for(Milliseconds(clean ? 1 : 10));
    }
  } catch (...) {
    // Then there is nothing left to say.
  }
}

}  // namespace sy::distributed
