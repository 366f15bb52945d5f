#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/distributed/checkpoint/open_folder.h"

// Folders of checkpoints. Functions throw FileError "[op] path: ...".

namespace sy::distributed {

// "run/checkpoint-00000007" of "run" and 7.
std::string checkpoint_path(const std::string& folder, int64_t number);
// The whole checkpoints there are, by number: their numbers. Empty if there is
// no such folder.
std::vector<int64_t> checkpoint_numbers(const char* op,
                                        const std::string& folder);

// A checkpoint that is being written, by rank 0: a hidden folder that commit()
// renames. Without it, the destructor removes the folder.
class CheckpointFolder {
 public:
  // Makes `folder`, if need be, and in it the hidden one, named after the id;
  // removes what earlier attempts have left. While it lives no other program
  // can do the same. Nothing is removed outside `folder`: if an entry is a
  // symbolic link, the link alone goes.
  CheckpointFolder(const char* op, const std::string& folder,
                   const std::string& id);
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;
  ~CheckpointFolder();

  // The folder that the ranks write to.
  static std::string hidden_path(const std::string& folder,
                                 const std::string& id);
  // The number that it will have: one more than the latest.
  int64_t number() const noexcept { return number_; }
  // Returns once the checkpoint is there, on the disk.
  void commit();
  // Removes all but the latest `keep`.
  void remove_older(int64_t keep) const;

 private:
  const char* op_;
  OpenFolder folder_;
  std::string hidden_;  // a name in it
  int64_t number_ = 0;
};

}  // namespace sy::distributed
