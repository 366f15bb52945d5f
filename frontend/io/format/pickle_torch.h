#pragma once

#include <memory>
#include <string>
#include <vector>

#include "c10/tensor/array_ref.h"
#include "c10/tensor/scalar_type.h"
#include "frontend/io/format/pickle.h"
#include "frontend/io/format/zip.h"

// PyTorch's archives: a zip with a pickle, NAME/data.pkl, and the bytes of
// storages, NAME/data/K. Python's torch.save writes them since 1.6, libtorch's
// torch::save and pickle_save with other globals. Turns bytes into a checked
// description, and makes no tensor.

namespace sy::io {

// How deep values may stand in values, so that recursion ends.
constexpr int kDeepestTree = 200;

// A tensor over a part of a storage, which is large enough for it.
struct TorchTensor {
  uint32_t storage = 0;  // of TorchFile::storages
  ScalarType dtype = ScalarType::Undefined;
  bool requires_grad = false;
  int64_t offset = 0;  // in elements, like the strides
  // Tuples of non-negative integers, of equal length.
  PickleId sizes = Pickle::kEmptyTuple;
  PickleId strides = Pickle::kEmptyTuple;
};

// The tags of a pickle's values of kind Made; their number is an index.
enum TorchMade : uint32_t {
  kTorchTensor,  // of TorchFile::tensors
  kTorchStorage,
};

struct TorchFile {
  // `whole`: the bytes of the archive.
  TorchFile(std::string pickle_path, std::string_view op, const uint8_t* pickle,
            uint64_t size, std::vector<uint8_t> inflated, uint64_t whole)
      : path(std::move(pickle_path)),
        bytes(std::move(inflated)),
        values({op, path, pickle, size}, whole) {}
  TorchFile(const TorchFile&) = delete;
  TorchFile& operator=(const TorchFile&) = delete;

  std::string path;
  std::vector<uint8_t> bytes;  // of the pickle, if it was deflated
  Pickle values;
  PickleId root = Pickle::kNone;
  std::vector<ZipMember> storages;
  std::vector<TorchTensor> tensors;
};

// Whether the members are those of such an archive.
bool is_torch_archive(const std::vector<ZipMember>& members);

// Reads an archive with these members. Throws FileError for anything that it
// does not know, and for tensors that do not fit their storages. The check sum
// of data.pkl is checked, those of storages are not. The result borrows the
// file.
std::unique_ptr<TorchFile> parse_torch(const FileView& file,
                                       std::vector<ZipMember> members);

// The text of a global that is a value: "torch.float16"; "" for others.
std::string torch_word(uint64_t global);
// The name of a dtype's storage, "FloatStorage".
const char* torch_storage_name(ScalarType dtype);

// The integers of a tuple that parse_torch has checked.
void read_dims(const Pickle& values, PickleId tuple, std::vector<int64_t>& out);

}  // namespace sy::io
