#include "frontend/io/npy.h"

#include <algorithm>

#include "aten/ops/factory.h"
#include "frontend/io/format/mapped_file.h"
#include "frontend/io/format/npy_header.h"
#include "frontend/io/format/output_file.h"
#include "frontend/io/format/zip.h"
#include "frontend/io/tensor_bytes.h"

namespace sy {

namespace {

using io::FileView;

// A mapping of its own costs more than a copy below this size.
constexpr uint64_t kLeastMapped = 64 << 10;
constexpr std::string_view kEnding = ".npy";

// Reverses the bytes of each element.
template <size_t item>
void swap_bytes(const uint8_t* from, uint8_t* to, int64_t numel) {
  for (int64_t i = 0; i < numel; ++i, from += item, to += item) {
    std::reverse_copy(from, from + item, to);
  }
}

Tensor swapped_copy(const uint8_t* data, ScalarType dtype, IntArrayRef sizes) {
  Tensor out = empty(sizes, dtype);
  auto* const to = static_cast<uint8_t*>(out.raw_data());
  switch (element_size(dtype)) {
    case 2: swap_bytes<2>(data, to, out.numel()); break;
    case 4: swap_bytes<4>(data, to, out.numel()); break;
    default: swap_bytes<8>(data, to, out.numel());
  }
  return out;
}

// The array of an .npy file whose bytes are at `data`, as long as `owner` is.
Tensor array_of(const FileView& file, uint8_t* data,
                const std::shared_ptr<void>& owner) {
  const io::NpyHeader h = parse_npy(file);
  std::vector<int64_t> sizes = h.sizes;
  if (h.fortran_order) std::reverse(sizes.begin(), sizes.end());
  Tensor t;
  if (h.swapped) {
    t = swapped_copy(file.data + h.data, h.dtype, sizes);
  } else {
    t = io::tensor_over(file, data, h.data, h.dtype, sizes, owner);
    if (file.size < kLeastMapped) t = t.clone();
  }
  if (h.fortran_order && sizes.size() > 1) {
    std::vector<int64_t> dims(sizes.size());
    for (size_t d = 0; d < dims.size(); ++d) {
      dims[d] = static_cast<int64_t>(dims.size() - 1 - d);
    }
    // Not a view that remembers a base: nothing else is over these elements.
    t = t.permute(dims).detach();
  }
  return t;
}

Tensor member_array(const FileView& archive, const io::ZipMember& m,
                    const std::shared_ptr<io::MappedFile>& file) {
  const std::string path = str("{}: {}", archive.path, io::in_quotes(m.name));
  if (!m.deflated) {
    check_stored(archive, m);
    return array_of({archive.op, path, archive.data + m.data, m.size},
                    file->data() + m.data, file);
  }
  const auto bytes =
      std::make_shared<Tensor>(empty({static_cast<int64_t>(m.size)}, kByte));
  auto* const data = static_cast<uint8_t*>(bytes->raw_data());
  inflate_member(archive, m, data);
  return array_of({archive.op, path, data, m.size}, data, bytes);
}

}  // namespace

Tensor load_npy(const std::string& path) {
  constexpr const char* kOp = "load_npy";
  const auto file = io::MappedFile::open(kOp, path);
  return array_of(file->view(kOp), file->data(), file);
}

void save_npy(const std::string& path, const Tensor& tensor) {
  constexpr const char* kOp = "save_npy";
  io::check_savable(kOp, "tensor", tensor);
  const std::string header =
      io::npy_header(kOp, tensor.scalar_type(), tensor.sizes());
  const Tensor data = io::on_cpu(kOp, tensor);
  io::OutputFile file(kOp, path);
  file.write(header);
  file.write(data.raw_data(), data.nbytes());
  file.commit();
}

NamedTensors load_npz(const std::string& path) {
  constexpr const char* kOp = "load_npz";
  const auto file = io::MappedFile::open(kOp, path);
  const FileView archive = file->view(kOp);
  std::vector<NamedTensors::Entry> arrays;
  for (const io::ZipMember& m : read_zip(archive)) {
    if (!m.name.ends_with(kEnding)) {
      archive.fail_key(m.name, "expected a name that ends in .npy");
    }
    arrays.emplace_back(m.name.substr(0, m.name.size() - kEnding.size()),
                        member_array(archive, m, file));
  }
  return NamedTensors(std::move(arrays));
}

void save_npz(const std::string& path, const NamedTensors& tensors) {
  constexpr const char* kOp = "save_npz";
  for (const auto& [name, t] : tensors) io::check_savable(kOp, name, t);
  io::OutputFile file(kOp, path);
  io::ZipWriter zip(file);
  for (const auto& [name, t] : tensors) {
    const std::string header = io::npy_header(kOp, t.scalar_type(), t.sizes());
    const Tensor data = io::on_cpu(kOp, t);
    const uint64_t bytes = data.nbytes();
    uint32_t crc = io::crc32(0, header.data(), header.size());
    crc = io::crc32(crc, data.raw_data(), bytes);
    zip.member(kOp, name + std::string(kEnding), header.size() + bytes, crc);
    file.write(header);
    file.write(data.raw_data(), bytes);
  }
  zip.finish();
  file.commit();
}

}  // namespace sy
