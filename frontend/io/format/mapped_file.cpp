#include "frontend/io/format/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sy::io {

namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

std::shared_ptr<MappedFile> MappedFile::open(std::string_view op,
                                             const std::string& path) {
  const FileView file{op, path};
  if (path.find('\0') != path.npos) {
    FileView{op, in_quotes(path)}.fail("expected a path without zero bytes");
  }
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const Descriptor d{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (d.fd < 0) file.fail("cannot open: {}", std::strerror(errno));
  struct stat info {};
  if (::fstat(d.fd, &info) != 0) {
    file.fail("cannot open: {}", std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) file.fail("expected a regular file");
  const auto size = static_cast<uint64_t>(info.st_size);
  void* data = nullptr;
  if (size > 0) {
    data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_NORESERVE, d.fd, 0);
    if (data == MAP_FAILED) {
      file.fail("cannot map {} bytes: {}", size, std::strerror(errno));
    }
  }
  try {
    return std::shared_ptr<MappedFile>(
        new MappedFile(path, static_cast<uint8_t*>(data), size));
  } catch (...) {
    if (data != nullptr) ::munmap(data, size);
    throw;
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace sy::io
