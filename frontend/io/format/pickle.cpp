#include "frontend/io/format/pickle.h"

#include <algorithm>

namespace sy::io {

namespace {

// Ids and lengths have 32 bits.
constexpr uint64_t kLargest = uint64_t{1} << 31;
// The memory that values may take, for each byte of the file and for any file.
constexpr uint64_t kPerByte = 64, kAlways = uint64_t{16} << 20;
// The memory of a list that has its first items.
constexpr uint64_t kGrowing = 56;

}  // namespace

PickleHandler::~PickleHandler() = default;

Pickle::Pickle(const FileView& file, uint64_t whole)
    : file_(file),
      most_(kAlways + kPerByte * std::min(whole, kLargest)),
      left_(most_) {
  if (file.size > kLargest) {
    file.fail("expected a pickle of at most {} bytes, got {}", kLargest,
              file.size);
  }
  add(Kind::None, 0);
  add(Kind::Bool, 0);
  add(Kind::Bool, 1);
  add(Kind::Tuple, 0);
}

void Pickle::too_large() const {
  file_.fail(
      "expected values that take at most {} bytes of memory, which are {} for "
      "each of the file's, got more",
      most_, kPerByte);
}

std::string_view Pickle::text(PickleId id) const {
  const Node& n = nodes_[id];
  return file_.text(static_cast<uint64_t>(n.integer), n.count, "a text");
}

std::span<const PickleId> Pickle::items(PickleId id) const {
  const Node& n = nodes_[id];
  if (n.kind == Kind::Tuple) return {tuples_.data() + n.integer, n.count};
  if (n.integer < 0) return {};
  return growing_[static_cast<size_t>(n.integer)];
}

PickleId Pickle::add_real(double v) {
  const PickleId id = add(Kind::Float, 0);
  nodes_[id].real = v;
  return id;
}

PickleId Pickle::add_text(Kind kind, uint64_t at, uint64_t size) {
  return add(kind, static_cast<int64_t>(at), static_cast<uint32_t>(size));
}

PickleId Pickle::add_tuple(std::span<const PickleId> items) {
  if (items.empty()) return kEmptyTuple;
  charge(items.size() * sizeof(PickleId));
  const auto begin = static_cast<int64_t>(tuples_.size());
  tuples_.insert(tuples_.end(), items.begin(), items.end());
  return add(Kind::Tuple, begin, static_cast<uint32_t>(items.size()));
}

void Pickle::append(PickleId list_or_dict, std::span<const PickleId> items) {
  Node& n = nodes_[list_or_dict];
  if (items.empty()) return;
  if (n.integer < 0) {
    charge(kGrowing);
    n.integer = static_cast<int64_t>(growing_.size());
    growing_.emplace_back();
  }
  charge(items.size() * sizeof(PickleId));
  std::vector<PickleId>& all = growing_[static_cast<size_t>(n.integer)];
  all.insert(all.end(), items.begin(), items.end());
}

const char* kind_name(Pickle::Kind kind) {
  switch (kind) {
    case Pickle::Kind::None: return "None";
    case Pickle::Kind::Bool: return "a bool";
    case Pickle::Kind::Int: return "an int";
    case Pickle::Kind::Long: return "an int beyond 64 bits";
    case Pickle::Kind::Float: return "a float";
    case Pickle::Kind::Text: return "a string";
    case Pickle::Kind::List: return "a list";
    case Pickle::Kind::Tuple: return "a tuple";
    case Pickle::Kind::Dict: return "a dict";
    case Pickle::Kind::Global: return "a class or function";
    case Pickle::Kind::Object: return "an object";
    case Pickle::Kind::Made: return "a tensor or storage";
  }
  return "";
}

}  // namespace sy::io
