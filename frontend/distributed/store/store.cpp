#include "frontend/distributed/store/store.h"

#include <utility>

#include "c10/process/error.h"
#include "frontend/distributed/store/store_state.h"

namespace sy::distributed {

Store::~Store() = default;

void Store::wait(const std::vector<std::string>& keys, Milliseconds timeout) {
  const auto deadline = deadline_after(timeout);
  size_t there = 0;
  try {
    for (; there < keys.size(); ++there) get(keys[there], left_until(deadline));
    return;
  } catch (const Error&) {
    // An error before the deadline is that of a store that is gone, not of a
    // key.
    if (left_until(deadline) > Milliseconds(0)) throw;
  }
  std::string missing;
  for (; there < keys.size(); ++there) {
    if (find(keys[there])) continue;
    if (!missing.empty()) missing += ", ";
    missing += quoted(keys[there]);
  }
  SY_CHECK(missing.empty(), Error,
           "[distributed] wait: within {} s nobody has set {}",
           seconds(timeout), missing);
}

PrefixStore::PrefixStore(std::string prefix, std::shared_ptr<Store> store)
    : prefix_(std::move(prefix)), store_(std::move(store)) {
  SY_CHECK(store_ != nullptr, Value,
           "[distributed] PrefixStore store: expected a store, got nullptr");
  prefix_ += '/';
  set_timeout(store_->timeout());
}

std::string PrefixStore::full(std::string_view key) const {
  std::string out = prefix_;
  out += key;
  return out;
}

void PrefixStore::set(std::string_view key, std::string_view value) {
  store_->set(full(key), value);
}

std::string PrefixStore::get(std::string_view key, Milliseconds timeout) {
  return store_->get(full(key), timeout);
}

std::optional<std::string> PrefixStore::find(std::string_view key) {
  return store_->find(full(key));
}

int64_t PrefixStore::add(std::string_view key, int64_t by) {
  return store_->add(full(key), by);
}

bool PrefixStore::remove(std::string_view key) {
  return store_->remove(full(key));
}

void PrefixStore::join(int rank, std::function<std::string()> answer) {
  store_->join(rank, std::move(answer));
}

void PrefixStore::leave() noexcept { store_->leave(); }

int PrefixStore::departures() const noexcept { return store_->departures(); }

std::vector<Departure> PrefixStore::departed() const {
  return store_->departed();
}

std::optional<std::string> PrefixStore::ask(int rank, Milliseconds timeout) {
  return store_->ask(rank, timeout);
}

}  // namespace sy::distributed
