#include "codegen/torch/world.h"

#include <algorithm>
#include <iterator>

#include "lang/yaml.h"

namespace sy::codegen::torch {
namespace {

template <typename T>
void append(std::vector<T>& to, std::vector<T> from) {
  if (to.empty()) {
    to = std::move(from);
  } else {
    std::move(from.begin(), from.end(), std::back_inserter(to));
  }
}

}  // namespace

World World::load(std::span<const SourceFile> files, Diagnostics& diagnostics) {
  World w;
  for (const SourceFile& file : files) {
    if (!file.is_torch()) continue;
    const lang::YamlNode root =
        lang::parse_yaml(file.text, file.path, diagnostics);
    switch (file.kind) {
      case FileKind::kNative:
        append(w.functions_, read_native_functions(root, diagnostics));
        w.has_functions_ = true;
        break;
      case FileKind::kTags:
        if (!w.tags_) w.tags_.emplace();
        append(*w.tags_, read_torch_tags(root, diagnostics));
        break;
      case FileKind::kDerivatives:
        append(w.derivatives_, read_derivatives(root, diagnostics));
        break;
      case FileKind::kBackend:
        if (auto b = read_backend(root, diagnostics)) {
          w.backends_.push_back(std::move(*b));
        }
        break;
      case FileKind::kOwn: break;
    }
  }
  w.groups_ = group_functions(w.functions_);
  w.generated_ = generate_functions(w.groups_);
  w.by_name_.reserve(w.functions_.size() + w.generated_.size());
  for (const auto* list : {&w.functions_, &w.generated_}) {
    for (const NativeFunction& f : *list) w.by_name_.emplace_back(f.name(), &f);
  }
  // find() gives the first written of two functions with one name.
  std::stable_sort(
      w.by_name_.begin(), w.by_name_.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  return w;
}

const NativeFunction* World::find(std::string_view name) const {
  const auto it = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [](const auto& entry, std::string_view n) { return entry.first < n; });
  return it != by_name_.end() && it->first == name ? it->second : nullptr;
}

void check_world(const World& world, Diagnostics& diagnostics) {
  check_functions(world, diagnostics);
  check_groups(world, diagnostics);
  check_derivatives(world, diagnostics);
  check_backends(world, diagnostics);
}

}  // namespace sy::codegen::torch
