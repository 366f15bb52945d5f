#pragma once

#include <memory>

#include "frontend/io/format/pickle_torch.h"
#include "frontend/io/torch_value.h"

// Makes tensors and trees from archives of PyTorch.

namespace sy::io {

// The bytes of a file, in memory that may be written to.
struct OwnedBytes {
  FileView view;
  uint8_t* data;
  std::shared_ptr<void> owner;
};
// A file, mapped, or a copy of bytes in memory, whose path is "memory".
// `path` must outlive the result.
OwnedBytes map_bytes(const char* op, const std::string& path);
OwnedBytes copy_bytes(const char* op, const void* data, size_t size);

// The treatment of values that ArchiveValue has no kind for.
enum class OtherValues : uint8_t { kRefuse, kNone };

// The tree of an archive with these members.
ArchiveValue read_torch(const OwnedBytes& bytes, std::vector<ZipMember> members,
                        OtherValues others);
// The tree of an archive of PyTorch. Throws FileError for other files.
ArchiveValue read_torch(const OwnedBytes& bytes,
                        OtherValues others = OtherValues::kRefuse);

}  // namespace sy::io
