#include "c10/process/trusted_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

// The users who could have put a file where it is. Varied: the modes of the
// file and of the folders above it, links, owners. Never varied: access lists,
// groups.

namespace sy {

namespace {

namespace fs = std::filesystem;
constexpr uid_t kNobody = 65534;

// A file in a folder in a folder, as their owner alone may write them.
class TrustedFile : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(top);
    fs::create_directories(below);
    std::ofstream(file) << "library";
    for (const auto& path : {top, below}) ::chmod(path.c_str(), 0755);
    ::chmod(file.c_str(), 0644);
  }
  void TearDown() override { fs::remove_all(top); }

  const fs::path top =
      fs::path(testing::TempDir()) / ("trusted" + std::to_string(getpid()));
  const fs::path below = top / "below", file = below / "lib.so";
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

TEST_F(TrustedFile, IsOneThatOthersCannotChoose) {
  EXPECT_EQ(why_untrusted(file), "");
  EXPECT_EQ(why_untrusted(below / "none.so"), "");
  ::chmod(file.c_str(), 0600);
  ::chmod(below.c_str(), 0700);
  EXPECT_EQ(why_untrusted(file), "");
}

TEST_F(TrustedFile, IsNoneThatEveryUserMayWrite) {
  ::chmod(file.c_str(), 0646);
  EXPECT_EQ(why_untrusted(file),
            "every user may write it, and so choose what this program runs; "
            "chmod o-w it");
}

TEST_F(TrustedFile, IsInNoFolderThatEveryUserMayWrite) {
  for (const auto& folder : {top, below}) {
    ::chmod(folder.c_str(), 0777);
    EXPECT_EQ(why_untrusted(file),
              "every user may write its folder " + folder.string() +
                  ", and so choose what this program runs; chmod o-w it");
    ::chmod(folder.c_str(), 0755);
  }
}

TEST_F(TrustedFile, IsFoundBehindLinks) {
  const fs::path link = top / "link.so";
  fs::create_symlink(file, link);
  EXPECT_EQ(why_untrusted(link), "");
  ::chmod(below.c_str(), 0777);
  EXPECT_TRUE(has(why_untrusted(link), "every user may write its folder"));
}

TEST_F(TrustedFile, MayBeTheUsersOwnWhereEverybodyPutsFiles) {
  ::chmod(below.c_str(), 01777);
  EXPECT_EQ(why_untrusted(file), "");
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(file.c_str(), kNobody, kNobody), 0);
  EXPECT_TRUE(has(why_untrusted(file), "another user has put it into"));
  ::chmod(below.c_str(), 0755);
  EXPECT_EQ(why_untrusted(file), "");
  // The same of a folder.
  ::chmod(top.c_str(), 01777);
  EXPECT_EQ(why_untrusted(file), "");
  ASSERT_EQ(::chown(below.c_str(), kNobody, kNobody), 0);
  EXPECT_TRUE(has(why_untrusted(file), "another user has put it into"));
}

}  // namespace

}  // namespace sy
