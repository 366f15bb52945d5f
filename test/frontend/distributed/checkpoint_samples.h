#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "aten/ops/factory.h"
#include "frontend/distributed/checkpoint/checkpoint.h"

namespace sy::distributed {

// An empty folder for a test.
inline std::string scratch(const std::string& name) {
  const std::string path = testing::TempDir() + "checkpoint_" + name + "_" +
                           std::to_string(::getpid());
  std::filesystem::remove_all(path);
  return path;
}

// The hidden entries that saving has left in a folder.
inline std::vector<std::string> hidden_in(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(".")) found.push_back(name);
  }
  return found;
}

// The state that one of several ranks saves: two rows, and a tensor that all
// have.
inline CheckpointState part_of(int rank, int step) {
  CheckpointState state;
  state.add("model", {{"w", full({8}, step, kFloat)}});
  state.add_shard("rows", full({2}, step, kFloat), 2 * rank);
  state.set("step", step);
  return state;
}

}  // namespace sy::distributed
