#include "tools/sy/cases/effects.h"

#include <algorithm>

#include "c10/process/error.h"

namespace sy::tools {

namespace {

// Marks the bytes of the elements.
void mark(std::vector<bool>& bytes, const HostTensor& t, bool value) {
  const auto item = static_cast<int64_t>(element_size(t.dtype));
  const auto end = static_cast<int64_t>(bytes.size());
  for (int64_t i : element_indices(t.sizes, t.strides, t.offset)) {
    for (int64_t b = i * item; b < std::min(end, (i + 1) * item); ++b) {
      bytes[static_cast<size_t>(b)] = value;
    }
  }
}

std::string same_shape(const HostTensor& now, const HostTensor& before) {
  if (now.dtype != before.dtype) return "dtype changed";
  if (now.sizes != before.sizes) return "sizes changed";
  if (now.strides != before.strides || now.offset != before.offset) {
    return "strides or offset changed";
  }
  return "";
}

}  // namespace

Before::Before(const Arguments& arguments) {
  for (const NamedTensor& t : arguments.tensors) {
    tensors_.push_back({&t, t.tensor.storage(), read_tensor(t.tensor)});
  }
}

bool Before::has_storage(const Storage& s) const {
  return std::any_of(tensors_.begin(), tensors_.end(), [&](const Tensor& t) {
    return t.storage == s || t.argument->tensor.storage() == s;
  });
}

std::string Before::compare(const Json& mutated, const Safetensors& storages,
                            Tolerance tolerance) const {
  for (const auto& [name, expected] : mutated.items()) {
    const auto it = std::find_if(
        tensors_.begin(), tensors_.end(),
        [&, &n = name](const Tensor& t) { return t.argument->name == n; });
    SY_CHECK(it != tensors_.end(), Value, "mutated: no tensor argument {}",
             name);
    const std::string why = compare_written(*it, expected, storages, tolerance);
    if (!why.empty()) return str("mutated {}: {}", name, why);
  }
  for (const Tensor& t : tensors_) {
    const std::string why = compare_untouched(t, mutated);
    if (!why.empty()) return str("argument {}: {}", t.argument->name, why);
  }
  return "";
}

std::string Before::compare_written(const Tensor& t, const Json& expected,
                                    const Safetensors& storages,
                                    Tolerance tolerance) const {
  const HostTensor want =
      read_tensor(parse_tensor(expected, storages, t.argument->name), storages);
  const HostTensor now = read_tensor(t.argument->tensor);
  std::string why = compare_tensor(now, want, tolerance);
  return why.empty() ? compare_geometry(now, want) : why;
}

std::string Before::compare_untouched(const Tensor& t,
                                      const Json& mutated) const {
  const bool may_change = mutated.contains(t.argument->name);
  if (!may_change) {
    const HostTensor now = read_tensor(t.argument->tensor);
    const std::string why = same_shape(now, t.host);
    if (!why.empty()) return why;
    if (t.argument->tensor.storage() != t.storage) return "storage replaced";
  }
  if (!t.host.has_values) return "";
  // The bytes of written arguments may change. Those of this argument may not,
  // unless it is written itself.
  std::vector<bool> free(t.host.storage.size(), false);
  bool shared = false;
  for (const Tensor& o : tensors_) {
    if (o.storage != t.storage || !mutated.contains(o.argument->name)) continue;
    shared = true;
    mark(free, o.host, true);
    if (o.argument->tensor.storage() == t.storage) {
      mark(free, read_tensor(o.argument->tensor), true);
    }
  }
  if (!may_change) mark(free, t.host, false);
  const std::string now = read_storage(t.storage);
  if (!shared && now.size() != t.host.storage.size()) return "storage resized";
  for (size_t b = 0; b < std::min(now.size(), free.size()); ++b) {
    if (!free[b] && now[b] != t.host.storage[b]) {
      return str("byte {} of its storage changed", b);
    }
  }
  return "";
}

}  // namespace sy::tools
