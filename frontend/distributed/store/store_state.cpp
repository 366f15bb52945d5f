#include "frontend/distributed/store/store_state.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "c10/process/error.h"

namespace sy::distributed {

SteadyClock::time_point deadline_after(Milliseconds timeout) {
  constexpr Milliseconds kLongest = std::chrono::hours(24 * 365 * 10);
  return SteadyClock::now() + std::clamp(timeout, Milliseconds(0), kLongest);
}

Milliseconds left_until(SteadyClock::time_point deadline) {
  const auto left = deadline - SteadyClock::now();
  return std::max(Milliseconds(0), std::chrono::ceil<Milliseconds>(left));
}

double seconds(Milliseconds t) {
  return static_cast<double>(t.count()) / 1000.0;
}

std::string quoted(std::string_view key) {
  constexpr size_t kShown = 120;
  std::string out = "'";
  out += key.substr(0, kShown);
  out += key.size() > kShown ? "...'" : "'";
  return out;
}

void check_rank(const char* op, int rank) {
  SY_CHECK(rank >= 0, Value,
           "[distributed] {} rank: expected a number of at least 0, got {}", op,
           rank);
}

void fail_unset(std::string_view key, Milliseconds timeout,
                std::string_view where) {
  fail(ErrorKind::Error,
       "[distributed] get: nobody has set {} within {} s in the store {}",
       quoted(key), seconds(timeout), where);
}

void fail_no_number(std::string_view key, std::string_view value) {
  fail(ErrorKind::Value,
       "[distributed] add: expected the value of {} and the sum to be numbers "
       "of 64 bits, got {}",
       quoted(key), quoted(value));
}

std::string answer_of(const std::function<std::string()>& answer) {
  try {
    return answer();
  } catch (const std::exception& e) {
    return str("it cannot say: {}", e.what());
  } catch (...) {
    return "it cannot say";
  }
}

bool Values::has_room(std::string_view key, size_t size) const {
  const auto found = values_.find(key);
  const bool there = found != values_.end();
  const size_t freed = there ? found->second.size() : 0;
  const size_t added = size + (there ? 0 : key.size());
  return (there || values_.size() < limits_.keys) &&
         bytes_ - freed + added <= limits_.bytes;
}

const std::string& Values::set(std::string_view key, std::string_view value) {
  const auto [at, added] = values_.try_emplace(std::string(key));
  if (added) bytes_ += key.size();
  const size_t before = at->second.size();
  at->second = value;
  bytes_ += value.size() - before;
  return at->second;
}

const std::string* Values::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

bool Values::remove(std::string_view key) {
  const auto found = values_.find(key);
  if (found == values_.end()) return false;
  bytes_ -= found->first.size() + found->second.size();
  values_.erase(found);
  return true;
}

std::optional<int64_t> Values::add(std::string_view key, int64_t by) {
  int64_t sum = 0;
  if (const std::string* const text = find(key)) {
    const char* const end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, sum);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  }
  if (__builtin_add_overflow(sum, by, &sum)) return std::nullopt;
  set(key, std::to_string(sum));
  return sum;
}

Roll::Joined Roll::join(int rank, uint64_t owner) {
  const auto at = owners_.try_emplace(rank, owner).first;
  if (at->second != owner) return Joined::kTaken;
  const size_t erased = std::erase_if(
      gone_, [&](const Gone& g) { return g.departure.rank == rank; });
  return erased > 0 ? Joined::kAgain : Joined::kFirst;
}

std::optional<uint64_t> Roll::owner_of(int rank) const {
  const auto found = owners_.find(rank);
  if (found == owners_.end()) return std::nullopt;
  return found->second;
}

Roll::Change Roll::depart(Departure& departure, Source source) {
  if (owners_.erase(departure.rank) > 0 && source == Source::kLauncher) {
    departure.clean = false;
  }
  for (Gone& before : gone_) {
    if (before.departure.rank != departure.rank) continue;
    if (before.source != Source::kConnection || source != Source::kLauncher) {
      return Change::kNothing;
    }
    departure.clean = false;
    before = {departure, source};
    return Change::kReworded;
  }
  gone_.push_back({departure, source});
  return Change::kDeparted;
}

std::vector<Departure> Roll::departed() const {
  std::vector<Departure> out;
  out.reserve(gone_.size());
  for (const Gone& g : gone_) out.push_back(g.departure);
  return out;
}

}  // namespace sy::distributed
