#include "test/fuzz/file_targets.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "frontend/export/format/program_text.h"
#include "frontend/export/format/size_expression.h"
#include "frontend/io/file_error.h"
#include "frontend/io/format/npy_header.h"
#include "frontend/io/format/pickle_torch.h"
#include "frontend/io/format/safetensors_header.h"
#include "frontend/io/format/safetensors_index.h"
#include "frontend/io/format/zip.h"
#include "test/fuzz/promise.h"

namespace sy::fuzz {
namespace {

using io::FileView;

FileView view_of(std::string_view bytes) {
  return {"fuzz", "f", reinterpret_cast<const uint8_t*>(bytes.data()),
          bytes.size()};
}

// Reads; a file that is refused is told from a crash by its error alone.
template <class F>
void reading(F&& read) {
  try {
    read();
  } catch (const FileError& e) {
    promise(e.message().starts_with("[fuzz] f: "), "an error says where");
    promise(e.message().size() < 2000, "an error is short");
  }
}

void check_npy(const FileView& file) {
  const io::NpyHeader h = io::parse_npy(file);
  uint64_t bytes = element_size(h.dtype);
  for (const int64_t s : h.sizes) bytes *= static_cast<uint64_t>(s);
  promise(h.data + bytes == file.size, "an array is its file");
  if (h.fortran_order || h.swapped) return;
  const std::string header = io::npy_header("fuzz", h.dtype, h.sizes);
  std::string again = header + std::string(bytes, '\0');
  promise(io::parse_npy(view_of(again)).sizes == h.sizes,
          "what is written can be read");
}

// Each tensor lies in its storage, and each storage in the file.
void check_torch(const io::TorchFile& t, uint64_t size) {
  for (const io::ZipMember& m : t.storages) {
    promise(m.data + m.compressed <= size, "a storage is in its file");
  }
  std::vector<int64_t> sizes, strides;
  for (const io::TorchTensor& tensor : t.tensors) {
    promise(tensor.storage < t.storages.size(), "a tensor has a storage");
    io::read_dims(t.values, tensor.sizes, sizes);
    io::read_dims(t.values, tensor.strides, strides);
    promise(sizes.size() == strides.size(), "a stride for each size");
    int64_t last = tensor.offset;
    for (size_t d = 0; d < sizes.size(); ++d) {
      promise(sizes[d] >= 0 && strides[d] >= 0, "no step leads back");
      last += std::max<int64_t>(sizes[d] - 1, 0) * strides[d];
    }
    const bool none = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
    const auto room = static_cast<int64_t>(t.storages[tensor.storage].size /
                                           element_size(tensor.dtype));
    promise(tensor.offset >= 0 && (none || last < room),
            "a tensor is in its storage");
  }
  promise(t.root < t.values.size(), "a value of the pickle");
  for (io::PickleId id = 0; id < t.values.size(); ++id) {
    using Kind = io::Pickle::Kind;
    const Kind kind = t.values.kind(id);
    if (kind == Kind::Text || kind == Kind::Long) t.values.text(id);
    if (kind != Kind::List && kind != Kind::Tuple && kind != Kind::Dict) {
      continue;
    }
    for (const io::PickleId item : t.values.items(id)) {
      promise(item < t.values.size(), "an item is a value of the pickle");
    }
    promise(kind != Kind::Dict || t.values.items(id).size() % 2 == 0,
            "a value for each key");
  }
}

}  // namespace

void safetensors(std::string_view bytes) {
  const FileView file = view_of(bytes);
  io::SafetensorsHeader h;
  reading([&] { h = io::parse_safetensors(file); });
  uint64_t used = 0;
  for (io::SafetensorsEntry& e : h.entries) {
    promise(e.begin <= e.end && e.end <= file.size, "a tensor is in its file");
    used += e.end - e.begin;
    e.begin -= std::min(e.begin, uint64_t{8});
    e.end -= std::min(e.end, uint64_t{8});
  }
  promise(used <= file.size, "no byte belongs to two tensors");
  if (h.entries.empty() && h.metadata.empty()) return;
  const std::string header =
      io::safetensors_header("fuzz", h.entries, h.metadata);
  promise(header.size() % 64 == 0, "data are aligned");
}

void safetensors_index(std::string_view text) {
  io::SafetensorsIndex index;
  reading([&] { index = io::parse_safetensors_index(view_of(text)); });
  for (const auto& [name, file] : index.files) {
    promise(!file.empty() && file[0] != '/' && !file.starts_with("../") &&
                file.find("/../") == file.npos,
            "a file is in the folder of its index");
  }
  const std::string again = io::safetensors_index("fuzz", index, 0);
  promise(io::parse_safetensors_index(view_of(again)).files == index.files,
          "what is written can be read");
}

void npy(std::string_view bytes) {
  reading([&] { check_npy(view_of(bytes)); });
}

void npz(std::string_view bytes) {
  const FileView file = view_of(bytes);
  std::vector<io::ZipMember> members;
  reading([&] { members = io::read_zip(file); });
  for (const io::ZipMember& m : members) {
    promise(m.data + m.compressed <= file.size, "a member is in its file");
    reading([&] {
      if (!m.deflated) {
        io::check_stored(file, m);
        check_npy({"fuzz", "f", file.data + m.data, m.size});
        return;
      }
      std::vector<uint8_t> data(m.size);
      io::inflate_member(file, m, data.data());
      check_npy({"fuzz", "f", data.data(), data.size()});
    });
  }
}

void pickle(std::string_view bytes) {
  const FileView file = view_of(bytes);
  std::vector<io::ZipMember> members(9);
  members[0].name = "f/data.pkl";
  members[0].size = members[0].compressed = bytes.size();
  members[0].crc = io::crc32(0, bytes.data(), bytes.size());
  // The storages, of which no byte is read.
  for (size_t i = 1; i < members.size(); ++i) {
    members[i].name = "f/data/" + std::to_string(i - 1);
    members[i].size = members[i].compressed = 64;
  }
  reading([&] { check_torch(*io::parse_torch(file, members), 64); });
}

void torch_archive(std::string_view bytes) {
  const FileView file = view_of(bytes);
  reading([&] {
    std::vector<io::ZipMember> members = io::read_zip(file);
    // Mends the CRCs, so that a damaged pickle is read.
    for (io::ZipMember& m : members) {
      if (!m.deflated) m.crc = io::crc32(0, file.data + m.data, m.size);
    }
    check_torch(*io::parse_torch(file, std::move(members)), file.size);
  });
}

void program_text(std::string_view text) {
  exporting::ProgramText program;
  const FileView file = view_of(text);
  reading([&] { program = exporting::read_program_text(file, 0, file.size); });
  for (const exporting::NodeText& node : program.graph.nodes) {
    promise(!node.target.empty(), "a node calls something");
    promise(node.target.size() + node.name.size() <= text.size(),
            "names are parts of the text");
  }
}

void size_expression(std::string_view text) {
  const exporting::SizeExpression e(text);
  const auto one = [](const std::string&) -> std::optional<int64_t> {
    return 1;
  };
  const std::optional<int64_t> value = e.value(one);
  if (e.constant()) promise(value == e.constant(), "a number is its value");
  if (e.symbol() != nullptr) promise(value == 1, "a symbol is its value");
  promise(e.text().size() <= 8 * text.size() + 8, "a formula is short");
}

}  // namespace sy::fuzz
