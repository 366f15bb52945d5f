#include <istream>

#include "c10/dispatch/thread_state.h"
#include "frontend/io/format/file_view.h"
#include "frontend/io/torch_archive.h"
#include "frontend/io/torch_read.h"

namespace sy::serialize {

namespace {

using Kind = ArchiveValue::Kind;

constexpr const char* kOp = "load_from";

Tensor placed(const Tensor& t, std::optional<Device> device) {
  return device ? t.to(*device) : t;
}

// A list whose items are of one kind, as a Value; None for others.
Value list_value(const std::vector<ArchiveValue>& items,
                 std::optional<Device> device) {
  if (items.empty()) return Value(IntArrayRef());
  const Kind kind = items[0].kind();
  for (const ArchiveValue& item : items) {
    if (item.kind() != kind) return {};
  }
  switch (kind) {
    case Kind::Int: {
      std::vector<int64_t> list;
      for (const ArchiveValue& item : items) list.push_back(item.to_int());
      return Value(IntArrayRef(list));
    }
    case Kind::Float: {
      std::vector<double> list;
      for (const ArchiveValue& item : items) list.push_back(item.to_double());
      return Value(ArrayRef<double>(list));
    }
    case Kind::Bool: {
      const auto list = std::make_unique<bool[]>(items.size());
      for (size_t i = 0; i < items.size(); ++i) list[i] = items[i].to_bool();
      return Value(ArrayRef<bool>(list.get(), items.size()));
    }
    case Kind::Tensor: {
      std::vector<Tensor> list;
      for (const ArchiveValue& item : items) {
        list.push_back(placed(item.to_tensor(), device));
      }
      return Value::tensor_list(list.data(), list.size());
    }
    case Kind::String: {
      std::vector<std::string_view> list;
      for (const ArchiveValue& item : items) list.push_back(item.to_string());
      return Value::string_list(list.data(), list.size());
    }
    default: return {};
  }
}

// False for a value that Value has no kind for.
bool to_value(const ArchiveValue& from, std::optional<Device> device,
              Value* to) {
  switch (from.kind()) {
    case Kind::None: *to = {}; return true;
    case Kind::Bool: *to = from.to_bool(); return true;
    case Kind::Int: *to = from.to_int(); return true;
    case Kind::Float: *to = from.to_double(); return true;
    case Kind::String: *to = std::string_view(from.to_string()); return true;
    case Kind::Tensor: *to = placed(from.to_tensor(), device); return true;
    case Kind::List:
    case Kind::Tuple: {
      Value list = list_value(from.items(), device);
      if (list.is_none()) return false;
      *to = std::move(list);
      return true;
    }
    default: return false;
  }
}

// Writes the elements, or else takes over the other's.
void replace(Tensor& tensor, const Tensor& by) {
  const NoGradGuard no_grad;
  if (tensor.sizes() == by.sizes() &&
      tensor.scalar_type() == by.scalar_type()) {
    tensor.copy_(by);
    return;
  }
  tensor.impl()->shallow_copy_from(
      *(by.device() == tensor.device() ? by : by.to(tensor.device())).impl());
}

}  // namespace

void InputArchive::set(ArchiveValue value, std::optional<Device> device) {
  value_ = std::move(value);
  device_ = device;
  path_.clear();
}

void InputArchive::load_from(const std::string& path,
                             std::optional<Device> device) {
  set(io::read_torch(io::map_bytes(kOp, path)), device);
}

void InputArchive::load_from(const char* data, size_t size,
                             std::optional<Device> device) {
  set(io::read_torch(io::copy_bytes(kOp, data, size)), device);
}

void InputArchive::load_from(std::istream& in, std::optional<Device> device) {
  constexpr size_t kBlock = 1 << 20;
  std::string bytes;
  while (in) {
    const size_t before = bytes.size();
    bytes.resize(before + kBlock);
    in.read(bytes.data() + before, kBlock);
    bytes.resize(before + static_cast<size_t>(in.gcount()));
  }
  load_from(bytes.data(), bytes.size(), device);
}

const ArchiveValue* InputArchive::find(std::string_view key) const {
  return value_.is_dict() ? value_.find(key) : nullptr;
}

void InputArchive::missing(std::string_view key) const {
  const ArchiveValue* const found = find(key);
  fail(ErrorKind::Value, "[InputArchive] {}: {}",
       io::in_quotes(path_ + std::string(key)),
       found == nullptr ? "expected such a key in the archive, found none"
                        : str("expected another kind of value, got {}",
                              kind_name(found->kind())));
}

bool InputArchive::try_read(std::string_view key, Tensor& tensor, bool) {
  const ArchiveValue* const found = find(key);
  if (found == nullptr || !found->is_tensor()) return false;
  Tensor read = placed(found->to_tensor(), device_);
  if (tensor.defined()) {
    replace(tensor, read);
  } else {
    tensor = std::move(read);
  }
  return true;
}

bool InputArchive::try_read(std::string_view key, InputArchive& archive) {
  const ArchiveValue* const found = find(key);
  if (found == nullptr || !found->is_dict()) return false;
  InputArchive child;
  child.set(*found, device_);
  child.path_ = path_ + std::string(key) + ".";
  archive = std::move(child);
  return true;
}

bool InputArchive::try_read(std::string_view key, Value& value) {
  const ArchiveValue* const found = find(key);
  return found != nullptr && to_value(*found, device_, &value);
}

bool InputArchive::try_read(std::string_view key, std::vector<Value>& items) {
  const ArchiveValue* const found = find(key);
  if (found == nullptr ||
      (found->kind() != Kind::Tuple && found->kind() != Kind::List)) {
    return false;
  }
  std::vector<Value> read(found->items().size());
  for (size_t i = 0; i < read.size(); ++i) {
    if (!to_value(found->items()[i], device_, &read[i])) return false;
  }
  items = std::move(read);
  return true;
}

bool InputArchive::try_read(std::string_view key, int64_t& value) {
  const ArchiveValue* const found = find(key);
  if (found == nullptr || found->kind() != Kind::Int) return false;
  value = found->to_int();
  return true;
}

bool InputArchive::try_read(std::string_view key, double& value) {
  const ArchiveValue* const found = find(key);
  if (found == nullptr || found->kind() != Kind::Float) return false;
  value = found->to_double();
  return true;
}

bool InputArchive::try_read(std::string_view key, bool& value) {
  const ArchiveValue* const found = find(key);
  if (found == nullptr || found->kind() != Kind::Bool) return false;
  value = found->to_bool();
  return true;
}

bool InputArchive::try_read(std::string_view key, std::string& value) {
  const ArchiveValue* const found = find(key);
  if (found == nullptr || found->kind() != Kind::String) return false;
  value = found->to_string();
  return true;
}

std::vector<std::string> InputArchive::keys() const {
  std::vector<std::string> keys;
  if (!value_.is_dict()) return keys;
  for (const ArchiveEntry& e : value_.entries()) {
    if (e.key.kind() == Kind::String) keys.push_back(e.key.to_string());
  }
  return keys;
}

void read_into(Tensor& tensor, InputArchive& archive) {
  archive.read("0", tensor);
}

void read_into(std::vector<Tensor>& tensors, InputArchive& archive) {
  for (size_t i = 0;; ++i) {
    Tensor t;
    if (!archive.try_read(std::to_string(i), t)) return;
    tensors.push_back(std::move(t));
  }
}

}  // namespace sy::serialize
