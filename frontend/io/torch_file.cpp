#include "frontend/io/torch_file.h"

#include "frontend/io/format/pickle_torch.h"
#include "frontend/io/torch_read.h"
#include "frontend/io/torch_write.h"

namespace sy {

namespace {

using Kind = ArchiveValue::Kind;

constexpr const char* kWrite = "write_torch_file";

// For messages: "model.fc.0".
std::string below(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

std::string key_text(const ArchiveValue& key) {
  return key.kind() == Kind::Int ? std::to_string(key.to_int())
                                 : key.to_string();
}

void announce(io::TorchWriter& out, const ArchiveValue& v,
              const std::string& path, int depth) {
  SY_CHECK(depth <= io::kDeepestTree, Value,
           "[{}] value: expected values in values to a depth of {}, got more",
           kWrite, io::kDeepestTree);
  switch (v.kind()) {
    case Kind::Tensor: out.announce(path, v.to_tensor()); return;
    case Kind::List:
    case Kind::Tuple:
      for (size_t i = 0; i < v.items().size(); ++i) {
        announce(out, v.items()[i], below(path, std::to_string(i)), depth + 1);
      }
      return;
    case Kind::Dict:
      for (const ArchiveEntry& e : v.entries()) {
        announce(out, e.value, below(path, key_text(e.key)), depth + 1);
      }
      return;
    default: return;
  }
}

void write(io::TorchWriter& out, const ArchiveValue& v) {
  io::PickleWriter& p = out.pickle();
  switch (v.kind()) {
    case Kind::None: p.none(); return;
    case Kind::Bool: p.boolean(v.to_bool()); return;
    case Kind::Int: p.integer(v.to_int()); return;
    case Kind::Float: p.real(v.to_double()); return;
    case Kind::String: out.text("a string", v.to_string()); return;
    case Kind::Tensor:
      out.tensor(v.to_tensor(), v.to_tensor().requires_grad());
      return;
    case Kind::List:
      p.empty_list();
      if (v.items().empty()) return;
      p.mark();
      for (const ArchiveValue& item : v.items()) write(out, item);
      p.end_list();
      return;
    case Kind::Tuple:
      if (v.items().empty()) return p.empty_tuple();
      p.mark();
      for (const ArchiveValue& item : v.items()) write(out, item);
      p.end_tuple();
      return;
    case Kind::Dict:
      p.empty_dict();
      if (v.entries().empty()) return;
      p.mark();
      for (const ArchiveEntry& e : v.entries()) {
        write(out, e.key);
        write(out, e.value);
      }
      p.end_dict();
  }
}

}  // namespace

ArchiveValue read_torch_file(const std::string& path) {
  return io::read_torch(io::map_bytes("read_torch_file", path));
}

ArchiveValue read_torch_bytes(const void* data, size_t size) {
  return io::read_torch(io::copy_bytes("read_torch_bytes", data, size));
}

void write_torch_file(const std::string& path, const ArchiveValue& value) {
  io::TorchWriter out(kWrite);
  announce(out, value, "", 1);
  write(out, value);
  out.save(path);
}

}  // namespace sy
