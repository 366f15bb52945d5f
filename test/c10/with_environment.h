#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "c10/process/error.h"

namespace sy {

// The environment is read once: runs the calling test again in a process of
// its own that has the variable. True in that process.
inline bool with_environment(const char* name, const char* value) {
  const char* set = std::getenv(name);
  if (set != nullptr && std::strcmp(set, value) == 0) return true;
  const testing::TestInfo* test =
      testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter =
      str("--gtest_filter={}.{}", test->test_suite_name(), test->name());
  const pid_t child = fork();
  if (child == 0) {
    setenv(name, value, 1);
    unsetenv("TEST_SHARD_INDEX");
    execl("/proc/self/exe", test->test_suite_name(), filter.c_str(), nullptr);
    _exit(99);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return false;
}

}  // namespace sy
