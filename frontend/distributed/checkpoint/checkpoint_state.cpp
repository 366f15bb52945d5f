#include <charconv>
#include <cstdio>

#include "c10/process/error.h"
#include "frontend/distributed/checkpoint/checkpoint.h"
#include "frontend/distributed/training/sampler_support.h"
#include "frontend/io/format/file_view.h"

namespace sy::distributed {

namespace {

constexpr const char* kOp = "CheckpointState";

void check_part(std::string_view part) {
  SY_CHECK(!part.empty() && part.find('/') == part.npos &&
               part.find('\0') == part.npos,
           Value, "[{}] part: expected a name without '/', got {}", kOp,
           io::in_quotes(part));
}

std::string prefix_of(std::string_view part) {
  std::string prefix(part);
  prefix += '/';
  return prefix;
}

bool has_part(const NamedTensors& all, std::string_view part) {
  const std::string prefix = prefix_of(part);
  for (const auto& [name, t] : all) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

void add_part(NamedTensors* all, const std::string& part,
              const NamedTensors& tensors) {
  check_part(part);
  SY_CHECK(!has_part(*all, part), Value,
           "[{}] part: expected a new name, got {} again", kOp,
           io::in_quotes(part));
  const std::string prefix = prefix_of(part);
  for (const auto& [name, t] : tensors) all->insert(prefix + name, t);
}

// "'a', 'b'": the keys, or their parts before a '/'.
template <class Dict>
std::string list_of(const Dict& all) {
  std::string list, last;
  for (const auto& item : all) {
    std::string name = item.first.substr(0, item.first.find('/'));
    if (name == last) continue;
    if (!list.empty()) list += ", ";
    list += io::in_quotes(name);
    last = std::move(name);
  }
  return list.empty() ? "none" : list;
}

NamedTensors part_of(const NamedTensors& all, std::string_view part) {
  const std::string prefix = prefix_of(part);
  NamedTensors out;
  for (const auto& [name, t] : all) {
    if (name.starts_with(prefix)) out.insert(name.substr(prefix.size()), t);
  }
  SY_CHECK(!out.empty(), Value, "[{}] part: expected one of {}, got {}", kOp,
           list_of(all), io::in_quotes(part));
  return out;
}

template <class T>
T parsed(std::string_view name, const std::string& text, const char* what) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  SY_CHECK(error == std::errc() && at == end, Value,
           "[{}] {}: expected {}, got {}", kOp, name, what,
           io::in_quotes(text));
  return value;
}

}  // namespace

void CheckpointState::add(const std::string& part,
                          const NamedTensors& tensors) {
  add_part(&tensors_, part, tensors);
}

NamedTensors CheckpointState::get(std::string_view part) const {
  return part_of(tensors_, part);
}

bool CheckpointState::has(std::string_view part) const {
  return has_part(tensors_, part);
}

void CheckpointState::set_text(const std::string& name, std::string text) {
  check_part(name);
  std::string* const there = values_.find(name);
  if (there != nullptr) {
    *there = std::move(text);
  } else {
    values_.insert(name, std::move(text));
  }
}

void CheckpointState::set(const std::string& name, double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  set_text(name, std::string(text, end));
}

const std::string& CheckpointState::text(std::string_view name) const {
  const std::string* const value = values_.find(name);
  SY_CHECK(value != nullptr, Value, "[{}] value: expected one of {}, got {}",
           kOp, list_of(values_), io::in_quotes(name));
  return *value;
}

int64_t CheckpointState::integer(std::string_view name) const {
  return parsed<int64_t>(name, text(name), "an integer");
}

double CheckpointState::number(std::string_view name) const {
  return parsed<double>(name, text(name), "a number");
}

void CheckpointState::add_shard(const std::string& name, const Tensor& rows,
                                int64_t offset) {
  check_part(name);
  SY_CHECK(rows.defined() && rows.dim() > 0, Value,
           "[{}] shard {}: expected a tensor of at least one dim", kOp,
           io::in_quotes(name));
  SY_CHECK(offset >= 0, Value,
           "[{}] shard {}: expected an offset of at least 0, got {}", kOp,
           io::in_quotes(name), offset);
  shards_.insert(name, {rows, offset, 0});
}

const CheckpointShard& CheckpointState::shard(std::string_view name) const {
  const CheckpointShard* const s = shards_.find(name);
  SY_CHECK(s != nullptr, Value, "[{}] shard: expected one of {}, got {}", kOp,
           list_of(shards_), io::in_quotes(name));
  return *s;
}

void CheckpointState::add_own(const std::string& part,
                              const NamedTensors& tensors) {
  add_part(&own_, part, tensors);
}

NamedTensors CheckpointState::own(std::string_view part) const {
  return part_of(own_, part);
}

bool CheckpointState::has_own(std::string_view part) const {
  return has_part(own_, part);
}

NamedTensors generator_state(const Generator& generator) {
  NamedTensors state;
  detail::add_number(&state, "seed", static_cast<int64_t>(generator->seed()));
  detail::add_number(&state, "offset",
                     static_cast<int64_t>(generator->offset()));
  return state;
}

void set_generator_state(const NamedTensors& state,
                         const Generator& generator) {
  constexpr const char* kSet = "set_generator_state";
  const int64_t seed = detail::number_of(kSet, state, "seed");
  const int64_t offset = detail::number_of(kSet, state, "offset");
  generator->set_seed(static_cast<uint64_t>(seed));
  generator->set_offset(static_cast<uint64_t>(offset));
}

}  // namespace sy::distributed
