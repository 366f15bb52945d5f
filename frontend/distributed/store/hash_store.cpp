#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "c10/process/error.h"
#include "frontend/distributed/store/store.h"
#include "frontend/distributed/store/store_state.h"

namespace sy::distributed {

namespace {

// Locked while the answer runs, so that leave() waits for its end.
struct Answer {
  std::mutex mutex;
  std::function<std::string()> call;
};

}  // namespace

class HashStore::Shared {
 public:
  std::mutex mutex;
  std::condition_variable changed;
  Values values;
  Roll roll;
  std::unordered_map<int, std::shared_ptr<Answer>> answers;
  std::atomic<int> departures{0};

  // Takes the rank, if it is `owner`'s, off the roll.
  void end(int rank, uint64_t owner, Departure departure, Roll::Source source) {
    std::shared_ptr<Answer> answer;
    {
      const std::lock_guard lock(mutex);
      if (roll.owner_of(rank) != owner) return;
      if (roll.depart(departure, source) == Roll::Change::kDeparted) {
        departures.fetch_add(1, std::memory_order_release);
      }
      answer = std::move(answers[rank]);
      answers.erase(rank);
    }
    if (answer == nullptr) return;
    const std::lock_guard lock(answer->mutex);
    answer->call = nullptr;
  }
};

namespace {

uint64_t owner_id(const HashStore* store) {
  return reinterpret_cast<uintptr_t>(store);
}

}  // namespace

std::shared_ptr<HashStore::Shared> HashStore::make_shared() {
  return std::make_shared<Shared>();
}

HashStore::HashStore(std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)) {
  SY_CHECK(shared_ != nullptr, Value,
           "[distributed] HashStore shared: expected one, got nullptr");
}

HashStore::~HashStore() {
  vanish("its store was destroyed before it said that it leaves");
}

void HashStore::set(std::string_view key, std::string_view value) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->values.set(key, value);
  }
  shared_->changed.notify_all();
}

std::string HashStore::get(std::string_view key, Milliseconds timeout) {
  const auto deadline = deadline_after(timeout);
  std::unique_lock lock(shared_->mutex);
  const std::string* value = nullptr;
  shared_->changed.wait_until(lock, deadline, [&] {
    value = shared_->values.find(key);
    return value != nullptr;
  });
  if (value == nullptr) fail_unset(key, timeout, "of this process");
  return *value;
}

std::optional<std::string> HashStore::find(std::string_view key) {
  const std::lock_guard lock(shared_->mutex);
  const std::string* const value = shared_->values.find(key);
  if (value == nullptr) return std::nullopt;
  return *value;
}

int64_t HashStore::add(std::string_view key, int64_t by) {
  int64_t sum = 0;
  {
    const std::lock_guard lock(shared_->mutex);
    const std::optional<int64_t> result = shared_->values.add(key, by);
    if (!result) fail_no_number(key, *shared_->values.find(key));
    sum = *result;
  }
  shared_->changed.notify_all();
  return sum;
}

bool HashStore::remove(std::string_view key) {
  const std::lock_guard lock(shared_->mutex);
  return shared_->values.remove(key);
}

void HashStore::join(int rank, std::function<std::string()> answer) {
  check_rank("join", rank);
  auto entry = std::make_shared<Answer>();
  entry->call = std::move(answer);
  const std::lock_guard lock(shared_->mutex);
  SY_CHECK(rank_ < 0 || rank_ == rank, Value,
           "[distributed] join rank: this store is used by rank {}, got {}",
           rank_, rank);
  SY_CHECK(shared_->roll.join(rank, owner_id(this)) != Roll::Joined::kTaken,
           Value,
           "[distributed] rank {} has joined twice: two programs use the store "
           "of this process",
           rank);
  rank_ = rank;
  shared_->answers[rank] = std::move(entry);
}

void HashStore::leave() noexcept {
  int rank = -1;
  {
    const std::lock_guard lock(shared_->mutex);
    rank = std::exchange(rank_, -1);
  }
  if (rank < 0) return;
  shared_->end(rank, owner_id(this), {rank, true, "its program ended"},
               Roll::Source::kItself);
}

void HashStore::vanish(std::string why) noexcept {
  int rank = -1;
  {
    const std::lock_guard lock(shared_->mutex);
    rank = std::exchange(rank_, -1);
  }
  if (rank < 0) return;
  shared_->end(rank, owner_id(this), {rank, false, std::move(why)},
               Roll::Source::kConnection);
}

int HashStore::departures() const noexcept {
  return shared_->departures.load(std::memory_order_acquire);
}

std::vector<Departure> HashStore::departed() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->roll.departed();
}

std::optional<std::string> HashStore::ask(int rank, Milliseconds) {
  std::shared_ptr<Answer> answer;
  {
    const std::lock_guard lock(shared_->mutex);
    const auto found = shared_->answers.find(rank);
    if (found == shared_->answers.end()) return std::nullopt;
    answer = found->second;
  }
  const std::lock_guard lock(answer->mutex);
  if (!answer->call) return std::nullopt;
  return answer_of(answer->call);
}

}  // namespace sy::distributed
