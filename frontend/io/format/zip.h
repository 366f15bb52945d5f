#pragma once

#include <string>
#include <vector>

#include "frontend/io/format/file_view.h"
#include "frontend/io/format/output_file.h"

// Zip archives such as .npz files: stored or deflated members, 64-bit sizes.

namespace sy::io {

struct ZipMember {
  std::string name;
  uint64_t data = 0;        // where its bytes start
  uint64_t compressed = 0;  // the number of its bytes
  uint64_t size = 0;        // bytes when inflated; at most 1032 times as many
  uint32_t crc = 0;
  bool deflated = false;
};

// The members of an archive, in its order. Throws FileError, also for members
// that overlap, have the same name or are encrypted, and for an archive in
// parts.
std::vector<ZipMember> read_zip(const FileView& file);

// Throws FileError if a stored member does not have its check sum. A check sum
// of 0 is one that the writer did not compute.
void check_stored(const FileView& file, const ZipMember& member);
// Writes the member.size bytes of a deflated member to `out`. Throws FileError
// if they do not have their check sum.
void inflate_member(const FileView& file, const ZipMember& member,
                    uint8_t* out);

// Writes an archive of stored members. For each member call member(), then
// write the bytes to the file, as many as member() was told. Call finish() once
// at the end.
class ZipWriter {
 public:
  explicit ZipWriter(Output& file) : file_(file) {}

  // Starts a member, whose first byte is at a multiple of 64. Throws ValueError
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

  Output& file_;
  std::vector<Written> members_;
};

// The check sum after `size` more bytes. The check sum of no bytes is 0.
uint32_t crc32(uint32_t crc, const void* data, uint64_t size);

}  // namespace sy::io
