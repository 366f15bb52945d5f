#include "frontend/io/torch_value.h"

#include <algorithm>
#include <numeric>

#include "frontend/io/format/file_view.h"

namespace sy {

namespace {

using Kind = ArchiveValue::Kind;
using Items = std::vector<ArchiveValue>;

struct Dict {
  std::vector<ArchiveEntry> entries;
  std::vector<uint32_t> sorted;  // their indices, by key
};

// Integers before strings.
bool before(const ArchiveValue& a, const ArchiveValue& b) {
  if (a.kind() != b.kind()) return a.kind() < b.kind();
  return a.kind() == Kind::Int ? a.to_int() < b.to_int()
                               : a.to_string() < b.to_string();
}

std::vector<uint32_t> sorted_by_key(const std::vector<ArchiveEntry>& entries) {
  for (const ArchiveEntry& e : entries) {
    SY_CHECK(e.key.kind() == Kind::Int || e.key.kind() == Kind::String, Value,
             "[ArchiveValue] key: expected a string or an int, got {}",
             kind_name(e.key.kind()));
  }
  std::vector<uint32_t> sorted(entries.size());
  std::iota(sorted.begin(), sorted.end(), 0u);
  std::sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) {
    return before(entries[a].key, entries[b].key);
  });
  for (size_t i = 1; i < sorted.size(); ++i) {
    const ArchiveValue& key = entries[sorted[i]].key;
    if (before(entries[sorted[i - 1]].key, key)) continue;
    fail(ErrorKind::Value,
         "[ArchiveValue] key: expected each once, got {} twice",
         key.kind() == Kind::Int ? std::to_string(key.to_int())
                                 : io::in_quotes(key.to_string()));
  }
  return sorted;
}

}  // namespace

const char* kind_name(ArchiveValue::Kind kind) {
  switch (kind) {
    case Kind::None: return "None";
    case Kind::Bool: return "a bool";
    case Kind::Int: return "an int";
    case Kind::Float: return "a float";
    case Kind::String: return "a string";
    case Kind::Tensor: return "a tensor";
    case Kind::List: return "a list";
    case Kind::Tuple: return "a tuple";
    case Kind::Dict: return "a dict";
  }
  return "";
}

ArchiveValue::ArchiveValue(std::string v)
    : payload_(std::make_shared<const std::string>(std::move(v))),
      kind_(Kind::String) {}

ArchiveValue::ArchiveValue(Tensor v) {
  if (!v.defined()) return;
  kind_ = Kind::Tensor;
  payload_ = std::make_shared<const Tensor>(std::move(v));
}

ArchiveValue ArchiveValue::list(Items items) {
  if (items.empty()) return {Kind::List, nullptr};
  return {Kind::List, std::make_shared<const Items>(std::move(items))};
}

ArchiveValue ArchiveValue::tuple(Items items) {
  if (items.empty()) return {Kind::Tuple, nullptr};
  return {Kind::Tuple, std::make_shared<const Items>(std::move(items))};
}

ArchiveValue ArchiveValue::dict(std::vector<ArchiveEntry> entries) {
  if (entries.empty()) return {Kind::Dict, nullptr};
  std::vector<uint32_t> sorted = sorted_by_key(entries);
  return {Kind::Dict, std::make_shared<const Dict>(
                          Dict{std::move(entries), std::move(sorted)})};
}

void ArchiveValue::wrong(const char* expected) const {
  fail(ErrorKind::Type, "[ArchiveValue] expected {}, got {}", expected,
       kind_name(kind_));
}

const void* ArchiveValue::payload(Kind kind) const {
  if (kind_ != kind) wrong(kind_name(kind));
  return payload_.get();
}

bool ArchiveValue::to_bool() const {
  if (kind_ != Kind::Bool) wrong("a bool");
  return integer_ != 0;
}

int64_t ArchiveValue::to_int() const {
  if (kind_ != Kind::Int && kind_ != Kind::Bool) wrong("an int");
  return integer_;
}

double ArchiveValue::to_double() const {
  if (kind_ == Kind::Float) return real_;
  if (kind_ != Kind::Int && kind_ != Kind::Bool) wrong("a float");
  return static_cast<double>(integer_);
}

const std::string& ArchiveValue::to_string() const {
  return *static_cast<const std::string*>(payload(Kind::String));
}

const Tensor& ArchiveValue::to_tensor() const {
  return *static_cast<const Tensor*>(payload(Kind::Tensor));
}

const std::vector<ArchiveValue>& ArchiveValue::items() const {
  static const Items none;
  const auto* const items = static_cast<const Items*>(
      payload(kind_ == Kind::Tuple ? Kind::Tuple : Kind::List));
  return items != nullptr ? *items : none;
}

const std::vector<ArchiveEntry>& ArchiveValue::entries() const {
  static const std::vector<ArchiveEntry> none;
  const auto* const dict = static_cast<const Dict*>(payload(Kind::Dict));
  return dict != nullptr ? dict->entries : none;
}

const ArchiveValue* ArchiveValue::find(std::string_view key) const {
  const auto* const dict = static_cast<const Dict*>(payload(Kind::Dict));
  if (dict == nullptr) return nullptr;
  const auto at =
      std::lower_bound(dict->sorted.begin(), dict->sorted.end(), key,
                       [&](uint32_t i, std::string_view k) {
                         const ArchiveValue& own = dict->entries[i].key;
                         return own.kind_ == Kind::Int || own.to_string() < k;
                       });
  if (at == dict->sorted.end()) return nullptr;
  const ArchiveEntry& e = dict->entries[*at];
  return e.key.to_string() == key ? &e.value : nullptr;
}

const ArchiveValue& ArchiveValue::operator[](std::string_view key) const {
  const ArchiveValue* const found = find(key);
  SY_CHECK(found != nullptr, Index,
           "[ArchiveValue] key: expected one of {} keys, got {}",
           entries().size(), io::in_quotes(key));
  return *found;
}

namespace {

void add_tensors(const ArchiveValue& v, std::vector<Tensor>* out) {
  switch (v.kind()) {
    case Kind::Tensor: out->push_back(v.to_tensor()); return;
    case Kind::List:
    case Kind::Tuple:
      for (const ArchiveValue& item : v.items()) add_tensors(item, out);
      return;
    case Kind::Dict:
      for (const ArchiveEntry& e : v.entries()) add_tensors(e.value, out);
      return;
    default: return;
  }
}

ArchiveValue replaced(const ArchiveValue& v, const std::vector<Tensor>& tensors,
                      size_t* at) {
  switch (v.kind()) {
    case Kind::Tensor: return ArchiveValue(tensors.at((*at)++));
    case Kind::List:
    case Kind::Tuple: {
      Items items;
      for (const ArchiveValue& item : v.items()) {
        items.push_back(replaced(item, tensors, at));
      }
      return v.kind() == Kind::List ? ArchiveValue::list(std::move(items))
                                    : ArchiveValue::tuple(std::move(items));
    }
    case Kind::Dict: {
      std::vector<ArchiveEntry> entries = v.entries();
      for (ArchiveEntry& e : entries) e.value = replaced(e.value, tensors, at);
      return ArchiveValue::dict(std::move(entries));
    }
    default: return v;
  }
}

}  // namespace

std::vector<Tensor> ArchiveValue::tensors() const {
  std::vector<Tensor> out;
  add_tensors(*this, &out);
  return out;
}

ArchiveValue ArchiveValue::with_tensors(
    const std::vector<Tensor>& tensors) const {
  size_t at = 0;
  return replaced(*this, tensors, &at);
}

}  // namespace sy
