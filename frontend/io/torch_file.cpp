#include "frontend/io/torch_file.h"

#include <optional>
#include <unordered_map>

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

// Lists, tuples and dicts that stand in several places are written once.
struct Shared {
  struct Occurrence {
    bool again = false;  // met more than once
    std::optional<uint32_t> kept;
  };
  std::unordered_map<const void*, Occurrence> places;

  // Whether the value was met before.
  bool meet(const ArchiveValue& v) {
    if (v.identity() == nullptr) return false;
    const auto [at, added] = places.try_emplace(v.identity());
    at->second.again = !added;
    return !added;
  }
};

void announce(io::TorchWriter& out, Shared& shared, const ArchiveValue& v,
              const std::string& path, int depth) {
  SY_CHECK(depth <= io::kDeepestTree, Value,
           "[{}] value: expected values in values to a depth of {}, got more",
           kWrite, io::kDeepestTree);
  switch (v.kind()) {
    case Kind::Tensor: out.announce(path, v.to_tensor()); return;
    case Kind::List:
    case Kind::Tuple:
      if (shared.meet(v)) return;
      for (size_t i = 0; i < v.items().size(); ++i) {
        announce(out, shared, v.items()[i], below(path, std::to_string(i)),
                 depth + 1);
      }
      return;
    case Kind::Dict:
      if (shared.meet(v)) return;
      for (const ArchiveEntry& e : v.entries()) {
        announce(out, shared, e.value, below(path, key_text(e.key)), depth + 1);
      }
      return;
    default: return;
  }
}

void write(io::TorchWriter& out, Shared& shared, const ArchiveValue& v);

void write_new(io::TorchWriter& out, Shared& shared, const ArchiveValue& v) {
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
      for (const ArchiveValue& item : v.items()) write(out, shared, item);
      p.end_list();
      return;
    case Kind::Tuple:
      if (v.items().empty()) return p.empty_tuple();
      p.mark();
      for (const ArchiveValue& item : v.items()) write(out, shared, item);
      p.end_tuple();
      return;
    case Kind::Dict:
      p.empty_dict();
      if (v.entries().empty()) return;
      p.mark();
      for (const ArchiveEntry& e : v.entries()) {
        write(out, shared, e.key);
        write(out, shared, e.value);
      }
      p.end_dict();
  }
}

void write(io::TorchWriter& out, Shared& shared, const ArchiveValue& v) {
  const auto at = shared.places.find(v.identity());
  if (at == shared.places.end() || !at->second.again) {
    return write_new(out, shared, v);
  }
  if (at->second.kept) return out.pickle().kept(*at->second.kept);
  write_new(out, shared, v);
  at->second.kept = out.pickle().keep();
}

void write_tree(io::TorchWriter& out, const ArchiveValue& value) {
  Shared shared;
  announce(out, shared, value, "", 1);
  write(out, shared, value);
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
  write_tree(out, value);
  out.save(path);
}

std::string torch_file_bytes(const ArchiveValue& value) {
  io::TorchWriter out(kWrite);
  write_tree(out, value);
  io::OutputBytes bytes;
  out.save(bytes);
  return bytes.bytes();
}

}  // namespace sy
