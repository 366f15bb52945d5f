#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

// engine_mpi_main.cpp under mpirun, and by itself. ENGINE_MPI_MAIN names it,
// SWITCHYARD_PLUGINS the folder of libswitchyard_mpi.so.

namespace {

int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string program(const char* what) {
  const char* const path = std::getenv("ENGINE_MPI_MAIN");
  EXPECT_NE(path, nullptr);
  return std::string("timeout 60 ") + (path != nullptr ? path : "false") + " " +
         what;
}

int with_ranks(int n, const char* what) {
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  return run("mpirun --oversubscribe -n " + std::to_string(n) + " " +
             program(what));
}

TEST(MpiEngine, PassesTheChecksOfEngines) {
  for (const int n : {2, 3, 4}) EXPECT_EQ(with_ranks(n, "checks"), 0) << n;
}

TEST(MpiEngine, ThrowsWhatMpiReports) { EXPECT_EQ(with_ranks(3, "errors"), 0); }

TEST(MpiEngine, LivesBesideTheProgramsOwnMpi) {
  for (const char* what : {"theirs", "single", "ended"}) {
    EXPECT_EQ(with_ranks(2, what), 0) << what;
  }
}

TEST(MpiEngine, WorksWithoutMpirun) {
  for (const char* what : {"checks", "errors", "theirs", "unclean"}) {
    EXPECT_EQ(run(program(what)), 0) << what;
  }
}

TEST(MpiEngine, LeavesWithoutWaitingIfAskedTo) {
  EXPECT_EQ(with_ranks(2, "unclean"), 1);  // mpirun's own, not timeout's 124
}

}  // namespace
