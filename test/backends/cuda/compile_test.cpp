#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include "backends/cuda/compile/cache.h"
#include "backends/cuda/compile/images.h"
#include "backends/cuda/compile/jit.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/compile/nvrtc.h"
#include "backends/cuda/compile/pack.h"
#include "backends/cuda/compile/unit.h"
#include "backends/cuda/device/launch_head.cuh"
#include "backends/cuda/driver/api.h"
#include "backends/cuda/runtime/context.h"
#include "test/c10/expect_error.h"
#include "test/c10/with_environment.h"

// The tests run on the fake driver and the fake NVRTC, which
// $SWITCHYARD_CUDA_DRIVER and $SWITCHYARD_NVRTC name. A test whose compilations
// another process must not know uses programs of its own number.

namespace sy::cuda {
namespace {

ProgramKey key_of_number(int n) {
  return {{hash_of(std::to_string(n)).a, static_cast<uint64_t>(n)}};
}

struct Params {
  LaunchHead head;
  int* out;
};

// Writes its number.
class Numbered : public ProgramSource {
 public:
  explicit Numbered(int n) : n_(n) {}
  std::string text(const std::string& name) const override {
    ++asked;
    return str(
        "namespace {}_parts {{ struct P {{ LaunchHead head; int* out; }};\n"
        "static __device__ int number() {{ return {}; }} }}\n"
        "SY_KERNEL({}, {}_parts::P, 32) {{\n"
        "  if (threadIdx.x == 0) *p.out = {}_parts::number();\n}}\n",
        name, n_, name, name, name);
  }
  std::string label() const override { return str("number {}", n_); }
  mutable int asked = 0;

 private:
  int n_;
};

class Broken : public ProgramSource {
 public:
  std::string text(const std::string& name) const override {
    return str("SY_KERNEL({}, NoSuchType, 32) {{}}\n", name);
  }
  std::string label() const override { return "a broken one"; }
};

// Runs a numbered kernel and returns the number that it writes.
int run(const Function& f) {
  const driver::Api& a = driver::api();
  driver::DevicePointer memory = 0;
  driver::check(a.allocate(&memory, 64), "cuMemAlloc");
  Params p = {};
  p.out = reinterpret_cast<int*>(memory);
  p.head.started = reinterpret_cast<unsigned long long*>(memory + 16);
  void* params[] = {&p};
  const driver::Stream s = current_stream(0);
  driver::check(a.launch(f.handle, 1, 1, 1, 32, 1, 1, 0, s, params, nullptr),
                "launch");
  int out = -1;
  driver::check(a.copy_to_host(&out, memory, sizeof out, s), "copy");
  driver::check(a.stream_synchronize(s), "synchronize");
  a.free(memory);
  return out;
}

const Function* ask(int n, JitMode mode) {
  set_jit_mode(mode);
  return program(0, key_of_number(n), Numbered(n));
}

std::string captured(const auto& f) {
  testing::internal::CaptureStderr();
  f();
  return testing::internal::GetCapturedStderr();
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos;
       at = text.find(part, at + 1)) {
    ++n;
  }
  return n;
}

// ---- units

TEST(CudaUnit, HasTheFilesThatItsTextIncludes) {
  const Unit unit = printed_unit("none", "");
  std::set<std::string_view> names;
  for (const SourceFile* const f : unit.headers) names.insert(f->name);
  EXPECT_TRUE(names.contains("kernel.cuh"));
  EXPECT_TRUE(names.contains("launch_head.cuh"));  // by way of kernel.cuh
  EXPECT_FALSE(names.contains("engine/interpret.cu"));
}

TEST(CudaUnit, EveryIncludedFileIsCarried) {
  for (const SourceFile& f : source_files()) {
    std::string_view rest = f.text;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size() - 1);
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      constexpr std::string_view kInclude = "#include \"";
      if (!line.starts_with(kInclude)) continue;
      std::string_view name = line.substr(kInclude.size());
      name = name.substr(0, name.find('"'));
      // The first is of tests, the others in parts for vectors of the CPU.
      if (name == "cuda_on_host.h" || name.ends_with("math_avx512.inc") ||
          name.ends_with("math_table.inc")) {
        continue;
      }
      EXPECT_NE(find_source(name), nullptr) << f.name << ": " << line;
    }
  }
}

TEST(CudaUnit, KeyIsThatOfTheTexts) {
  const std::string_view source = source_files()[0].name;
  const Hash plain = key_of(carried_unit(source, {}));
  const Hash t = key_of(carried_unit(source, {{"T", "float"}, {"W", "int"}}));
  EXPECT_EQ(plain, key_of(carried_unit(source, {})));
  EXPECT_NE(plain, t);
  EXPECT_EQ(t, key_of(carried_unit(source, {{"W", "int"}, {"T", "float"}})));
  EXPECT_NE(t, key_of(carried_unit(source, {{"W", "int"}, {"T", "double"}})));
  EXPECT_EQ(key_of(printed_unit("a", "x")), key_of(printed_unit("b", "x")));
  Unit u = printed_unit("a", "x");
  const Hash before = key_of(u);
  const SourceFile edited = {u.headers[0]->name, "another text"};
  u.headers[0] = &edited;
  EXPECT_NE(key_of(u), before);
}

TEST(CudaUnit, UnknownSourceIsAnError) {
  SY_EXPECT_ERROR(carried_unit("no_such.cu", {}), Error,
                  "the library carries no source no_such.cu");
}

// ---- NVRTC

TEST(CudaNvrtc, CompilesAndSaysWhatIsWrong) {
  std::string why;
  const Nvrtc* const nvrtc = Nvrtc::get(&why);
  ASSERT_NE(nvrtc, nullptr) << why;
  const Target target = nvrtc->target_for(architecture_of(0));
  std::string image, log;
  EXPECT_TRUE(nvrtc->compile(printed_unit("a number", Numbered(1).text("k")),
                             target, &image, &log))
      << log;
  EXPECT_FALSE(image.empty());
  EXPECT_FALSE(nvrtc->compile(printed_unit("broken", Broken().text("k")),
                              target, &image, &log));
  EXPECT_NE(log.find("NoSuchType"), std::string::npos) << log;
}

TEST(CudaNvrtc, ChoosesPtxForWhatItDoesNotKnow) {
  const Nvrtc& n = *Nvrtc::get(nullptr);
  EXPECT_EQ(to_string(n.target_for(90)), "sm_90");
  const Target newer = n.target_for(999);
  EXPECT_TRUE(newer.is_ptx);
  EXPECT_LT(newer.architecture, 999);
  SY_EXPECT_ERROR(n.target_for(20), Error, "this one is sm_20");
  EXPECT_NE(n.fingerprint({90}), n.fingerprint({90, true}));
  EXPECT_NE(n.fingerprint({90}), n.fingerprint({80}));
}

// ---- kernels of programs

TEST(CudaProgram, WaitCompilesAtOnce) {
  const Function* const f = ask(10, JitMode::kWait);
  ASSERT_NE(f, nullptr);
  EXPECT_STREQ(f->name, "number 10");
  EXPECT_EQ(run(*f), 10);
  const Numbered again(10);
  EXPECT_EQ(program(0, key_of_number(10), again), f);
  EXPECT_EQ(again.asked, 0);
}

TEST(CudaProgram, BackgroundAnswersLater) {
  // The thread may be quick, but not before the first answer of many.
  int later = 0;
  for (int i = 20; i < 26; ++i)
    later += ask(i, JitMode::kBackground) == nullptr;
  EXPECT_GE(later, 5);
  finish_compiling();
  for (int i = 20; i < 26; ++i) {
    const Function* const f = ask(i, JitMode::kBackground);
    ASSERT_NE(f, nullptr) << i;
    EXPECT_EQ(run(*f), i);
  }
}

TEST(CudaProgram, CompilesWhatIsQueuedTogether) {
  const int64_t before = compile_counters().units;
  for (int i = 40; i < 64; ++i) ask(i, JitMode::kBackground);
  finish_compiling();
  // Some alone before the others came, and 16 at a time.
  EXPECT_LE(compile_counters().units - before, 4);
  for (const int i : {40, 41, 55, 63}) {
    const Function* const f = ask(i, JitMode::kBackground);
    ASSERT_NE(f, nullptr) << i;
    EXPECT_EQ(run(*f), i);
  }
}

TEST(CudaProgram, OffIsNothing) {
  const int64_t before = compile_counters().units;
  EXPECT_EQ(ask(90, JitMode::kOff), nullptr);
  EXPECT_EQ(ask(90, JitMode::kOff), nullptr);
  finish_compiling();
  EXPECT_EQ(compile_counters().units, before);
  EXPECT_NE(ask(90, JitMode::kWait), nullptr);
  EXPECT_NE(ask(90, JitMode::kOff), nullptr);
}

TEST(CudaProgram, ABrokenOneIsToldOnceAndLeavesTheOthersAlone) {
  const ProgramKey broken = key_of_number(-100);
  const std::string said = captured([&] {
    // The first keeps the thread busy, so that the others are one unit.
    for (int i = 100; i < 102; ++i) ask(i, JitMode::kBackground);
    EXPECT_EQ(program(0, broken, Broken()), nullptr);
    for (int i = 102; i < 104; ++i) ask(i, JitMode::kBackground);
    finish_compiling();
    EXPECT_EQ(program(0, broken, Broken()), nullptr);
    finish_compiling();
    set_jit_mode(JitMode::kWait);
    EXPECT_EQ(program(0, broken, Broken()), nullptr);
  });
  EXPECT_EQ(count(said, "the program a broken one stays interpreted: "), 1u)
      << said;
  EXPECT_EQ(count(said, "stays interpreted"), 1u) << said;
  EXPECT_NE(said.find("NoSuchType"), std::string::npos) << said;
  for (int i = 100; i < 104; ++i) {
    const Function* const f = ask(i, JitMode::kOff);
    ASSERT_NE(f, nullptr) << i;
    EXPECT_EQ(run(*f), i);
  }
}

TEST(CudaProgram, AnErrorOfTheSourceReachesTheCaller) {
  class Throws : public ProgramSource {
    std::string text(const std::string&) const override {
      fail(ErrorKind::Value, "cannot be printed");
    }
  };
  set_jit_mode(JitMode::kWait);
  for (int i = 0; i < 2; ++i) {
    SY_EXPECT_ERROR(program(0, key_of_number(-110), Throws()), ValueError,
                    "cannot be printed");
  }
  EXPECT_NE(program(0, key_of_number(-110), Numbered(110)), nullptr);
}

TEST(CudaProgram, ThreadsAgree) {
  for (const JitMode mode : {JitMode::kWait, JitMode::kBackground}) {
    const int first = mode == JitMode::kWait ? 120 : 130;
    set_jit_mode(mode);
    std::vector<std::thread> threads;
    std::vector<std::vector<const Function*>> found(4);
    for (auto& list : found) {
      threads.emplace_back([&] {
        for (int i = first; i < first + 4; ++i) {
          const Function* f = nullptr;
          do {
            f = program(0, key_of_number(i), Numbered(i));
            std::this_thread::yield();
          } while (f == nullptr);
          list.push_back(f);
        }
      });
    }
    for (std::thread& t : threads) t.join();
    for (const auto& list : found) EXPECT_EQ(list, found[0]);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(run(*found[0][i]), first + i);
  }
}

// ---- kernels of carried sources

TEST(CudaKernel, IsTheSameAgain) {
  const int64_t before = compile_counters().units;
  const Function& f = kernel(0, "factory.cu", "fill_items", {{"SY_ITEM", "4"}});
  EXPECT_EQ(&kernel(0, "factory.cu", "fill_items", {{"SY_ITEM", "4"}}), &f);
  EXPECT_STREQ(f.name, "fill_items");
  EXPECT_LE(compile_counters().units - before, 1);
}

TEST(CudaKernel, WhatDoesNotCompileIsAnErrorEveryTime) {
  int64_t units = 0;
  for (int i = 0; i < 2; ++i) {
    SY_EXPECT_ERROR(
        kernel(0, "factory.cu", "fill_items", {{"SY_ITEM", "NoSuchType"}}),
        Error,
        "[cuda] fill_items: cannot compile factory.cu with "
        "SY_ITEM=NoSuchType: ");
    if (i == 0) units = compile_counters().units;
    EXPECT_EQ(compile_counters().units, units);
  }
  SY_EXPECT_ERROR(kernel(0, "no_such.cu", "x"), Error, "no source no_such.cu");
  SY_EXPECT_ERROR(kernel(0, "factory.cu", "no_such", {{"SY_ITEM", "4"}}), Error,
                  "factory.cu has no kernel no_such");
}

// ---- what stays

// The test again, in another process of the same folder of kernels.
bool in_other_process(const char* value) {
  return with_environment("SY_OTHER_PROCESS", value);
}

std::vector<std::string> kept_files(const std::string& suffix) {
  const std::string folder = Cache::default_path();
  std::vector<std::string> out;
  DIR* const d = opendir(folder.c_str());
  while (const dirent* const e = readdir(d)) {
    const std::string name = e->d_name;
    if (name.ends_with(suffix)) out.push_back(folder + "/" + name);
  }
  closedir(d);
  return out;
}

TEST(CudaKept, AnotherProcessCompilesNothing) {
  if (std::getenv("SY_OTHER_PROCESS") == nullptr) {
    for (int i = 200; i < 204; ++i) ask(i, JitMode::kBackground);
    finish_compiling();
    for (int i = 200; i < 204; ++i) ASSERT_NE(ask(i, JitMode::kOff), nullptr);
  }
  if (!in_other_process("kept")) return;
  for (int i = 200; i < 204; ++i) {
    const Function* const f = ask(i, JitMode::kWait);
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(run(*f), i);
  }
  EXPECT_EQ(compile_counters().units, 0);
  EXPECT_EQ(compile_counters().kept, 4);
}

TEST(CudaKept, DamagedFilesAreCompiledAnew) {
  if (std::getenv("SY_OTHER_PROCESS") == nullptr) {
    ASSERT_NE(ask(210, JitMode::kWait), nullptr);
    for (const std::string& name : kept_files(".image")) {
      std::fstream f(name, std::ios::binary | std::ios::in | std::ios::out);
      f.seekg(100);
      const int c = f.get();
      f.seekp(100);
      f.put(static_cast<char>(c ^ 4));
    }
  }
  if (!in_other_process("damaged")) return;
  const Function* const f = ask(210, JitMode::kWait);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(run(*f), 210);
  EXPECT_EQ(compile_counters().units, 1);
  EXPECT_EQ(compile_counters().kept, 0);
}

// Whole and with a good check sum, and yet no image for the driver.
TEST(CudaKept, WhatTheDriverRefusesIsCompiledAnew) {
  const Nvrtc& nvrtc = *Nvrtc::get(nullptr);
  const Unit unit = printed_unit("", Numbered(220).text("p" + [] {
    const ProgramKey k = key_of_number(220);
    return hex({k.hash[0], k.hash[1]});
  }()));
  const Hash key = key_of(unit);
  const Hash on_disk =
      Hasher()
          .add(key.a)
          .add(key.b)
          .add(nvrtc.fingerprint(nvrtc.target_for(architecture_of(0))))
          .end();
  Cache cache(Cache::default_path());
  cache.write({on_disk}, Image::make(std::string(1000, 'x')));
  const int64_t before = compile_counters().units;
  const Function* const f = ask(220, JitMode::kWait);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(run(*f), 220);
  EXPECT_EQ(compile_counters().units, before + 1);
}

std::string pack_path() { return testing::TempDir() + "/programs.pack"; }

TEST(CudaPacked, NeedsNoCompiler) {
  if (std::getenv("SWITCHYARD_CUDA_PACK") == nullptr) {
    const Nvrtc& nvrtc = *Nvrtc::get(nullptr);
    const Target target = {architecture_of(0)};
    PackItem item;
    std::string kernels, log;
    for (int i = 300; i < 303; ++i) {
      const ProgramKey k = key_of_number(i);
      const std::string text =
          Numbered(i).text("p" + hex({k.hash[0], k.hash[1]}));
      item.keys.push_back(key_of(printed_unit("", text)));
      kernels += text;
    }
    item.targets = {target};
    ASSERT_TRUE(nvrtc.compile(printed_unit("three", kernels), target,
                              &item.bytes, &log))
        << log;
    write_pack(pack_path(), {item});
    setenv("SWITCHYARD_NVRTC", "/no/compiler", 1);
  }
  if (!with_environment("SWITCHYARD_CUDA_PACK", pack_path().c_str())) return;
  for (int i = 300; i < 303; ++i) {
    const Function* const f = ask(i, JitMode::kOff);
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(run(*f), i);
  }
  EXPECT_EQ(compile_counters().baked, 3);
  const std::string said = captured([] {
    EXPECT_EQ(ask(303, JitMode::kBackground), nullptr);
    finish_compiling();
    EXPECT_EQ(ask(304, JitMode::kWait), nullptr);
    EXPECT_EQ(ask(304, JitMode::kWait), nullptr);
  });
  EXPECT_EQ(count(said, "programs are interpreted: "), 1u) << said;
  EXPECT_EQ(count(said, "\n"), 1u) << said;
  EXPECT_NE(said.find("/no/compiler"), std::string::npos) << said;
  SY_EXPECT_ERROR(kernel(0, "factory.cu", "fill_items", {{"SY_ITEM", "2"}}),
                  Error, "/no/compiler");
}

// ---- processes

// built_in_test.cpp has some.
TEST(CudaBuiltIn, AProgramWithoutKernelsInsideSaysSo) {
  EXPECT_EQ(describe_built_in(), "none: the library was built without kernels");
  EXPECT_EQ(why_not_baked(0), "the library was built without kernels");
  Image image;
  EXPECT_FALSE(find_built_in(hash_of("any"), 90, &image));
}

TEST(CudaProgram, AProcessEndsWhileItCompiles) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    execl("/proc/self/exe", "compile_test", "--gtest_also_run_disabled_tests",
          "--gtest_filter=CudaProgram.DISABLED_EndsAtOnce", nullptr);
    _exit(99);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
TEST(CudaProgram, DISABLED_EndsAtOnce) {
  for (int i = 400; i < 440; ++i) ask(i, JitMode::kBackground);
  usleep(50000);  // the thread has begun
  std::exit(0);
}

TEST(CudaProgram, AForkedProcessDoesNotHang) {
  for (int i = 450; i < 460; ++i) ask(i, JitMode::kBackground);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(30);
    finish_compiling();
    bool threw = false;
    try {
      set_jit_mode(JitMode::kWait);
      program(0, key_of_number(470), Numbered(470));
    } catch (const Error&) {
      threw = true;
    }
    _exit(threw ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  finish_compiling();
}

}  // namespace
}  // namespace sy::cuda
