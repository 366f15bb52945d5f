#include "c10/plugin/load_library.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/library.h"
#include "test/c10/plugin/broken_libraries.h"

namespace sy {
namespace {

int64_t zero(const TensorBase&) { return 0; }

}  // namespace
}  // namespace sy

SY_LIBRARY(host, m) {
  m.def("answer(Tensor a) -> int");
  m.def("taken(Tensor a) -> int");
}
SY_LIBRARY_IMPL(host, CPU, m) { m.impl("taken", SY_FN(sy::zero)); }

namespace sy {
namespace {

using test::problem;

// The test's build gives the path of each plugin in the environment.
std::string plugin(const char* name) {
  const char* path = std::getenv(name);
  if (path == nullptr) throw std::runtime_error(std::string("no ") + name);
  return path;
}
std::string scratch(const char* name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return str("{}/{}", folder != nullptr ? folder : "/tmp", name);
}
TensorBase make(Device device = Device(kCPU)) {
  return TensorBase(make_tensor({2}, kFloat, device));
}
#define EXPECT_HAS(text, part) \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

int64_t answer(const TensorBase& t) {
  return Dispatcher::singleton()
      .find_or_throw("host::answer")
      .typed<int64_t(const TensorBase&)>()
      .call(t);
}

TEST(Plugin, LoadsCallsUnloadsAndLoadsAgain) {
  for (int round = 0; round < 3; ++round) {
    LibraryHandle lib = load_library(plugin("ALPHA"));
    EXPECT_EQ(answer(make()), 42);
    EXPECT_TRUE(Dispatcher::singleton().find("alpha::noop").has_value());
    lib.unload();
    EXPECT_THROW(answer(make()), NotImplementedError);
    EXPECT_FALSE(Dispatcher::singleton().find("alpha::noop").has_value());
  }
}

TEST(Plugin, DroppedHandleUnloadsAndKeptOneDoesNot) {
  { LibraryHandle lib = load_library(plugin("ALPHA")); }
  EXPECT_THROW(answer(make()), NotImplementedError);
  LibraryHandle first = load_library(plugin("ALPHA"));
  LibraryHandle second = load_library(plugin("ALPHA"));
  first.unload();
  EXPECT_EQ(answer(make()), 42);  // the second handle holds it
  second.unload();
  EXPECT_THROW(answer(make()), NotImplementedError);
}

TEST(Plugin, TensorsInItsMemoryHoldTheLibrary) {
  LibraryHandle lib = load_library(plugin("BETA"));
  TensorBase t = make(Device("beta"));
  EXPECT_EQ(answer(t), 43);
  EXPECT_EQ(to_string(t.device()), "beta:0");
  try {
    lib.unload();
    FAIL() << "unloaded while a tensor holds it";
  } catch (const Error& e) {
    EXPECT_HAS(e.message(), "held by 1 storage");
  }
  EXPECT_EQ(answer(t), 43);
  t.reset();
  lib.unload();
  EXPECT_THROW(Device("beta"), ValueError);
  lib = load_library(plugin("BETA"));
  EXPECT_EQ(answer(make(Device("beta"))), 43);
}

TEST(Plugin, EightThreadsLoadItAtOnce) {
  for (int round = 0; round < 20; ++round) {
    std::vector<LibraryHandle> handles(8);
    std::vector<std::thread> threads;
    std::atomic<int> ready{0};
    for (LibraryHandle& handle : handles) {
      threads.emplace_back([&] {
        ++ready;
        while (ready < 8) std::this_thread::yield();
        handle = load_library(plugin("ALPHA"));
        EXPECT_EQ(answer(make()), 42);
      });
    }
    for (std::thread& t : threads) t.join();
    while (handles.size() > 1) {
      handles.pop_back();
      EXPECT_EQ(answer(make()), 42);
    }
    handles[0].unload();
    EXPECT_THROW(answer(make()), NotImplementedError);
  }
}

TEST(Plugin, NotesAreReadWithoutLoading) {
  const auto notes = read_library_notes(plugin("ALPHA"));
  ASSERT_EQ(notes.size(), 3u);
  bool defines = false;
  for (const LibraryNote& n : notes) {
    defines |= n.kind == static_cast<uint32_t>(LibraryKind::Def) &&
               std::string(n.ns) == "alpha";
  }
  EXPECT_TRUE(defines);
}

TEST(Plugin, FilesThatAreNoLibrariesAreToldApart) {
  EXPECT_HAS(problem("/nowhere/lib.so"), "no such file");
  std::ofstream(scratch("text.so")) << "hello";
  EXPECT_HAS(problem(scratch("text.so")), "it is no ELF shared object");
  std::ofstream(scratch("empty.so"));
  EXPECT_HAS(problem(scratch("empty.so")), "the file is empty");
  EXPECT_HAS(problem("/proc/self/exe").substr(0, 200), "cannot load library");
  EXPECT_HAS(problem(plugin("SILENT")), "it registers nothing");
}

TEST(Plugin, TruncatedFileIsNotLoadedWhereverItWasCut) {
  std::ifstream in(plugin("ALPHA"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)),
                          std::istreambuf_iterator<char>());
  for (const double part : {0.001, 0.01, 0.3, 0.6, 0.95}) {
    const std::string path = scratch("cut.so");
    std::ofstream(path, std::ios::binary)
        << whole.substr(0, static_cast<size_t>(whole.size() * part));
    EXPECT_HAS(problem(path), "truncated") << part;
  }
}

TEST(Plugin, OtherLayoutIsRefusedBeforeItsCodeRuns) {
  const std::string m = problem(plugin("OTHER_LAYOUT"));
  EXPECT_HAS(m, "built against SDK 0.0.2 with layout");
  EXPECT_HAS(m, "rebuild it against this SDK");
}

TEST(Plugin, ThrowingBodyLeavesEverythingAsItWas) {
  const size_t before = Dispatcher::singleton().operators().size();
  EXPECT_HAS(problem(plugin("THROWS")), "the body threw: no luck today");
  EXPECT_EQ(Dispatcher::singleton().operators().size(), before);
  EXPECT_FALSE(Dispatcher::singleton().find("throws::f").has_value());
}

TEST(Plugin, EveryMistakeOfALibraryIsReportedAtOnce) {
  const std::string m = problem(plugin("WRONG"));
  EXPECT_HAS(m, "namespace host is owned by the block at");
  EXPECT_HAS(m,
             "no operator host::answr to register a CPU kernel for; did you "
             "mean host::answer?");
  EXPECT_HAS(m, "kernel of host::answer for CPU: expected 1 arguments");
  EXPECT_HAS(m, "host::taken has a kernel for CPU already, registered at");
  EXPECT_THROW(answer(make()), NotImplementedError);
}

TEST(Plugin, CallsGoOnWhileTwoLibrariesLoadAndUnload) {
  const std::string alpha = plugin("ALPHA"), beta = plugin("BETA");
  const auto op = Dispatcher::singleton()
                      .find_or_throw("host::taken")
                      .typed<int64_t(const TensorBase&)>();
  const auto fleeting = Dispatcher::singleton()
                            .find_or_throw("host::answer")
                            .typed<int64_t(const TensorBase&)>();
  std::atomic<bool> stop{false};
  std::atomic<int64_t> calls{0}, answered{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const TensorBase t = make();
      while (!stop) {
        EXPECT_EQ(op.call(t), 0);
        try {
          EXPECT_EQ(fleeting.call(t), 42);
          ++answered;
        } catch (const NotImplementedError&) {
        }
        // Now and then off the core: a call that lost it must get it back
        // before an unload goes on.
        if (++calls % 64 == 0) {
          std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
      }
    });
  }
  // SY_UNLOAD_CYCLES: as many as wanted, 20,000 say.
  const char* const wanted = std::getenv("SY_UNLOAD_CYCLES");
  const int cycles = wanted != nullptr ? std::atoi(wanted) : 1000;
  int round = 0;
  for (; round < cycles || (answered < 100 && round < 100000); ++round) {
    LibraryHandle a = load_library(alpha);
    LibraryHandle b = load_library(beta);
    std::this_thread::yield();
    a.unload();
    b.unload();
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  EXPECT_GT(calls, 100);
  EXPECT_GE(answered, 100);
  std::printf("%d cycles, %lld calls, %lld of them answered by the plugin\n",
              round, static_cast<long long>(calls),
              static_cast<long long>(answered));
}

TEST(Plugin, IsHeldByALibraryWithAKernelForItsOperator) {
  LibraryHandle alpha = load_library(plugin("ALPHA"));
  LibraryHandle depends = load_library(plugin("DEPENDS"));
  try {
    alpha.unload();
    FAIL() << "unloaded a library that another needs";
  } catch (const Error& e) {
    EXPECT_HAS(e.message(), "held by library libdepends.so");
    EXPECT_HAS(e.message(), "alpha::noop");
  }
  EXPECT_TRUE(alpha);
  EXPECT_EQ(answer(make()), 42);
  depends.unload();
  alpha.unload();
  EXPECT_FALSE(Dispatcher::singleton().find("alpha::noop").has_value());
  EXPECT_HAS(problem(plugin("DEPENDS")),
             "no operator alpha::noop to register a Meta kernel for");
  EXPECT_FALSE(Dispatcher::singleton().find("depends::own").has_value());
}

// A kernel's exception may be kept for longer than the library.
TEST(Plugin, KernelThrowsWhatItLikes) {
  std::exception_ptr kept;
  {
    LibraryHandle lib = load_library(plugin("SOUND"));
    const auto print =
        typed_operator<int64_t(const TensorBase&)>("sound::print");
    for (int i = 0; i < 3; ++i)
      EXPECT_THROW(print.call(make()), std::runtime_error);
    try {
      print.call(make());
    } catch (...) {
      kept = std::current_exception();
    }
    lib.unload();  // no call is in flight any more
  }
  try {
    std::rethrow_exception(kept);
  } catch (const std::exception& e) {
    EXPECT_STREQ(e.what(), "no paper");
  }
}

bool has(const char* op) {
  return Dispatcher::singleton().find(op).has_value();
}

// liblinked.so is alpha, linked to dep1.so, which is sound.
TEST(Plugin, LibrariesThatItLinksToComeAndGoWithIt) {
  const std::string linked = scratch("linked.so");
  const std::string alpha_file = std::filesystem::absolute(plugin("ALPHA"));
  std::string bytes = test::read_bytes(alpha_file);
  const std::string name = "libm.so.6", other = "./dep1.so";
  ASSERT_NE(bytes.find(name), bytes.npos);
  bytes.replace(bytes.find(name), name.size(), other);
  std::ofstream(linked, std::ios::binary) << bytes;
  std::ofstream(scratch("dep1.so"), std::ios::binary)
      << test::read_bytes(plugin("SOUND"));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(linked).parent_path());
  for (int round = 0; round < 3; ++round) {
    LibraryHandle lib = load_library(linked);
    EXPECT_TRUE(has("sound::length") && has("alpha::noop"));
    LibraryHandle dep = load_library("./dep1.so");
    dep.unload();
    EXPECT_TRUE(has("sound::length")) << "what links to it has it still";
    dep = load_library("./dep1.so");
    lib.unload();
    EXPECT_TRUE(has("sound::length"));
    EXPECT_FALSE(has("alpha::noop"));
    dep.unload();
    EXPECT_FALSE(has("sound::length"));
  }
  {  // alpha is taken, so that liblinked.so cannot be committed
    const LibraryHandle alpha = load_library(alpha_file);
    EXPECT_HAS(problem(linked), "namespace alpha is owned by");
    EXPECT_FALSE(has("sound::length"));
  }
  std::filesystem::current_path(before);
}

TEST(Plugin, UnloadWaitsForACallInFlight) {
  LibraryHandle lib = load_library(plugin("ALPHA"));
  std::atomic<bool> inside{false}, leave{false};
  struct Slow {
    std::atomic<bool>*inside, *leave;
    static void run(const Kernel& k, const OperatorEntry&, DispatchKeySet,
                    Value*, size_t, Value* results, size_t) {
      auto* s = static_cast<Slow*>(k.context);
      *s->inside = true;
      while (!*s->leave) std::this_thread::yield();
      results[0] = Value(int64_t{1});
    }
  } slow{&inside, &leave};
  auto kernel =
      register_library(LibraryKind::Impl, "host", "Meta", [&](Library& m) {
        m.impl("answer", Kernel::from_boxed(&Slow::run, &slow));
      });
  std::thread caller([] { EXPECT_EQ(answer(make(Device(kMeta))), 1); });
  while (!inside) std::this_thread::yield();
  EXPECT_THROW(lib.unload(std::chrono::milliseconds(30)), Error);
  EXPECT_EQ(answer(make()), 42);  // nothing has changed
  leave = true;
  caller.join();
  lib.unload();
}

}  // namespace
}  // namespace sy
