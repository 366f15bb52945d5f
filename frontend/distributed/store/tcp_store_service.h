#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/distributed/store/store_state.h"
#include "frontend/distributed/store/tcp_store_wire.h"

namespace sy::distributed {

// Handles the messages of the server of a TCP store; knows clients by numbers
// and no sockets. Not thread-safe; nothing waits.
class Service {
 public:
  // Queues a message for a client; must not call the service.
  using Post = std::function<void(uint64_t client, const wire::Message&)>;

  explicit Service(Post post, StoreLimits limits = {})
      : post_(std::move(post)), values_(limits) {}

  // A client is there, and is told who has gone.
  void welcome(uint64_t client);
  // False: the message breaks the rules, and the client is to be dropped.
  bool handle(uint64_t client, const wire::Message& m);
  // The connection has ended. Unless it has left, the client's rank departs.
  void goodbye(uint64_t client);
  void depart(Departure d, Roll::Source source);
  // The most unsent bytes for a client: one with more does not read what it
  // asked for, and is dropped.
  static constexpr size_t kMostUnread = size_t{192} << 20;
  // The unsent bytes beyond which a client's further requests wait.
  static constexpr size_t kEnoughUnread = size_t{1} << 20;
  // nullptr if there is none.
  const std::string* find(std::string_view key) const;

 private:
  struct Client {
    int rank = -1;
    // Its requests that wait for a key.
    std::unordered_map<uint64_t, std::string> waits;
  };
  struct Request {
    uint64_t client;
    uint64_t id;
  };
  struct Question {
    Request asker;
    uint64_t asked;
  };

  bool reply(const Request& to, wire::Message m);
  void broadcast(const wire::Message& m);
  bool get(const Request& r, std::string_view key);
  bool add(const Request& r, const wire::Message& m);
  bool join(const Request& r, int64_t rank);
  bool ask(const Request& r, int64_t rank);
  bool answer(const Request& r, const wire::Message& m);
  void cancel(const Request& r);
  void stop_waiting(Client& client, const Request& r);
  void give(std::string_view key, const std::string& value);
  void end(uint64_t client, bool clean, const char* why, Roll::Source source);

  const Post post_;
  Values values_;
  Roll roll_;
  std::unordered_map<uint64_t, Client> clients_;
  std::unordered_map<std::string, std::vector<Request>> waiting_;
  std::unordered_map<uint64_t, Question> questions_;
  uint64_t last_question_ = 0;
};

}  // namespace sy::distributed
