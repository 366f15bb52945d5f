#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The messages between `sy launch` and the watchers of its ranks (rank.h):
// frames of a kind, a length and bytes, over TCP.

namespace sy::tools {

enum class FrameKind : uint8_t {
  // Frames from a watcher.
  kHello = 1,  // "TOKEN RANK"; the first one
  kOutput,     // what the rank wrote to its standard output
  kErrors,     // and to its standard error
  kEnded,      // a RankEnd
  // Frames to a watcher.
  kOrders,     // a RankOrders; the first one
  kTerminate,  // end the rank by SIGTERM
  kKill,       // by SIGKILL
  kLeave       // nothing is left to do
};

struct Frame {
  FrameKind kind;
  std::string bytes;
};

// The program that a watcher is to run, and how.
struct RankOrders {
  bool terminal = false;  // the rank's output is shown as it comes
  bool survive = false;   // the others do not end with this rank
  int threads = 0;        // 0: the host's cores, shared by its ranks
  uint16_t store_port = 0;
  std::string secret;                  // of the store; no space in it
  std::vector<std::string> variables;  // "NAME=VALUE"
  std::vector<std::string> command;

  std::string encode() const;
  // False if it is none.
  static bool decode(std::string_view text, RankOrders& out);
};

// How a rank ended.
struct RankEnd {
  int exit_code = 0;
  int signal = 0;       // if not 0, it was killed by it
  bool told = false;    // after it was told to end
  std::string problem;  // "could not be started: …", if it was not the program

  bool good() const { return exit_code == 0 && signal == 0; }
  // Whether it ended only because it was told to.
  bool ended_by_us() const;
  // The exit status that a shell gives it.
  int status() const { return signal != 0 ? 128 + signal : exit_code; }
  // "was killed by signal 9 (SIGKILL)", "gave exit code 3".
  std::string describe() const;
  // "killed by signal 9 (SIGKILL)", "exit code 3", "its program ended".
  std::string reason() const;

  std::string encode() const;
  // False if it is none.
  static bool decode(std::string_view text, RankEnd& out);
};

// "SIGKILL"; "signal 77" for one without a name.
std::string signal_name(int signal);

// One end of a connection; owns its descriptor, which does not survive exec.
class FrameSocket {
 public:
  explicit FrameSocket(int fd);
  ~FrameSocket();
  FrameSocket(FrameSocket&& other) noexcept;
  FrameSocket& operator=(FrameSocket&& other) noexcept;
  int fd() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void close();
  // Waits until it is written. False if the other end is gone.
  bool send(FrameKind kind, std::string_view bytes = {});
  // Adds what has come, without waiting. False if no more will: the other end
  // is gone, or sends what are no frames, or frames longer than `longest`.
  bool receive(std::vector<Frame>& out, size_t longest);

 private:
  int fd_ = -1;
  std::string partial_;
};

// The most that a rank's output is sent at once.
inline constexpr size_t kLongestFrame = 64 << 10;

// Listens on any free port of all addresses, or of this machine alone. Throws
// Error.
class Listener {
 public:
  explicit Listener(bool all_addresses);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  int fd() const { return fd_; }
  uint16_t port() const { return port_; }
  // -1 if nobody waits.
  int accept() const;

 private:
  int fd_ = -1;
  uint16_t port_ = 0;
};

// Connects to the first of the IPv4 addresses that answers. Throws Error after
// so many seconds. `used` is the one.
FrameSocket connect_to(const std::vector<std::string>& addresses, uint16_t port,
                       int seconds, std::string& used);

// Writes all. False if it cannot: nobody reads.
bool write_all(int fd, std::string_view text);

}  // namespace sy::tools
