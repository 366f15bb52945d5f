#include "frontend/distributed/context.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "c10/process/error.h"
#include "frontend/distributed/group/abandoned.h"
#include "frontend/distributed/group/collective_op.h"
#include "frontend/distributed/group/presence.h"
#include "frontend/distributed/group/state.h"

namespace sy::distributed {

namespace {

// The caller has the lock of the Progress.
void fail_all(Context::State& s, std::exception_ptr error) {
  s.broken = true;
  const std::lock_guard guard(s.groups_lock);
  for (const auto& [name, group] : s.groups) group->member()->fail(error);
}

}  // namespace

Context::Context(const InitOptions& options)
    : state_(std::make_shared<State>()) {
  check_not_forked();
  State& s = *state_;
  s.owner = this;
  s.options = options;
  s.store = options.store;
  s.timeout = timeout_of(options);
  choose_engine(s);
  std::vector<int> all(static_cast<size_t>(s.size));
  std::iota(all.begin(), all.end(), 0);
  try {
    if (s.engine != nullptr) enter(state_);
    if (s.store == nullptr) s.store = std::make_shared<HashStore>();
    say_clock(s);
    const auto member = std::make_shared<Member>(state_, "world", all, s.rank);
    if (s.engine != nullptr) member->connect(*s.base, 0);
    s.progress.add_member(member);
    s.world = std::make_shared<ProcessGroup>(member);
    s.groups["world"] = s.world;
  } catch (...) {
    // The engine may still be in it.
    keep_for_ever(s.base.release());
    linger(s, false);
    throw;
  }
}

Context::~Context() { destroy(std::uncaught_exceptions() == 0); }

int Context::rank() const noexcept { return state_->rank; }
int Context::size() const noexcept { return state_->size; }
Store& Context::store() const noexcept { return *state_->store; }
const std::shared_ptr<ProcessGroup>& Context::world() const noexcept {
  return state_->world;
}

std::shared_ptr<ProcessGroup> Context::group(std::string_view name) const {
  check_not_forked();
  const State& s = *state_;
  const std::lock_guard guard(s.groups_lock);
  const auto it = s.groups.find(name.empty() ? "world" : name);
  if (it != s.groups.end()) return it->second;
  std::string names;
  for (const auto& [n, g] : s.groups) {
    names += names.empty() ? "" : ", ";
    names += n;
  }
  fail(ErrorKind::Value,
       "[distributed] group: rank {} is in no group named '{}'; its groups: {}",
       s.rank, name, names.empty() ? "none" : names);
}

std::shared_ptr<ProcessGroup> Context::new_group(std::vector<int> ranks,
                                                 std::string name,
                                                 Milliseconds timeout) {
  check_not_forked();
  State& s = *state_;
  SY_CHECK(!s.destroyed, Error,
           "[new_group] destroy_process_group() was called");
  const std::shared_ptr<Member>& world = s.world->member();
  const int number = ++s.groups_made;
  if (name.empty()) name = "group" + std::to_string(number);
  std::string about = "name ";
  about += name;
  about += ", ranks";
  for (const int r : ranks) about += " " + std::to_string(r);
  try {
    SY_CHECK(!ranks.empty(), Value, "[new_group] ranks: expected at least one");
    for (size_t i = 0; i < ranks.size(); ++i) {
      SY_CHECK(ranks[i] >= 0 && ranks[i] < s.size, Value,
               "[new_group] ranks: expected 0 to {}, got {}", s.size - 1,
               ranks[i]);
      SY_CHECK(i == 0 || ranks[i] > ranks[i - 1], Value,
               "[new_group] ranks: expected increasing numbers, got {} after "
               "{}",
               ranks[i], ranks[i - 1]);
    }
    const std::lock_guard guard(s.groups_lock);
    SY_CHECK(s.groups.find(name) == s.groups.end(), Value,
             "[new_group] name: there is a group named {}", name);
  } catch (const Error& e) {
    try {
      agree(world, "new_group", about, e.message());
    } catch (const Error&) {
      // The world has failed: then nobody waits.
    }
    throw;
  }
  agree(world, "new_group", about, "");
  const auto me = std::find(ranks.begin(), ranks.end(), s.rank);
  if (me == ranks.end()) return nullptr;
  const int rank = static_cast<int>(me - ranks.begin());
  const auto member = std::make_shared<Member>(state_, name, ranks, rank);
  if (timeout.count() > 0) member->timeout_ms = timeout.count();
  {
    const std::lock_guard guard(s.progress.lock());
    try {
      if (s.engine != nullptr) member->connect(*s.base, number);
    } catch (...) {
      // The engine may still be in it: nobody may use it now.
      fail_all(s, std::current_exception());
      throw;
    }
    s.progress.add_member(member);
  }
  auto group = std::make_shared<ProcessGroup>(member);
  const std::lock_guard guard(s.groups_lock);
  s.groups[name] = group;
  return group;
}

void Context::destroy(bool clean) noexcept {
  State& s = *state_;
  if (is_forked()) {
    s.progress.forget_thread();
    return;
  }
  if (s.destroyed.exchange(true)) return;
  s.note_last_words();
  std::map<std::string, std::shared_ptr<ProcessGroup>, std::less<>> groups;
  {
    const std::lock_guard guard(s.groups_lock);
    groups.swap(s.groups);
  }
  {
    const std::lock_guard guard(s.progress.lock());
    for (const auto& [name, group] : groups) {
      group->member()->close();
      s.progress.remove_member(*group->member());
    }
  }
  s.progress.stop();
  if (s.engine != nullptr && s.base != nullptr) {
    clean = leave(s, clean && !s.broken);
    for (const auto& [name, group] : groups) {
      group->member()->disconnect(clean);
    }
    if (clean) {
      s.base.reset();
    } else {
      keep_for_ever(s.base.release());
    }
    s.host.reset();
    s.engine->shutdown(clean);
    linger(s, clean);
  }
  s.world.reset();
}

}  // namespace sy::distributed
