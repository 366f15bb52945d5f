#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

// random_calls_main.cpp by processes. SY is bin/sy, RANDOM_CALLS_MAIN the
// program, SWITCHYARD_PLUGINS the folder of libswitchyard_mpi.so;
// SY_RANDOM_CALLS says how many sequences.

namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : otherwise;
}

int status_of(const std::string& launcher) {
  const std::string command = "timeout 600 " + launcher + " -n 4 " +
                              variable("RANDOM_CALLS_MAIN", "false") + " 1 " +
                              variable("SY_RANDOM_CALLS", "60");
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(RandomCallsOfProcesses, GiveWhatOneProcessComputes) {
  EXPECT_EQ(status_of(variable("SY", "false") + " launch"), 0);
}

TEST(RandomCallsOfProcesses, UnderPlainMpirun) {
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  EXPECT_EQ(status_of("mpirun --oversubscribe --bind-to none"), 0);
}

}  // namespace
