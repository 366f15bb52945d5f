#include "frontend/distributed/store/tcp_store_wire.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "c10/process/error.h"
#include "c10/process/secret.h"
#include "frontend/distributed/store/job_secret.h"

namespace sy::distributed::wire {

namespace {

constexpr Milliseconds kFirstPause(10);
constexpr Milliseconds kLongestPause(500);
constexpr std::string_view kMagic = "SYSTORE";
constexpr size_t kChunk = size_t{128} << 10;
// Buffers that have grown larger give their memory back.
constexpr size_t kKept = size_t{1} << 20;

template <class T>
void put(std::string& out, T value) {
  auto bits = static_cast<uint64_t>(value);
  for (size_t i = 0; i < sizeof(T); ++i, bits >>= 8) {
    out += static_cast<char>(bits & 0xff);
  }
}

template <class T>
T take(std::string_view& in) {
  uint64_t bits = 0;
  for (size_t i = sizeof(T); i-- > 0;) {
    bits = bits << 8 | static_cast<unsigned char>(in[i]);
  }
  in.remove_prefix(sizeof(T));
  return static_cast<T>(bits);
}

void forget(std::string& buffer, size_t& begin) {
  if (begin == buffer.size()) {
    buffer.clear();
    if (buffer.capacity() > kKept) buffer.shrink_to_fit();
  } else if (begin >= kChunk && begin >= buffer.size() / 2) {
    buffer.erase(0, begin);
  } else {
    return;
  }
  begin = 0;
}

// nullopt if the bytes are none.
std::optional<Message> parse(std::string_view bytes) {
  if (bytes.size() < kOverhead) return std::nullopt;
  Message m{};
  const auto kind = take<uint8_t>(bytes);
  if (kind == 0 || kind > static_cast<uint8_t>(Kind::kLast)) {
    return std::nullopt;
  }
  m.kind = static_cast<Kind>(kind);
  m.id = take<uint64_t>(bytes);
  m.number = take<int64_t>(bytes);
  const auto size = take<uint32_t>(bytes);
  if (size > bytes.size()) return std::nullopt;
  m.key = bytes.substr(0, size);
  m.value = bytes.substr(size);
  return m;
}

bool is_secret_server(std::string_view greeting) {
  return greeting.size() > kMagic.size() &&
         greeting[kMagic.size()] == static_cast<char>(Side::kSecretServer);
}

// Waits for more bytes. False, and why, if there will be none.
bool wait_for_more(Link& link, bool* open, SteadyClock::time_point deadline,
                   std::string* why) {
  if (!*open) {
    *why = "it closed the connection";
    return false;
  }
  if (!wait_readable(link.socket(), deadline)) {
    *why = "the listener there does not speak as a store does";
    return false;
  }
  *open = link.receive();
  return true;
}

// Shows that this side knows the secret, and sees that the server does. The
// same result as that of greet().
bool prove(Link& link, const std::string& where, const std::string& secret,
           bool open, SteadyClock::time_point deadline, std::string* why) {
  std::string challenge = random_bytes(kNonceSize);
  link.post_bytes(challenge);
  link.flush();
  while (link.received().size() < kNonceSize + kProofSize) {
    if (!wait_for_more(link, &open, deadline, why)) return false;
  }
  challenge += link.received().substr(0, kNonceSize);
  SY_CHECK(is_same_secret(link.received().substr(kNonceSize, kProofSize),
                          proof_of(secret, kServerProves, challenge)),
           Error, "[distributed] the store at {} has the secret of another job",
           where);
  link.skip(kNonceSize + kProofSize);
  link.post_bytes(proof_of(secret, kClientProves, challenge));
  link.flush();
  return true;
}

// Exchanges greetings. False, and why, if it may go better next time; throws if
// this is no store for us.
bool greet(Link& link, const std::string& where, const std::string& secret,
           SteadyClock::time_point deadline, std::string* why) {
  link.post_bytes(greeting(Side::kClient));
  bool open = link.flush();
  for (;;) {
    uint32_t version = 0;
    const bool proves = is_secret_server(link.received());
    switch (judge_greeting(link.received(),
                           proves ? Side::kSecretServer : Side::kServer,
                           &version)) {
      case Greeting::kRight:
        SY_CHECK(proves || secret.empty(), Error,
                 "[distributed] the store at {} does not have the job's "
                 "secret, which SWITCHYARD_STORE_SECRET_FILE names",
                 where);
        SY_CHECK(!proves || !secret.empty(), Error,
                 "[distributed] the store at {} wants the secret of its job, "
                 "which SWITCHYARD_STORE_SECRET_FILE names",
                 where);
        link.skip(kGreetingSize);
        return !proves || prove(link, where, secret, open, deadline, why);
      case Greeting::kOtherVersion:
        fail(ErrorKind::Error,
             "[distributed] the store at {} speaks version {}, expected {}",
             where, version, kVersion);
      case Greeting::kWrong:
        fail(ErrorKind::Error,
             "[distributed] the listener at {} is no store of this version",
             where);
      case Greeting::kIncomplete: break;
    }
    if (!wait_for_more(link, &open, deadline, why)) return false;
  }
}

}  // namespace

std::string greeting(Side side) {
  std::string out(kMagic);
  out += static_cast<char>(side);
  put(out, kVersion);
  return out;
}

Greeting judge_greeting(std::string_view received, Side side,
                        uint32_t* version) {
  std::string expected = greeting(side);
  const size_t named = std::min(received.size(), kMagic.size() + 1);
  if (received.substr(0, named) != expected.substr(0, named)) {
    return Greeting::kWrong;
  }
  if (received.size() < kGreetingSize) return Greeting::kIncomplete;
  received.remove_prefix(named);
  *version = take<uint32_t>(received);
  return *version == kVersion ? Greeting::kRight : Greeting::kOtherVersion;
}

void Link::post(const Message& m) {
  SY_INTERNAL_ASSERT(m.key.size() + m.value.size() <= kMaxContents);
  const size_t size = kOverhead + m.key.size() + m.value.size();
  out_.reserve(out_.size() + 4 + size);
  put(out_, static_cast<uint32_t>(size));
  put(out_, static_cast<uint8_t>(m.kind));
  put(out_, m.id);
  put(out_, m.number);
  put(out_, static_cast<uint32_t>(m.key.size()));
  out_ += m.key;
  out_ += m.value;
}

void Link::post_bytes(std::string_view bytes) { out_ += bytes; }

bool Link::flush() noexcept {
  while (unsent()) {
    const ssize_t n = ::send(socket_.fd(), out_.data() + sent_,
                             out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    sent_ += static_cast<size_t>(n);
  }
  forget(out_, sent_);
  return true;
}

bool Link::receive() {
  forget(in_, taken_);
  char chunk[kChunk];
  ssize_t n = 0;
  do {
    n = ::recv(socket_.fd(), chunk, sizeof chunk, MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
  in_.append(chunk, static_cast<size_t>(n));
  return n > 0;
}

std::optional<Message> Link::next() {
  std::string_view bytes = received();
  if (malformed_ || bytes.size() < 4) return std::nullopt;
  const size_t size = take<uint32_t>(bytes);
  if (size > kMaxMessage) malformed_ = true;
  if (malformed_ || bytes.size() < size) return std::nullopt;
  const std::optional<Message> m = parse(bytes.substr(0, size));
  if (!m) malformed_ = true;
  taken_ += 4 + size;
  return m;
}

std::string_view Link::received() const noexcept {
  return std::string_view(in_).substr(taken_);
}

Link connect(const std::string& host, uint16_t port, Milliseconds timeout,
             const std::string& secret) {
  const std::string where = host_and_port(host, port);
  const auto deadline = deadline_after(timeout);
  std::string why;
  for (Milliseconds pause = kFirstPause;; pause *= 2) {
    Link link(connect_to(host, port, deadline, &why));
    if (link.socket() && greet(link, where, secret, deadline, &why)) {
      return link;
    }
    const Milliseconds left = left_until(deadline);
    SY_CHECK(left > Milliseconds(0), Error,
             "[distributed] no connection to a store at {} within {} s: {}",
             where, seconds(timeout), why);
    pause = std::min(pause, kLongestPause);
    std::this_thread::sleep_for(std::min(pause, left));
  }
}

}  // namespace sy::distributed::wire
