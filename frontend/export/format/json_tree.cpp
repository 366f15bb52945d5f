#include "frontend/export/format/json_tree.h"

#include <charconv>
#include <limits>

#include "frontend/io/format/json.h"

namespace sy::exporting {

namespace {

using Kind = JsonValue::Kind;

constexpr size_t kMaxDepth = 500;
constexpr uint64_t kMaxBytes = uint64_t{1} << 31;

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::Null: return "null";
    case Kind::Bool: return "a bool";
    case Kind::Int: return "an integer";
    case Kind::Float: return "a number";
    case Kind::String: return "a string";
    case Kind::Array: return "an array";
    case Kind::Object: return "an object";
  }
  return "";
}

}  // namespace

class JsonTree::Builder : public io::JsonHandler {
 public:
  explicit Builder(JsonTree* tree) : tree_(*tree) {}

  void begin_object(uint64_t at) override { open(at, Kind::Object); }
  void end_object(uint64_t) override { open_.pop_back(); }
  void begin_array(uint64_t at) override { open(at, Kind::Array); }
  void end_array(uint64_t) override { open_.pop_back(); }
  void key(uint64_t, std::string& name) override { key_ = keep(name); }
  void string(uint64_t at, std::string& value) override {
    const Text kept = keep(value);
    add(at, Kind::String).text = kept;
  }
  void unsigned_number(uint64_t at, uint64_t value) override {
    if (value > uint64_t{std::numeric_limits<int64_t>::max()}) {
      add(at, Kind::Float).real = static_cast<double>(value);
    } else {
      add(at, Kind::Int).integer = static_cast<int64_t>(value);
    }
  }
  void other(uint64_t at, const std::string& value) override {
    if (value == "null") {
      add(at, Kind::Null).integer = 0;
    } else if (value == "true" || value == "false") {
      add(at, Kind::Bool).integer = value == "true";
    } else {
      number(at, value);
    }
  }

 private:
  struct Open {
    uint32_t cell, last;
  };

  Text keep(const std::string& s) {
    const Text kept{static_cast<uint32_t>(tree_.texts_.size()),
                    static_cast<uint32_t>(s.size())};
    tree_.texts_ += s;
    return kept;
  }

  void number(uint64_t at, const std::string& value) {
    const char* const end = value.data() + value.size();
    int64_t integer = 0;
    if (const auto read = std::from_chars(value.data(), end, integer);
        read.ec == std::errc() && read.ptr == end) {
      add(at, Kind::Int).integer = integer;
      return;
    }
    double real = 0;
    std::from_chars(value.data(), end, real);
    add(at, Kind::Float).real = real;
  }

  Cell& add(uint64_t at, Kind kind) {
    auto& cells = tree_.cells_;
    const auto index = static_cast<uint32_t>(cells.size());
    Cell cell{};
    cell.kind = kind;
    cell.at = static_cast<uint32_t>(at - tree_.begin_);
    cell.key = key_;
    key_ = {};
    cells.push_back(cell);
    if (!open_.empty()) {
      Open& in = open_.back();
      if (cells[in.cell].in.count++ == 0) {
        cells[in.cell].in.first = index;
      } else {
        cells[in.last].next = index;
      }
      in.last = index;
    }
    return cells.back();
  }

  void open(uint64_t at, Kind kind) {
    if (open_.size() == kMaxDepth) {
      tree_.file_.fail_at(at, "expected at most {} values in one another",
                          kMaxDepth);
    }
    add(at, kind).in = {0, 0};
    const auto cell = static_cast<uint32_t>(tree_.cells_.size() - 1);
    open_.push_back({cell, cell});
  }

  JsonTree& tree_;
  Text key_;
  std::vector<Open> open_;
};

JsonTree::JsonTree(const io::FileView& file, uint64_t begin, uint64_t end)
    : file_(file), begin_(begin) {
  if (end - begin >= kMaxBytes) {
    file.fail_at(begin, "expected less than {} bytes of JSON, got {}",
                 kMaxBytes, end - begin);
  }
  Builder builder(this);
  read_json(file, begin, end, builder);
}

Kind JsonValue::kind() const { return tree_->cells_[cell_].kind; }

void JsonValue::fail_with(const std::string& what) const {
  tree_->file_.fail_at(tree_->begin_ + tree_->cells_[cell_].at, "{}", what);
}

void JsonValue::expect(Kind expected) const {
  if (kind() == expected) return;
  const std::string_view name = key();
  fail("{}expected {}, got {}", name.empty() ? "" : io::in_quotes(name) + ": ",
       kind_name(expected), kind_name(kind()));
}

bool JsonValue::to_bool() const {
  expect(Kind::Bool);
  return tree_->cells_[cell_].integer != 0;
}

int64_t JsonValue::to_int() const {
  expect(Kind::Int);
  return tree_->cells_[cell_].integer;
}

double JsonValue::to_double() const {
  const auto& cell = tree_->cells_[cell_];
  if (cell.kind == Kind::Int) return static_cast<double>(cell.integer);
  if (cell.kind == Kind::String) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const std::string_view s = to_string();
    if (s == "Infinity") return inf;
    if (s == "-Infinity") return -inf;
    if (s == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  expect(Kind::Float);
  return cell.real;
}

std::string_view JsonValue::to_string() const {
  expect(Kind::String);
  return tree_->text(tree_->cells_[cell_].text);
}

std::string_view JsonValue::key() const {
  return tree_->text(tree_->cells_[cell_].key);
}

size_t JsonValue::size() const {
  if (kind() != Kind::Object) expect(Kind::Array);
  return tree_->cells_[cell_].in.count;
}

std::vector<JsonValue> JsonValue::items() const {
  std::vector<JsonValue> out;
  out.reserve(size());
  uint32_t at = tree_->cells_[cell_].in.first;
  for (size_t i = 0; i < size(); ++i) {
    out.push_back({tree_, at});
    at = tree_->cells_[at].next;
  }
  return out;
}

std::optional<JsonValue> JsonValue::find(std::string_view name) const {
  expect(Kind::Object);
  std::optional<JsonValue> found;
  uint32_t at = tree_->cells_[cell_].in.first;
  for (size_t i = 0; i < size(); ++i) {
    const JsonValue member{tree_, at};
    if (member.key() == name) found = member;
    at = tree_->cells_[at].next;
  }
  return found;
}

JsonValue JsonValue::operator[](std::string_view name) const {
  const auto found = find(name);
  if (!found) fail("expected a member '{}'", name);
  return *found;
}

JsonValue JsonValue::only_member() const {
  expect(Kind::Object);
  // Old writers left the kinds that a value is not as null.
  std::optional<JsonValue> found;
  for (const JsonValue& member : items()) {
    if (member.is_null() && size() > 1) continue;
    if (found) fail("expected one member, got {}", size());
    found = member;
  }
  if (!found) fail("expected one member, got none");
  return *found;
}

}  // namespace sy::exporting
