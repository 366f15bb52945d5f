#pragma once

#include <string>
#include <vector>

#include "frontend/io/format/file_view.h"
#include "frontend/io/format/output_file.h"

// Zip archives as .npz files are: stored or deflated members, 64-bit sizes.

namespace sy::io {

struct ZipMember {
  std::string name;
  uint64_t data = 0;        // where its bytes start
  uint64_t compressed = 0;  // how many there are
  uint64_t size = 0;        // how many they become; at most 1032 times as many
  uint32_t crc = 0;
  bool deflated = false;
};

// The members of an archive, in its order. Throws FileError: also for members
// that overlap, have one name or are encrypted, and for an archive in parts.
std::vector<ZipMember> read_zip(const FileView& file);

// Throws FileError if a stored member is not what it was when it was written.
void check_stored(const FileView& file, const ZipMember& member);
// Writes the member.size bytes of a deflated member to `out`. Throws FileError
// if they are not what they were.
void inflate_member(const FileView& file, const ZipMember& member,
                    uint8_t* out);

// Writes an archive of stored members. Call member() and add as many bytes as
// it said to the file, for each; then finish() once.
class ZipWriter {
 public:
  explicit ZipWriter(OutputFile& file) : file_(file) {}

  // Starts a member whose first byte is at a multiple of 64. Throws ValueError
  // for a name that is too long.
  void member(std::string_view op, std::string name, uint64_t size,
              uint32_t crc);
  void finish();

 private:
  struct Written {
    std::string name;
    uint64_t size;
    uint64_t header;  // where it starts
    uint32_t crc;
  };

  OutputFile& file_;
  std::vector<Written> members_;
};

// The check sum of `size` more bytes; 0 is that of none.
uint32_t crc32(uint32_t crc, const void* data, uint64_t size);

}  // namespace sy::io
