#include <gtest/gtest.h>
#include <sy/jit.h>
#include <sy/sy.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

// A process may end while its first program is being compiled: LLVM makes
// objects as it goes, and none of them may be taken down under the thread.

namespace sy {
namespace {

TEST(AProcess, EndsWhileItCompiles) {
  constexpr int kChildren = 120;
  const Tensor x = randn({1 << 16}).to(kHalf);
  jit::set_mode(jit::Mode::kBackground);
  int failed = 0;
  for (int i = 0; i < kChildren; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      while (jit::counters().queued == 0 && jit::counters().compiled == 0) {
        gelu(x);
      }
      usleep(static_cast<useconds_t>(i * 100));
      std::exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    failed += status != 0;
  }
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace sy
