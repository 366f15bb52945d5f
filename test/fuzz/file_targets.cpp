#include "test/fuzz/file_targets.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "frontend/io/file_error.h"
#include "frontend/io/format/npy_header.h"
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

}  // namespace sy::fuzz
