#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>

#include "frontend/io/file_error.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/checkpoint_samples.h"
#include "test/frontend/distributed/ranks.h"

// Files that are not what was written.

namespace sy::distributed {
namespace {

namespace fs = std::filesystem;

// A checkpoint of two ranks, and a change to one of its files.
void expect_damage(const std::string& file, const std::string& text,
                   const std::function<void(const std::string& path)>& change) {
  const std::string folder = scratch("damage");
  Ranks(2).run([&](int rank) { save_checkpoint(folder, part_of(rank, 1)); });
  const std::string path = folder + "/checkpoint-00000001/" + file;
  change(path);
  const std::string one = error_of([&] { load_checkpoint(folder); });
  EXPECT_NE(one.find(path), std::string::npos) << one;
  EXPECT_NE(one.find(text), std::string::npos) << one;
  Ranks(2).run([&](int) {
    const std::string e = error_of([&] { load_checkpoint(folder); });
    EXPECT_NE(e.find(path), std::string::npos) << e;
    EXPECT_NE(e.find(text), std::string::npos) << e;
  });
  fs::remove_all(folder);
}

constexpr const char* kFiles[] = {"replicated.safetensors",
                                  "rank-00000.safetensors",
                                  "rank-00001.safetensors"};
constexpr const char* kIndex = "checkpoint.safetensors.index.json";

TEST(CheckpointDamage, DamagedFilesAreNamed) {
  for (const char* const file : kFiles) {
    // The last byte is of a tensor.
    expect_damage(
        file, "its check sum does not agree", [](const std::string& path) {
          std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
          f.seekp(-1, std::ios::end);
          f.put('x');
        });
    expect_damage(file, "damaged: expected", [](const std::string& path) {
      fs::resize_file(path, fs::file_size(path) - 1);
    });
    expect_damage(file, "damaged: expected",
                  [](const std::string& path) { fs::resize_file(path, 0); });
    expect_damage(file, "No such file",
                  [](const std::string& path) { fs::remove(path); });
  }
}

TEST(CheckpointDamage, ADamagedIndexIsNamed) {
  const auto replace = [](const char* from, const char* to) {
    return [=](const std::string& path) {
      std::ifstream in(path);
      std::string text((std::istreambuf_iterator<char>(in)), {});
      const size_t at = text.find(from);
      ASSERT_NE(at, text.npos) << text;
      std::ofstream(path) << text.replace(at, std::strlen(from), to);
    };
  };
  expect_damage(kIndex, "its check sum does not agree",
                replace("\"value/step\":\"1\"", "\"value/step\":\"7\""));
  expect_damage(kIndex, "expected 'switchyard checkpoint 1'",
                replace("checkpoint 1", "checkpoint 2"));
  expect_damage(kIndex, "'check': expected in the metadata, got none",
                replace("\"check\"", "\"chuck\""));
  expect_damage(kIndex, "byte", [](const std::string& path) {
    fs::resize_file(path, fs::file_size(path) / 2);
  });
}

TEST(CheckpointDamage, MixedFilesAreNamed) {
  const std::string other = scratch("other");
  Ranks(2).run([&](int rank) { save_checkpoint(other, part_of(rank, 1)); });
  for (const char* const file : kFiles) {
    // All bytes of the tensors are equal.
    expect_damage(file, "files of several checkpoints are mixed",
                  [&](const std::string& path) {
                    fs::copy_file(other + "/checkpoint-00000001/" + file, path,
                                  fs::copy_options::overwrite_existing);
                  });
  }
  fs::remove_all(other);
}

TEST(CheckpointDamage, WithoutACheckpoint) {
  const std::string folder = scratch("none");
  SY_EXPECT_ERROR(load_checkpoint(folder), FileError,
                  "expected a checkpoint in this folder, got no such folder");
  fs::create_directory(folder);
  SY_EXPECT_ERROR(load_checkpoint(folder), FileError,
                  "expected a checkpoint in this folder, got none");
  EXPECT_TRUE(checkpoints(folder).empty());
  // A file where the folder should be.
  std::ofstream(folder + "/file") << "x";
  SY_EXPECT_ERROR(save_checkpoint(folder + "/file/x", part_of(0, 1)), FileError,
                  "Not a directory");
  Ranks(3).run([&](int rank) {
    const std::string e = error_of([&] { load_checkpoint(folder); });
    EXPECT_EQ(e.find(rank == 0 ? "[load_checkpoint] " + folder
                               : "[load_checkpoint] rank 0: "),
              0u)
        << e;
  });
  fs::remove_all(folder);
}

}  // namespace
}  // namespace sy::distributed
