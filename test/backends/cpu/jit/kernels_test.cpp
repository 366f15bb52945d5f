#include "backends/cpu/jit/kernels.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "backends/cpu/jit/store.h"
#include "test/backends/cpu/jit/programs.h"

// When programs are compiled, and where the code is kept.

namespace sy::test {
namespace {

namespace fs = std::filesystem;

// tanh(x * number) + x, with some more steps for `variant`.
Case sample(int variant = 0, int64_t n = 40000) {
  std::mt19937_64 random(3);
  Case c;
  c.n = n;
  c.inputs.push_back(
      {ScalarType::Float, false, random_bytes(random, ScalarType::Float, n)});
  program::Uniform number{};
  number.f32 = 0.5f;
  c.uniforms.push_back(number);
  c.registers = 3;
  c.steps = {{Prim::mul, 2, 0, 1, 0}, {Prim::tanh, 2, 2, 0, 0}};
  for (int i = 0; i < 12; ++i) {
    c.steps.push_back(
        {(variant >> i & 1) != 0 ? Prim::neg : Prim::abs, 2, 2, 0, 0});
  }
  c.steps.push_back({Prim::add, 2, 2, 0, 0});
  c.results = {{2, false}};
  c.outputs = {ScalarType::Float};
  return c;
}

std::string message(const Case& c) {
  const auto want = c.run(cpu::jit::Mode::kOff);
  const auto got = c.run(cpu::jit::Mode::kBackground);
  const int64_t i = first_difference(ScalarType::Float, want[0], got[0]);
  return i < 0 ? "" : str("differs at {}", i);
}

class Kernels : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cpu::jit::why_no_compiler(), "");
    cpu::jit::clear();
    folder_ = fs::path(testing::TempDir()) / "jit";
    fs::remove_all(folder_);
    cpu::jit::set_store("");
  }
  void TearDown() override {
    cpu::jit::set_mode(cpu::jit::Mode::kBackground);
    cpu::jit::set_capacity(4096);
    cpu::jit::set_store("");
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    for (const auto& e : fs::directory_iterator(folder_)) out.push_back(e);
    return out;
  }
  // Compiles the sample, or takes it from the folder.
  static cpu::jit::Counters run_again() {
    cpu::jit::clear();
    const cpu::jit::Counters before = cpu::jit::counters();
    sample().run(cpu::jit::Mode::kWait);
    cpu::jit::Counters now = cpu::jit::counters();
    now.compiled -= before.compiled;
    now.loaded -= before.loaded;
    return now;
  }

  fs::path folder_;
};

TEST_F(Kernels, AHotProgramIsCompiledMeanwhile) {
  const Case c = sample();
  const cpu::jit::Counters before = cpu::jit::counters();
  c.run(cpu::jit::Mode::kBackground);
  EXPECT_EQ(cpu::jit::counters().queued, 0) << "the first call is not hot";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(message(c), "");
  cpu::jit::finish();
  const cpu::jit::Counters now = cpu::jit::counters();
  EXPECT_EQ(now.compiled - before.compiled, 1);
  EXPECT_EQ(now.kernels, 1);
  EXPECT_EQ(now.blocked_ns, before.blocked_ns) << "nobody waited";
  EXPECT_EQ(message(c), "");
}

TEST_F(Kernels, OffMeansOff) {
  const Case c = sample();
  for (int i = 0; i < 100; ++i) c.run(cpu::jit::Mode::kOff);
  EXPECT_EQ(cpu::jit::counters().kernels, 0);
}

TEST_F(Kernels, ShortRunsAreInterpreted) {
  sample(0, 100).run(cpu::jit::Mode::kWait);
  EXPECT_EQ(cpu::jit::counters().kernels, 0);
}

TEST_F(Kernels, RunsOfAnyLength) {
  for (int64_t n = 2000; n < 2100; ++n) {
    const Case c = sample(0, n);
    const auto want = c.run(cpu::jit::Mode::kOff);
    const auto got = c.run(cpu::jit::Mode::kWait);
    ASSERT_EQ(first_difference(ScalarType::Float, want[0], got[0]), -1) << n;
  }
  EXPECT_EQ(cpu::jit::counters().kernels, 1);
}

TEST_F(Kernels, ThoseNotUsedForLongGo) {
  cpu::jit::set_capacity(3);
  for (int v = 0; v < 8; ++v) sample(v).run(cpu::jit::Mode::kWait);
  const cpu::jit::Counters s = cpu::jit::counters();
  EXPECT_EQ(s.kernels, 3);
  EXPECT_GE(s.evicted, 5);
  EXPECT_LT(s.bytes, 3 * 65536);
}

TEST_F(Kernels, AnotherProcessFindsTheCode) {
  cpu::jit::set_store(folder_);
  EXPECT_EQ(run_again().compiled, 1);
  ASSERT_EQ(files().size(), 1u);
  struct stat s;
  ASSERT_EQ(stat(folder_.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 077, 0u);
  const cpu::jit::Counters now = run_again();
  EXPECT_EQ(now.loaded, 1);
  EXPECT_EQ(now.compiled, 0);
}

TEST_F(Kernels, DamagedFilesAreNeverRun) {
  cpu::jit::set_store(folder_);
  run_again();
  const fs::path file = files().at(0);
  std::string good;
  {
    std::ifstream in(file, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto with = [&](const std::string& text) {
    fs::remove(file);
    std::ofstream(file, std::ios::binary) << text;
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    return run_again();
  };
  EXPECT_EQ(with(good).loaded, 1) << "what is whole is taken";
  EXPECT_EQ(with("").compiled, 1);
  EXPECT_EQ(with("something else altogether").compiled, 1);
  for (size_t n = 1; n < good.size(); n += 13) {
    ASSERT_EQ(with(good.substr(0, n)).compiled, 1) << n;
  }
  for (size_t i = 0; i < good.size(); i += 7) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    ASSERT_EQ(with(bad).compiled, 1) << i;
  }
  with(good);
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(run_again().compiled, 1) << "others could have written it";
}

TEST_F(Kernels, AFolderThatOthersCanWriteIsRefused) {
  fs::create_directories(folder_);
  fs::permissions(folder_, fs::perms::all);
  cpu::jit::set_store(folder_);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_again().compiled, 1);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("could be written by others"), std::string::npos) << said;
  EXPECT_TRUE(files().empty());
}

TEST_F(Kernels, ManyProcessesFillOneFolder) {
  cpu::jit::set_store(folder_);
  std::vector<pid_t> children;
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool ok = true;
      for (int v = 0; v < 4; ++v) {
        const Case c = sample(v);
        const auto want = c.run(cpu::jit::Mode::kOff);
        ok &= first_difference(ScalarType::Float, want[0],
                               c.run(cpu::jit::Mode::kWait)[0]) < 0;
      }
      ok &= cpu::jit::counters().kernels == 4;
      _exit(ok ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files().size(), 4u) << "no half-written file is left";
}

TEST_F(Kernels, TheChildOfAForkCompiles) {
  const Case c = sample();
  for (int i = 0; i < 100; ++i) c.run(cpu::jit::Mode::kBackground);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Case other = sample(5);
    for (int i = 0; i < 100; ++i) other.run(cpu::jit::Mode::kBackground);
    cpu::jit::finish();
    _exit(cpu::jit::counters().kernels == 2 && message(other).empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  cpu::jit::finish();
}

TEST_F(Kernels, AProcessOfItsOwnCompiles) {
  cpu::jit::set_mode(cpu::jit::Mode::kProcess);
  const cpu::jit::Counters before = cpu::jit::counters();
  for (const int variant : {0, 3}) {
    const Case c = sample(variant);
    for (int i = 0; i < 100; ++i) c.run(cpu::jit::Mode::kProcess);
    cpu::jit::finish();
    EXPECT_EQ(message(c), "");
  }
  const cpu::jit::Counters now = cpu::jit::counters();
  EXPECT_EQ(now.compiled - before.compiled, 2);
  EXPECT_EQ(now.kernels, 2);
  EXPECT_EQ(now.failed, before.failed);
  EXPECT_EQ(now.blocked_ns, before.blocked_ns) << "nobody waited";
}

TEST_F(Kernels, ForksGoOnBesideAProcessThatCompiles) {
  cpu::jit::set_mode(cpu::jit::Mode::kProcess);
  for (int variant = 0; variant < 20; ++variant) {
    const Case c = sample(variant);
    while (cpu::jit::counters().kernels <= variant) {
      c.run(cpu::jit::Mode::kProcess);
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) _exit(message(c).empty() ? 0 : 1);
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_EQ(status, 0);
    }
  }
}

TEST_F(Kernels, PerfFindsTheirNames) {
  ASSERT_EQ(setenv("SWITCHYARD_JIT_PERF", "1", 1), 0);
  sample().run(cpu::jit::Mode::kWait);
  ASSERT_EQ(unsetenv("SWITCHYARD_JIT_PERF"), 0);
  const fs::path map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::ifstream in(map);
  std::string address, size, name;
  ASSERT_TRUE(in >> address >> size >> name) << map;
  EXPECT_EQ(name.substr(0, 20), "sy-jit:mul,tanh,abs,");
  fs::remove(map);
}

// Anybody may put a link into /tmp before.
TEST_F(Kernels, PerfsMapIsWrittenThroughNoLink) {
  const fs::path map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  const fs::path other = map.string() + ".other";
  std::ofstream(other) << "mine";
  fs::remove(map);
  for (const bool symbolic : {true, false}) {
    if (symbolic) {
      fs::create_symlink(other, map);
    } else {
      fs::create_hard_link(other, map);
    }
    cpu::jit::clear();
    ASSERT_EQ(setenv("SWITCHYARD_JIT_PERF", "1", 1), 0);
    sample().run(cpu::jit::Mode::kWait);
    ASSERT_EQ(unsetenv("SWITCHYARD_JIT_PERF"), 0);
    std::string text;
    std::ifstream(other) >> text;
    EXPECT_EQ(text, "mine") << symbolic;
    fs::remove(map);
  }
  fs::remove(other);
}

TEST_F(Kernels, ThreadsRunWhatOthersCompileAndEvict) {
  cpu::jit::set_capacity(2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 12; ++i) {
        const Case c = sample((t + i) % 5, 20000);
        const auto want = c.run(cpu::jit::Mode::kOff);
        const auto got = c.run(cpu::jit::Mode::kWait);
        wrong += first_difference(ScalarType::Float, want[0], got[0]) >= 0;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(cpu::jit::counters().kernels, 2);
}

}  // namespace
}  // namespace sy::test
