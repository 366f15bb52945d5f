#include "frontend/io/format/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

// The rights of files that are written. Varied: the rights before, the umask, a
// link to the file. Never varied: the owner, who is the one that writes.

namespace sy::io {

namespace {

std::string path() {
  return testing::TempDir() + "output_file_" + std::to_string(::getpid());
}

void write(const std::string& to) {
  OutputFile file("test", to);
  file.write("text");
  file.commit();
}

mode_t rights(const std::string& of) {
  struct stat info {};
  return ::lstat(of.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

TEST(OutputFile, KeepsTheRightsOfTheFileThatItReplaces) {
  const mode_t before = ::umask(022);
  for (const mode_t mode : {0600, 0640, 0400, 0666, 0755}) {
    ::unlink(path().c_str());
    write(path());
    EXPECT_EQ(rights(path()), 0644u);
    ASSERT_EQ(::chmod(path().c_str(), mode), 0);
    write(path());
    EXPECT_EQ(rights(path()), mode);
  }
  ::umask(before);
  ::unlink(path().c_str());
}

TEST(OutputFile, OfASetUserIdProgramNoRightOfThatKindStays) {
  write(path());
  ASSERT_EQ(::chmod(path().c_str(), 06755), 0);
  write(path());
  EXPECT_EQ(rights(path()), 0755u);
  ::unlink(path().c_str());
}

TEST(OutputFile, KeepsTheRightsBehindALink) {
  const std::string link = path() + "_link";
  write(path());
  ASSERT_EQ(::chmod(path().c_str(), 0600), 0);
  ASSERT_EQ(::symlink(path().c_str(), link.c_str()), 0);
  write(link);
  EXPECT_EQ(rights(path()), 0600u);
  ::unlink(link.c_str());
  ::unlink(path().c_str());
}

}  // namespace

}  // namespace sy::io
