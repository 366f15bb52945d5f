#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/distributed/store/store.h"

namespace sy::distributed {

// Serves a store to other processes, on a thread of its own, until it is
// destroyed. `sy launch` has one; without it, rank 0 has one. A rank whose
// connection breaks before it says that it leaves has departed; the others
// learn it at once. It drops a client that does not speak as a TcpStore. In a
// forked child it serves nobody.
class SY_API TcpStoreServer {
 public:
  // Listens on `address` ("127.0.0.1", "0.0.0.0", "::"); port 0: any that is
  // free. With a secret, only clients that know it are served; what they send
  // and read is not hidden from the network. Throws Error, with the address and
  // the system's words.
  explicit TcpStoreServer(const std::string& address = "127.0.0.1",
                          uint16_t port = 0, const std::string& secret = "");
  ~TcpStoreServer();
  TcpStoreServer(const TcpStoreServer&) = delete;
  TcpStoreServer& operator=(const TcpStoreServer&) = delete;
  uint16_t port() const noexcept;
  // A rank is gone, and the caller knows why: "killed by signal 9". The first
  // reason counts, but this one replaces that of a lost connection.
  void depart(int rank, bool clean, const std::string& why);
  // The value of a key, without a connection; "" if there is none.
  std::string find(const std::string& key) const;

  class State;

 private:
  std::unique_ptr<State> state_;
};

// A connection to a TcpStoreServer. One thread of its own reads what comes. A
// key and its value have at most 64 MiB (ValueError); a store holds at most
// 1 GiB and a million keys (Error). In a forked child methods
// throw Error, and the parent's connection stays as it is. If it is destroyed
// before leave(), its rank departs as if it were killed.
class SY_API TcpStore final : public Store {
 public:
  // Tries to connect until `timeout`. Throws Error, with the address, the time
  // and the system's words; or if what listens there is no store of this
  // version, or has another secret, or none.
  TcpStore(const std::string& host, uint16_t port,
           Milliseconds timeout = Milliseconds(30'000),
           const std::string& secret = "");
  ~TcpStore() override;
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
  // Nanoseconds to add to this process's steady clock to have the server's,
  // measured by the fastest of several round trips.
  int64_t clock_offset();

  class State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace sy::distributed
