#include "codegen/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

// The modes of files that are written again. Varied: the mode before, what is
// left of an earlier run. Never varied: the umask, the owner.

namespace sy::codegen {

namespace {

mode_t mode_of(const std::string& path) {
  struct stat s {};
  return stat(path.c_str(), &s) == 0 ? s.st_mode & 0777 : 0;
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& text) {
  std::ostringstream err;
  EXPECT_TRUE(write_file({path, text}, err)) << err.str();
  EXPECT_EQ(text_of(path), text);
  EXPECT_FALSE(std::filesystem::exists(path + ".unfinished"));
}

TEST(WriteFile, KeepsTheModeOfWhatItReplaces) {
  const std::string path =
      testing::TempDir() + "files_test" + std::to_string(getpid());
  write(path, "new");
  for (const mode_t mode : {0600, 0640, 0644, 0755}) {
    ::chmod(path.c_str(), mode);
    write(path, "mode " + std::to_string(mode));
    EXPECT_EQ(mode_of(path), mode);
  }
  // A file of a run that ended early, which others may read.
  ::chmod(path.c_str(), 0600);
  std::ofstream(path + ".unfinished") << "left";
  ::chmod((path + ".unfinished").c_str(), 0666);
  write(path, "last");
  EXPECT_EQ(mode_of(path), 0600u);
  ::unlink(path.c_str());
}

}  // namespace

}  // namespace sy::codegen
