#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "c10/macros.h"

// Small values that all ranks see, and who of them is still there.

namespace sy::distributed {

using Milliseconds = std::chrono::milliseconds;

// Why a rank is no longer there.
struct Departure {
  int rank;
  bool clean;  // it said so: its program ended
  // "its program ended", "killed by signal 9", "connection lost: the process
  // was killed, or its machine is gone"
  std::string why;
};

// Keys and values, as c10d's Store. Thread-safe. Methods throw Error when the
// store is gone, which the message says with its address.
class SY_API Store {
 public:
  virtual ~Store();

  virtual void set(std::string_view key, std::string_view value) = 0;
  // Waits until someone has set the key. Throws Error, which names the key,
  // after `timeout`.
  virtual std::string get(std::string_view key, Milliseconds timeout) = 0;
  std::string get(std::string_view key) { return get(key, timeout()); }
  // Returns the value, or nullopt, without waiting.
  virtual std::optional<std::string> find(std::string_view key) = 0;
  // Adds to a number, which begins as 0, and returns the sum. The value is the
  // number in decimal digits. Throws ValueError if it is none, or the sum has
  // more than 64 bits.
  virtual int64_t add(std::string_view key, int64_t by) = 0;
  // Removes the key; returns whether there was one.
  virtual bool remove(std::string_view key) = 0;
  // Waits until all keys are there. Throws Error, which names those missing.
  void wait(const std::vector<std::string>& keys, Milliseconds timeout);
  // How long get() waits if it is not said, and other methods wait for the
  // store itself.
  void set_timeout(Milliseconds t) noexcept { timeout_ = t; }
  Milliseconds timeout() const noexcept { return timeout_; }

  // ---- who is there

  // Says that this store is used by `rank`. `answer` says what the rank is
  // doing, when another asks; it is called by another thread, at any time until
  // leave() returns or the store is destroyed, which wait for its end. It must
  // be quick, and must not use the store. Throws ValueError if another process
  // says that it is the same rank: two programs use one store. A rank that has
  // departed may join again, and is no longer among departed().
  virtual void join(int rank, std::function<std::string()> answer) = 0;
  // Says that the rank ends in good order. Again, or before join(): nothing.
  virtual void leave() noexcept = 0;
  // How many departures there were so far; a load of an atomic. It never
  // decreases. Departures before join() are seen once that returns.
  virtual int departures() const noexcept = 0;
  virtual std::vector<Departure> departed() const = 0;
  // Asks what the rank is doing; nullopt if no answer comes in time: it never
  // joined, is stopped, or is gone.
  virtual std::optional<std::string> ask(int rank, Milliseconds timeout) = 0;

 private:
  std::atomic<Milliseconds> timeout_{Milliseconds(300'000)};
};

// A store for ranks that are threads of one process, and for a world of one.
// All ranks of one `Shared` see the same values. ask() makes the answer on its
// own thread, however long that takes.
class SY_API HashStore final : public Store {
 public:
  class Shared;
  static std::shared_ptr<Shared> make_shared();
  explicit HashStore(std::shared_ptr<Shared> shared = make_shared());
  ~HashStore() override;
  using Store::get;
  void set(std::string_view key, std::string_view value) override;
  std::string get(std::string_view key, Milliseconds timeout) override;
  std::optional<std::string> find(std::string_view key) override;
  int64_t add(std::string_view key, int64_t by) override;
  bool remove(std::string_view key) override;
  void join(int rank, std::function<std::string()> answer) override;
  void leave() noexcept override;
  int departures() const noexcept override;
  std::vector<Departure> departed() const override;
  std::optional<std::string> ask(int rank, Milliseconds timeout) override;
  // For tests: the rank is gone without a word. The same happens if a store is
  // destroyed before leave().
  void vanish(std::string why) noexcept;

 private:
  std::shared_ptr<Shared> shared_;
  int rank_ = -1;
};

// The keys of another store, as PREFIX/KEY. The other store knows who is there.
class SY_API PrefixStore final : public Store {
 public:
  PrefixStore(std::string prefix, std::shared_ptr<Store> store);
  using Store::get;
  void set(std::string_view key, std::string_view value) override;
  std::string get(std::string_view key, Milliseconds timeout) override;
  std::optional<std::string> find(std::string_view key) override;
  int64_t add(std::string_view key, int64_t by) override;
  bool remove(std::string_view key) override;
  void join(int rank, std::function<std::string()> answer) override;
  void leave() noexcept override;
  int departures() const noexcept override;
  std::vector<Departure> departed() const override;
  std::optional<std::string> ask(int rank, Milliseconds timeout) override;

 private:
  std::string full(std::string_view key) const;
  std::string prefix_;
  std::shared_ptr<Store> store_;
};

}  // namespace sy::distributed
