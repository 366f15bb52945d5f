#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/distributed/store/tcp_store_socket.h"

// The protocol of a connection of the TCP store. Both sides begin with a
// greeting. If the store has a secret, 32 random bytes of the client follow,
// then 32 of the server and its proof for both (job_secret.h), then the
// client's proof. Then messages follow, each as
//   length   4 bytes, of what follows it
//   kind     1 byte
//   id       8 bytes
//   number   8 bytes
//   key      4 bytes of length, and the bytes
//   value    the rest
// Numbers are little-endian.

namespace sy::distributed::wire {

inline constexpr uint32_t kVersion = 1;
inline constexpr size_t kGreetingSize = 12;
inline constexpr size_t kOverhead = 21;
// The most bytes that follow the length.
inline constexpr size_t kMaxMessage = size_t{64} << 20;
inline constexpr size_t kMaxContents = kMaxMessage - kOverhead;

// kSecretServer: a server that wants to be shown that a client knows the
// secret.
enum class Side : char { kClient = 'c', kServer = 's', kSecretServer = 'S' };
inline constexpr size_t kNonceSize = 32;
inline constexpr std::string_view kClientProves = "client";
inline constexpr std::string_view kServerProves = "server";

// A client's requests have an id of its choice, which the reply repeats.
enum class Kind : uint8_t {
  // Requests
  kSet = 1,  // key, value: kDone
  kGet,      // key: kValue, once there is one
  kFind,     // key: kValue or kNone
  kAdd,      // key, number: kNumber; kRefused with the value that is none
  kRemove,   // key: kNumber, whether there was one
  kJoin,     // number, the rank: kDone; kRefused if another has it
  kLeave,    // kDone
  kAsk,      // number, the rank: kValue or kNone
  kClock,    // kNumber, nanoseconds
  // From the client, without a reply
  kCancel,  // id, of a kGet or kAsk whose reply is no longer wanted
  kAnswer,  // id, of a kQuestion; value
  kSilent,  // id, of a kQuestion that nobody answers
  // Replies
  kDone,
  kValue,
  kNone,
  kNumber,
  kRefused,
  // From the server, unasked
  kQuestion,  // id
  kDeparted,  // number, the rank; id, 1 if clean; value, why
  kReworded,  // the same, of one that has departed
  kReturned,  // number, the rank
  // A reply: the store holds as much as it may
  kFull,
  kLast = kFull
};

struct Message {
  Kind kind;
  uint64_t id = 0;
  int64_t number = 0;
  std::string_view key = {};
  std::string_view value = {};
};

std::string greeting(Side side);

enum class Greeting : uint8_t { kIncomplete, kRight, kOtherVersion, kWrong };
// Judges what has come from that side so far.
Greeting judge_greeting(std::string_view received, Side side,
                        uint32_t* version);

// Messages over a socket. One thread may call the functions that send, post()
// to unsent(), while another calls those that receive.
class Link {
 public:
  explicit Link(Socket socket) noexcept : socket_(std::move(socket)) {}
  Socket& socket() noexcept { return socket_; }

  // Queues a message that flush() sends. Throws nothing but bad_alloc; its
  // contents are at most kMaxContents.
  void post(const Message& m);
  void post_bytes(std::string_view bytes);
  // Sends what can be sent without waiting. False: the connection is gone.
  bool flush() noexcept;
  bool unsent() const noexcept { return sent_ < out_.size(); }
  size_t unsent_bytes() const noexcept { return out_.size() - sent_; }

  // Takes in some of what has come, without waiting. False: the connection has
  // ended.
  bool receive();
  // The next whole message; its texts are good until receive().
  std::optional<Message> next();
  // Whether what came is no message; then there is no next().
  bool malformed() const noexcept { return malformed_; }
  // The bytes that have come and were not taken.
  std::string_view received() const noexcept;
  void skip(size_t n) noexcept { taken_ += n; }

 private:
  Socket socket_;
  std::string out_;
  size_t sent_ = 0;
  std::string in_;
  size_t taken_ = 0;
  bool malformed_ = false;
};

// Tries until the time-out. Throws Error, with the address, the time and the
// last reason; or at once, if what listens there is no store of this version,
// or has another secret, or none ("").
Link connect(const std::string& host, uint16_t port, Milliseconds timeout,
             const std::string& secret);

}  // namespace sy::distributed::wire
