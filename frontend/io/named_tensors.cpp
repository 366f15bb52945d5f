#include "frontend/io/named_tensors.h"

#include <algorithm>
#include <numeric>

#include "frontend/io/format/file_view.h"

namespace sy {

namespace {

[[noreturn]] void twice(const std::string& name) {
  fail(ErrorKind::Value,
       "[NamedTensors] name: expected each once, got {} twice",
       io::in_quotes(name));
}

}  // namespace

NamedTensors::NamedTensors(std::initializer_list<Entry> entries)
    : NamedTensors(std::vector<Entry>(entries)) {}

NamedTensors::NamedTensors(std::vector<Entry> entries)
    : entries_(std::move(entries)), sorted_(entries_.size()) {
  std::iota(sorted_.begin(), sorted_.end(), 0u);
  const auto name = [&](uint32_t i) -> const std::string& {
    return entries_[i].first;
  };
  std::sort(sorted_.begin(), sorted_.end(),
            [&](uint32_t a, uint32_t b) { return name(a) < name(b); });
  for (size_t i = 1; i < sorted_.size(); ++i) {
    if (name(sorted_[i - 1]) == name(sorted_[i])) twice(name(sorted_[i]));
  }
}

std::vector<uint32_t>::const_iterator NamedTensors::place(
    std::string_view name) const {
  return std::lower_bound(
      sorted_.begin(), sorted_.end(), name,
      [&](uint32_t i, std::string_view n) { return entries_[i].first < n; });
}

void NamedTensors::insert(std::string name, Tensor tensor) {
  const auto at = place(name);
  if (at != sorted_.end() && entries_[*at].first == name) twice(name);
  sorted_.insert(at, static_cast<uint32_t>(entries_.size()));
  entries_.emplace_back(std::move(name), std::move(tensor));
}

const Tensor* NamedTensors::find(std::string_view name) const {
  const auto at = place(name);
  const bool there = at != sorted_.end() && entries_[*at].first == name;
  return there ? &entries_[*at].second : nullptr;
}

const Tensor& NamedTensors::operator[](std::string_view name) const {
  const Tensor* const found = find(name);
  SY_CHECK(found != nullptr, Index,
           "[NamedTensors] name: expected one of {} names, got {}", size(),
           io::in_quotes(name));
  return *found;
}

}  // namespace sy
