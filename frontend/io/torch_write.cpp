#include "frontend/io/torch_write.h"

#include "frontend/io/format/json.h"
#include "frontend/io/format/pickle_torch.h"
#include "frontend/io/format/zip.h"
#include "frontend/io/tensor_bytes.h"

namespace sy::io {

namespace {

constexpr std::string_view kName = "archive/";

bool same_place(const Tensor& a, const Tensor& b) {
  return a.storage_offset() == b.storage_offset() && a.sizes() == b.sizes() &&
         a.strides() == b.strides();
}

int64_t room(const Tensor& t) {
  return static_cast<int64_t>(t.storage()->nbytes() / t.element_size());
}

// All elements of the storage, in their order.
Tensor all_of(const Tensor& t) {
  return Tensor(t.impl()->alias({room(t)}, {1}, 0));
}

void write_dims(PickleWriter& out, IntArrayRef dims) {
  out.mark();
  for (const int64_t d : dims) out.integer(d);
  out.end_tuple();
}

void write_member(ZipWriter& zip, Output& file, const char* op,
                  const std::string& name, const void* data, uint64_t size) {
  zip.member(op, std::string(kName) + name, size, crc32(0, data, size));
  file.write(data, size);
}

}  // namespace

void TorchWriter::announce(std::string_view name, const Tensor& t) {
  check_savable(op_, name, t);
  const bool covers = t.is_non_overlapping_and_dense() && t.numel() == room(t);
  const auto [at, added] =
      parts_.try_emplace({t.storage().get(), t.scalar_type()}, Part{t, covers});
  Part& part = at->second;
  if (!added && !same_place(part.first, t)) part.whole = true;
}

void TorchWriter::tensor(const Tensor& t, bool requires_grad) {
  Part& part = parts_.at({t.storage().get(), t.scalar_type()});
  PickleWriter& out = pickle_;
  out.global("torch._utils", "_rebuild_tensor_v2");
  out.mark();
  if (part.written) {
    out.kept(part.kept);
  } else {
    part.written = true;
    out.mark();
    out.text("storage");
    out.global("torch", torch_storage_name(t.scalar_type()));
    out.text(std::to_string(storages_.size()));
    out.text("cpu");
    out.integer(part.whole ? room(t) : t.numel());
    out.end_tuple();
    out.outside();
    part.kept = out.keep();
    storages_.push_back(part.whole ? all_of(t) : t);
  }
  if (part.whole) {
    out.integer(t.storage_offset());
    write_dims(out, t.sizes());
    write_dims(out, t.strides());
  } else {
    std::vector<int64_t> strides(static_cast<size_t>(t.dim()));
    contiguous_strides(t.sizes(), strides.data());
    out.integer(0);
    write_dims(out, t.sizes());
    write_dims(out, strides);
  }
  out.boolean(requires_grad);
  out.global("collections", "OrderedDict");
  out.empty_tuple();
  out.call();
  out.end_tuple();
  out.call();
}

void TorchWriter::text(const char* what, std::string_view v) {
  std::string scratch;
  SY_CHECK(v.size() <= UINT32_MAX && append_json_string(scratch, v), Value,
           "[{}] {}: expected UTF-8 of fewer than 2^32 bytes, got {}", op_,
           what, in_quotes(v));
  pickle_.text(v);
}

void TorchWriter::save(const std::string& path) {
  OutputFile file(op_, path);
  save(file);
  file.commit();
}

void TorchWriter::save(Output& file) {
  member("version", "3\n");
  member("byteorder", "little");
  ZipWriter zip(file);
  const std::string pickle = pickle_.finish();
  write_member(zip, file, op_, "data.pkl", pickle.data(), pickle.size());
  for (const auto& [name, bytes] : members_) {
    write_member(zip, file, op_, name, bytes.data(), bytes.size());
  }
  for (size_t key = 0; key < storages_.size(); ++key) {
    const Tensor data = on_cpu(op_, storages_[key]);
    write_member(zip, file, op_, str("data/{}", key), data.raw_data(),
                 data.nbytes());
  }
  zip.finish();
}

}  // namespace sy::io
