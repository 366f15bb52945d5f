#include "c10/process/environment.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "c10/process/cache_folder.h"

// Variables that a set-user-ID program takes from its environment. Varied: the
// program's rights, who reads. Never varied: the owner of the program is
// nobody, and root has started it.

namespace sy {

namespace {

constexpr const char* kAnswers = "ENVIRONMENT_TEST_ANSWERS";

// Says before main what the process that a test starts sees.
[[maybe_unused]] const bool answers = [] {
  if (std::getenv(kAnswers) == nullptr) return false;
  const char* const seen = environment("SWITCHYARD_TRACE");
  const std::string folder =
      CacheFolder::default_path("SWITCHYARD_JIT_CACHE", "jit");
  std::printf("%s %s", seen == nullptr ? "nothing" : seen, folder.c_str());
  std::fflush(stdout);
  _exit(0);
}();

[[noreturn]] void run(const std::string& program, int out) {
  dup2(out, STDOUT_FILENO);
  setenv(kAnswers, "1", 1);
  setenv("SWITCHYARD_TRACE", "chrome:stolen", 1);
  setenv("SWITCHYARD_JIT_CACHE", "/tmp/code", 1);
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/user", 1);
  execl(program.c_str(), program.c_str(), nullptr);
  _exit(99);
}

// Returns what a copy of this program with these rights sees.
std::string seen_by(mode_t mode) {
  namespace fs = std::filesystem;
  const fs::path program =
      fs::path(testing::TempDir()) /
      ("program" + std::to_string(getpid()) + "_" + std::to_string(mode));
  fs::copy_file("/proc/self/exe", program);
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && ::chown(program.c_str(), kNobody, kNobody) != 0) {
    return "no chown";
  }
  ::chmod(program.c_str(), mode);
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) run(program, ends[1]);
  close(ends[1]);
  std::string text(200, '\0');
  const ssize_t n = read(ends[0], text.data(), text.size());
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  close(ends[0]);
  int status = -1;
  if (waitpid(child, &status, 0) != child || status != 0) return "failed";
  fs::remove(program);
  return text;
}

TEST(Environment, SaysNothingToSetUserIdPrograms) {
  EXPECT_EQ(seen_by(0755), "chrome:stolen /tmp/code");
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  EXPECT_EQ(seen_by(04755), "nothing ");
}

TEST(Environment, IsThatOfTheProcess) {
  setenv("SWITCHYARD_OF_TEST", "7", 1);
  EXPECT_STREQ(environment("SWITCHYARD_OF_TEST"), "7");
  unsetenv("SWITCHYARD_OF_TEST");
  EXPECT_EQ(environment("SWITCHYARD_OF_TEST"), nullptr);
}

enum class Fruit { kApple, kPear, kPlum };

// `said`: what it says on stderr.
Fruit choice(const char* value, std::string* said) {
  setenv("SWITCHYARD_OF_TEST", value, 1);
  testing::internal::CaptureStderr();
  const Fruit f = environment_choice("SWITCHYARD_OF_TEST",
                                     {"apple", "pear", "plum"}, Fruit::kPear);
  *said = testing::internal::GetCapturedStderr();
  unsetenv("SWITCHYARD_OF_TEST");
  return f;
}

TEST(Environment, AChoiceIsTheEnumeratorOfItsWord) {
  std::string said;
  EXPECT_EQ(choice("apple", &said), Fruit::kApple);
  EXPECT_EQ(choice("plum", &said), Fruit::kPlum);
  EXPECT_EQ(choice("", &said), Fruit::kPear);
  EXPECT_EQ(said, "");
  unsetenv("SWITCHYARD_OF_TEST");
  EXPECT_EQ(environment_choice("SWITCHYARD_OF_TEST", {"apple"}, Fruit::kPlum),
            Fruit::kPlum);
}

TEST(Environment, AChoiceOfNoWordListsTheWords) {
  std::string said;
  EXPECT_EQ(choice("plums", &said), Fruit::kPear);
  EXPECT_EQ(said,
            "switchyard: SWITCHYARD_OF_TEST=plums: expected apple, pear or "
            "plum\n");
}

}  // namespace

}  // namespace sy
