#include "frontend/distributed/store/job_secret.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::distributed {

namespace {

constexpr const char* kVariable = "SWITCHYARD_STORE_SECRET_FILE";
constexpr size_t kShortest = 16, kLongest = 4096;

// As OpenSSL 1.1 and 3 declare them.
using Sha256 = const void* (*)();
using Hmac = unsigned char* (*)(const void* digest, const void* key, int size,
                                const unsigned char* data, size_t n,
                                unsigned char* out, unsigned* out_size);

struct Crypto {
  Sha256 sha256 = nullptr;
  Hmac hmac = nullptr;
};

// Stays loaded.
Crypto load_crypto() {
  for (const char* name : {"libcrypto.so.3", "libcrypto.so.1.1"}) {
    void* const lib = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (lib == nullptr) continue;
    Crypto c;
    c.sha256 = reinterpret_cast<Sha256>(::dlsym(lib, "EVP_sha256"));
    c.hmac = reinterpret_cast<Hmac>(::dlsym(lib, "HMAC"));
    if (c.sha256 != nullptr && c.hmac != nullptr) return c;
  }
  return {};
}

const Crypto& crypto() {
  static const Crypto c = load_crypto();
  SY_CHECK(c.hmac != nullptr, Error,
           "[distributed] expected libcrypto.so.3 (OpenSSL), by which ranks "
           "prove that they know the job's secret, found none");
  return c;
}

class File {
 public:
  // Does not wait for the other end of a pipe.
  explicit File(const char* path)
      : fd_(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string random_bytes(size_t n) {
  std::string out(n, '\0');
  for (size_t done = 0; done < n;) {
    const ssize_t got = ::getrandom(out.data() + done, n - done, 0);
    SY_CHECK(got > 0 || errno == EINTR, Error,
             "[distributed] no random numbers: {}", std::strerror(errno));
    if (got > 0) done += static_cast<size_t>(got);
  }
  return out;
}

std::string new_secret() {
  std::string out;
  for (const char c : random_bytes(32)) {
    const auto byte = static_cast<unsigned char>(c);
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

std::string proof_of(std::string_view secret, std::string_view who,
                     std::string_view challenge) {
  std::string text(who);
  text += '\0';
  text += challenge;
  std::string out(kProofSize, '\0');
  unsigned size = 0;
  const Crypto& c = crypto();
  const auto* const done =
      c.hmac(c.sha256(), secret.data(), static_cast<int>(secret.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(),
             reinterpret_cast<unsigned char*>(out.data()), &size);
  SY_CHECK(done != nullptr && size == kProofSize, Error,
           "[distributed] libcrypto has no HMAC-SHA-256");
  return out;
}

std::string job_secret() {
  const char* const path = environment(kVariable);
  if (path == nullptr || *path == '\0') return {};
  const File file(path);
  struct stat info {};
  SY_CHECK(file.fd() >= 0 && ::fstat(file.fd(), &info) == 0, Error,
           "[distributed] {}: cannot read {}: {}", kVariable, path,
           std::strerror(errno));
  SY_CHECK(S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
               (info.st_mode & 077) == 0,
           Error,
           "[distributed] {}: expected a file of this user that nobody else "
           "may read or write (mode 0600), got {}",
           kVariable, path);
  std::string text(kLongest + 1, '\0');
  const ssize_t n = ::pread(file.fd(), text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
    text.pop_back();
  }
  SY_CHECK(text.size() >= kShortest && text.size() <= kLongest, Error,
           "[distributed] {}: expected {} to {} bytes in {}, got {}", kVariable,
           kShortest, kLongest, path, text.size());
  return text;
}

}  // namespace sy::distributed
