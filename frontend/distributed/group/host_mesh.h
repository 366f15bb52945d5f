#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontend/distributed/store/store.h"
#include "frontend/distributed/store/tcp_store_socket.h"

namespace sy::distributed {

// Messages between the ranks of a world over TCP, for engines that move no
// memory of the host. A connection is made by the first message between two
// ranks. A rank whose connection breaks gets nothing any more, and nothing
// comes from it: the store tells those that wait that it is gone. For one
// thread at a time.
class HostMesh {
 public:
  // One message; the caller that began it sees here that it is over.
  struct Message {
    bool done = false;
    size_t bytes = 0;   // that came
    std::string error;  // of a message that is longer than its memory
  };
  using Handle = std::shared_ptr<Message>;
  // Messages of one pair, one channel and one tag arrive in order.
  struct Line {
    uint64_t channel;
    int64_t tag;
    auto operator<=>(const Line&) const = default;
  };

  // Says in the store where this rank listens: at `address`, by which the other
  // ranks reach it. 127.0.0.1: nobody else can connect. Waits for nobody.
  // Throws Error.
  HostMesh(std::shared_ptr<Store> store, int rank, int size,
           const std::string& address);
  ~HostMesh();
  HostMesh(const HostMesh&) = delete;
  HostMesh& operator=(const HostMesh&) = delete;
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return static_cast<int>(peers_.size()); }

  // Neither waits. Memory stays valid until the message is done, or for ever.
  // The rank is another one.
  Handle send(int to, const Line& line, const void* data, size_t bytes);
  Handle receive(int from, const Line& line, void* data, size_t most);
  // Lets messages go on. Throws Error if a rank that listens cannot be reached.
  void progress();

 private:
  struct Header {
    uint64_t channel;
    int64_t tag;
    uint64_t bytes;
  };
  struct Outgoing {
    Header header;
    const char* data;
    size_t sent;  // of the header and the data
    Handle message;
  };
  struct Incoming {
    char* data;
    size_t most;
    Handle message;
  };
  struct Peer {
    Socket socket;
    bool gone = false;
    SteadyClock::time_point first_try{}, next_try{};
    std::deque<Outgoing> out;
    std::map<Line, std::deque<Incoming>> wanted;
    // The messages that came before they were asked for.
    std::map<Line, std::deque<std::vector<char>>> early;
    // The message that is coming.
    Header header{};
    size_t read = 0;  // of the header and the data
    Incoming into{nullptr, 0, nullptr};
    std::vector<char> kept;
  };
  struct Stranger {
    Socket socket;
    SteadyClock::time_point until;
    size_t read = 0;
    char hello[24] = {};
  };

  bool has_work(const Peer& p) const;
  void connect(int rank);
  void welcome();
  bool hear(Stranger& s);
  void write(Peer& p);
  void read(Peer& p);
  void begin_incoming(Peer& p);
  static std::span<char> place_for(Peer& p, size_t done);
  void end_incoming(Peer& p);
  static void lose(Peer& p) noexcept;

  const std::shared_ptr<Store> store_;
  const int rank_;
  uint64_t token_ = 0;  // of this world
  std::string here_;    // the same for ranks that share a loopback device
  Socket listener_;
  std::vector<Peer> peers_;
  std::vector<Stranger> strangers_;
};

}  // namespace sy::distributed
