#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/distributed/store/store.h"

// The parts of a store, wherever it is kept. Not thread-safe.

namespace sy::distributed {

using SteadyClock = std::chrono::steady_clock;

// Times that are too long for the clock are ten years, negative ones 0.
SteadyClock::time_point deadline_after(Milliseconds timeout);
// The time that is left, rounded up; at least 0.
Milliseconds left_until(SteadyClock::time_point deadline);
// For messages: 0.25
double seconds(Milliseconds t);
// For messages: the key in quotes, its beginning if it is long.
std::string quoted(std::string_view key);
// Throws ValueError for a rank that is none.
void check_rank(const char* op, int rank);
[[noreturn]] void fail_unset(std::string_view key, Milliseconds timeout,
                             std::string_view where);
[[noreturn]] void fail_no_number(std::string_view key, std::string_view value);

// The text that the function returns; if it throws, a text that says so.
std::string answer_of(const std::function<std::string()>& answer);

// The limits of a store that is served to others.
struct StoreLimits {
  size_t keys = size_t{1} << 20;
  size_t bytes = size_t{1} << 30;  // of keys and values
};

class Values {
 public:
  explicit Values(StoreLimits limits = {}) : limits_(limits) {}
  // Whether the key may have a value of that size. set() does not ask.
  bool has_room(std::string_view key, size_t size) const;

  // The reference is good until the next change.
  const std::string& set(std::string_view key, std::string_view value);
  // nullptr if there is none; good until the next change.
  const std::string* find(std::string_view key) const;
  bool remove(std::string_view key);
  // The sum, which is also the value in decimal digits. nullopt, and no change,
  // if the value is not such a number, or the sum is none of 64 bits.
  std::optional<int64_t> add(std::string_view key, int64_t by);

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const noexcept {
      return std::hash<std::string_view>()(s);
    }
  };
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> values_;
  StoreLimits limits_;
  size_t bytes_ = 0;
};

// The ranks that have come, and those that have gone.
class Roll {
 public:
  // How the end of a rank became known.
  enum class Source : uint8_t { kItself, kConnection, kLauncher };
  enum class Change : uint8_t { kNothing, kDeparted, kReworded };

  enum class Joined : uint8_t { kFirst, kAgain, kTaken };
  // `owner` is who answers for the rank. kAgain: the rank had departed. kTaken,
  // and no change: another owner has the rank.
  Joined join(int rank, uint64_t owner);
  std::optional<uint64_t> owner_of(int rank) const;
  // The first reason counts, but that of a launcher replaces a lost connection,
  // which tells little. A rank that had joined and did not say that it leaves
  // is not clean, whatever its exit code: then `departure` is changed.
  Change depart(Departure& departure, Source source);
  // The departures, in their order. A rank that joins again is no longer among
  // them.
  std::vector<Departure> departed() const;

 private:
  struct Gone {
    Departure departure;
    Source source;
  };
  std::unordered_map<int, uint64_t> owners_;
  std::vector<Gone> gone_;
};

}  // namespace sy::distributed
