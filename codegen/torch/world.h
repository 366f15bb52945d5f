#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/torch/backend.h"
#include "codegen/torch/derivatives.h"
#include "codegen/torch/files.h"
#include "codegen/torch/groups.h"

namespace sy::codegen::torch {

// All of PyTorch's files of a run. Made by load(), then only read: groups and
// functions point into each other.
class World {
 public:
  // Reads the files that are PyTorch's; reports errors of form.
  static World load(std::span<const SourceFile> files,
                    Diagnostics& diagnostics);

  World(World&&) = default;
  World& operator=(World&&) = default;

  std::span<const NativeFunction> functions() const { return functions_; }
  std::span<const Group> groups() const { return groups_; }
  // The functions that PyTorch adds to functions().
  std::span<const NativeFunction> generated() const { return generated_; }
  std::span<const Derivative> derivatives() const { return derivatives_; }
  std::span<const Backend> backends() const { return backends_; }
  // None if there is no tags.yaml: then any tag goes.
  const std::optional<std::vector<Tag>>& tags() const { return tags_; }
  // Whether there is a file of functions at all.
  bool has_functions() const { return has_functions_; }

  // The function of that name, overload included; null if there is none.
  const NativeFunction* find(std::string_view name) const;

 private:
  World() = default;

  std::vector<NativeFunction> functions_;
  std::vector<Group> groups_;
  std::vector<NativeFunction> generated_;
  std::vector<Derivative> derivatives_;
  std::vector<Backend> backends_;
  std::optional<std::vector<Tag>> tags_;
  bool has_functions_ = false;
  // Sorted by name.
  std::vector<std::pair<std::string, const NativeFunction*>> by_name_;
};

// Reports every rule of PyTorch that files of the right form break.
void check_world(const World& world, Diagnostics& diagnostics);

// The parts of check_world.
void check_functions(const World& world, Diagnostics& diagnostics);
void check_dispatch(const NativeFunction& f, Diagnostics& diagnostics);
void check_groups(const World& world, Diagnostics& diagnostics);
void check_derivatives(const World& world, Diagnostics& diagnostics);
void check_backends(const World& world, Diagnostics& diagnostics);

}  // namespace sy::codegen::torch
