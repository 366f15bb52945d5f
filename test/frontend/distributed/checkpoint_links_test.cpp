#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "aten/ops/all.h"
#include "frontend/distributed/checkpoint/checkpoint.h"
#include "frontend/distributed/checkpoint/open_folder.h"
#include "frontend/io/file_error.h"

// Entries that a save removes lie in the folder. Varied: what has the name of a
// checkpoint or of an attempt (a link to a folder, to a file, to nothing, a
// file, a folder with links and folders in it). Never varied: one rank saves.

namespace sy::distributed {
namespace {

namespace fs = std::filesystem;

class CheckpointLinks : public testing::Test {
 protected:
  CheckpointLinks() {
    fs::remove_all(root_);
    fs::create_directories(root_ + "/run");
    fs::create_directories(root_ + "/archive/deep");
    write(root_ + "/archive/keep");
    write(root_ + "/archive/deep/keep");
  }
  ~CheckpointLinks() override { fs::remove_all(root_); }

  static void write(const std::string& path) { std::ofstream(path) << "kept"; }
  std::string save(int64_t keep_last) const {
    CheckpointState state;
    state.add("model", {{"w", ones({2})}});
    return save_checkpoint(run_, state, {.keep_last = keep_last});
  }
  void expect_archive() const {
    EXPECT_EQ(fs::file_size(root_ + "/archive/keep"), 4u);
    EXPECT_EQ(fs::file_size(root_ + "/archive/deep/keep"), 4u);
  }
  static bool is_there(const std::string& path) {
    return fs::exists(fs::symlink_status(path));
  }

  const std::string root_ =
      testing::TempDir() + "checkpoint_links_" + std::to_string(::getpid());
  const std::string run_ = root_ + "/run";
};

TEST_F(CheckpointLinks, ACheckpointThatIsALinkLosesTheLink) {
  const std::string first = save(0);
  fs::rename(first, root_ + "/archive/first");
  fs::create_directory_symlink("../archive/first", first);
  EXPECT_EQ(checkpoints(run_).size(), 1u);
  EXPECT_EQ(save(1), run_ + "/checkpoint-00000002");
  EXPECT_FALSE(is_there(first));
  EXPECT_EQ(checkpoints(run_).size(), 1u);
  EXPECT_TRUE(
      load_checkpoint(root_ + "/archive/first").get("model").contains("w"));
  expect_archive();
}

TEST_F(CheckpointLinks, LeftoversThatAreLinksLoseTheLink) {
  for (const char* name :
       {".saving-x", ".removing-1", ".saving-", ".removing-"}) {
    fs::create_directory_symlink(root_ + "/archive", run_ + "/" + name);
  }
  fs::create_symlink(root_ + "/archive/keep", run_ + "/.saving-file");
  fs::create_symlink(root_ + "/nothing", run_ + "/.removing-dangling");
  fs::create_symlink(".saving-loop", run_ + "/.saving-loop");
  write(run_ + "/.saving-plain");
  save(0);
  expect_archive();
  EXPECT_EQ(std::distance(fs::directory_iterator(run_), {}), 1);
}

TEST_F(CheckpointLinks, NoLinkWithinAFolderIsFollowed) {
  const std::string left = run_ + "/.saving-left";
  fs::create_directories(left + "/sub/deeper");
  write(left + "/sub/deeper/file");
  fs::create_directory_symlink(root_ + "/archive", left + "/archive");
  fs::create_directory_symlink(root_ + "/archive", left + "/sub/archive");
  fs::create_symlink(root_ + "/archive/keep", left + "/sub/keep");
  fs::create_directory_symlink("..", left + "/sub/up");
  save(0);
  EXPECT_FALSE(is_there(left));
  expect_archive();
}

TEST_F(CheckpointLinks, TheFolderStaysTheOneThatWasOpened) {
  const OpenFolder folder("test", run_);
  folder.make_folder("gone");
  folder.make_folder("kept");
  fs::rename(run_, root_ + "/elsewhere");
  fs::create_directory_symlink(root_ + "/archive", run_);
  folder.remove("deep");
  folder.remove("keep");
  folder.remove("gone");
  expect_archive();
  EXPECT_EQ(folder.names(), std::vector<std::string>{"kept"});
}

TEST_F(CheckpointLinks, WhatIsTooDeepIsAnErrorAndNotACrash) {
  std::string deep = run_ + "/.saving-deep";
  for (int i = 0; i < 200; ++i) deep += "/d";
  fs::create_directories(deep);
  EXPECT_THROW(save(0), FileError);
}

}  // namespace
}  // namespace sy::distributed
