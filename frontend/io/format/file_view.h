#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "c10/process/error.h"

namespace sy::io {

// A name for a message: in quotes, cut when long, without control characters
// and other bytes that confuse a terminal or a log.
std::string in_quotes(std::string_view name);

// The bytes of a file, its path, and the operation that reads it. Borrows all.
struct FileView {
  std::string_view op;
  std::string_view path;
  const uint8_t* data = nullptr;
  uint64_t size = 0;

  // These throw FileError: "[op] path: byte 12: ...", "[op] path: 'key': ...".
  template <class... A>
  [[noreturn]] void fail(FormatOf<A...> text, const A&... arguments) const {
    raise(str(text, arguments...));
  }
  template <class... A>
  [[noreturn]] void fail_at(uint64_t byte, FormatOf<A...> text,
                            const A&... arguments) const {
    raise(str("byte {}: {}", byte, str(text, arguments...)));
  }
  template <class... A>
  [[noreturn]] void fail_key(std::string_view key, FormatOf<A...> text,
                             const A&... arguments) const {
    raise(str("{}: {}", in_quotes(key), str(text, arguments...)));
  }

  // Throws FileError unless the file has bytes [at, at + count).
  void need(uint64_t at, uint64_t count, const char* what) const;
  // Little-endian numbers of 2, 4 and 8 bytes.
  uint16_t u16(uint64_t at, const char* what) const;
  uint32_t u32(uint64_t at, const char* what) const;
  uint64_t u64(uint64_t at, const char* what) const;
  // The bytes as characters. Throws FileError if the file does not have them.
  std::string_view text(uint64_t at, uint64_t count, const char* what) const;

 private:
  [[noreturn]] void raise(const std::string& what) const;
};

}  // namespace sy::io
