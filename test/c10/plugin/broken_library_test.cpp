#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/load_library.h"
#include "test/c10/plugin/broken_libraries.h"

// Files that load_library must refuse: the error says why and what to do, and
// nothing has changed.

namespace sy {
namespace {

using test::BrokenLibrary;
using test::problem;

const char* plugin(const char* name) {
  const char* const path = std::getenv(name);
  if (path == nullptr) throw std::runtime_error(std::string("no ") + name);
  return path;
}

std::string folder(const char* name) {
  const std::string path = ::testing::TempDir() + name;
  std::filesystem::create_directories(path);
  return path;
}

int64_t length(int64_t n) {
  return typed_operator<int64_t(const TensorBase&)>("sound::length")
      .call(TensorBase(make_tensor({n}, kFloat, Device(kCPU))));
}

void expect_refused(const BrokenLibrary& broken) {
  const std::string got = problem(broken.path);
  const std::string head = "cannot load library " + broken.path + ": ";
  if (broken.why.starts_with(";") || broken.why.starts_with("build")) {
    EXPECT_TRUE(got.starts_with(head) && got.ends_with(broken.why))
        << broken.name << ": " << got;
  } else {
    EXPECT_EQ(got, head + broken.why) << broken.name;
  }
}

TEST(BrokenLibrary, IsRefusedWithTheReasonAndChangesNothing) {
  init();
  const size_t before = Dispatcher::singleton().operators().size();
  for (const BrokenLibrary& broken :
       test::break_library(plugin("SOUND"), folder("broken"))) {
    expect_refused(broken);
    EXPECT_EQ(Dispatcher::singleton().operators().size(), before)
        << broken.name;
  }
  const LibraryHandle good = load_library(plugin("SOUND"));
  EXPECT_EQ(length(1000), 4);
}

TEST(BrokenLibrary, IsRefusedWhileAGoodOneIsLoaded) {
  const LibraryHandle good = load_library(plugin("SOUND"));
  for (const BrokenLibrary& broken :
       test::break_library(plugin("SOUND"), folder("beside"))) {
    expect_refused(broken);
    EXPECT_EQ(length(10), 2) << broken.name;
  }
}

TEST(BrokenLibrary, ACopyOfALoadedOneClashes) {
  const LibraryHandle good = load_library(plugin("SOUND"));
  const std::string copy = folder("copy") + "/libsound.so";
  std::filesystem::copy_file(plugin("SOUND"), copy,
                             std::filesystem::copy_options::overwrite_existing);
  const std::string got = problem(copy);
  EXPECT_NE(got.find("namespace sound is owned by the block at"), got.npos)
      << got;
  EXPECT_EQ(length(10), 2);
}

TEST(BrokenLibrary, NameIsLookedForInSwitchyardPlugins) {
  const std::string where = folder("search");
  std::filesystem::copy_file(plugin("SOUND"), where + "/libsound_there.so",
                             std::filesystem::copy_options::overwrite_existing);
  ::unsetenv("SWITCHYARD_PLUGINS");
  EXPECT_EQ(problem("libsound_there.so"),
            "cannot load library libsound_there.so: no such file; check the "
            "path, or name its folder in SWITCHYARD_PLUGINS");
  ::setenv("SWITCHYARD_PLUGINS", "/nowhere", 1);
  EXPECT_EQ(problem("libsound_there.so"),
            "cannot load library libsound_there.so: no such file; check the "
            "path; nor is it in SWITCHYARD_PLUGINS=/nowhere");
  ::setenv("SWITCHYARD_PLUGINS", (":/nowhere::" + where).c_str(), 1);
  {
    const LibraryHandle found = load_library("libsound_there.so");
    EXPECT_TRUE(found.path().ends_with("search/libsound_there.so"));
    EXPECT_EQ(length(10), 2);
  }
  EXPECT_EQ(problem("./libsound_there.so"),
            "cannot load library ./libsound_there.so: no such file; check the "
            "path");
  ::unsetenv("SWITCHYARD_PLUGINS");
}

// Anyone who may write the folder where a program runs would choose what it
// runs.
TEST(BrokenLibrary, ThePluginPathComesBeforeTheCurrentFolder) {
  const std::string where = folder("first");
  std::filesystem::copy_file(plugin("SOUND"), where + "/libsound_first.so",
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream("libsound_first.so") << "not a library";
  ::setenv("SWITCHYARD_PLUGINS", where.c_str(), 1);
  {
    const LibraryHandle found = load_library("libsound_first.so");
    EXPECT_TRUE(found.path().ends_with("first/libsound_first.so"));
    EXPECT_EQ(length(10), 2);
  }
  ::unsetenv("SWITCHYARD_PLUGINS");
  EXPECT_NE(problem("libsound_first.so").find("/libsound_first.so: "),
            std::string::npos);
  ::unlink("libsound_first.so");
}

TEST(BrokenLibrary, AFolderThatEveryUserMayWriteIsRefused) {
  const std::string where = folder("everybody");
  const std::string path = where + "/libsound_everybody.so";
  std::filesystem::copy_file(plugin("SOUND"), path,
                             std::filesystem::copy_options::overwrite_existing);
  ::chmod(where.c_str(), 0777);
  EXPECT_NE(problem(path).find("every user may write its folder"),
            std::string::npos);
  ::chmod(where.c_str(), 0755);
  EXPECT_EQ(load_library(path).path(), std::filesystem::canonical(path));
}

// Also where the program runs beside a file of that name, as itself may be.
TEST(BrokenLibrary, AWordIsAPluginOfThisProject) {
  const std::string where = folder("words");
  std::filesystem::copy_file(plugin("SOUND"),
                             where + "/libswitchyard_sound_word.so",
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream("sound_word") << "not a library";
  ::setenv("SWITCHYARD_PLUGINS", where.c_str(), 1);
  {
    const LibraryHandle found = load_library("sound_word");
    EXPECT_TRUE(found.path().ends_with("words/libswitchyard_sound_word.so"));
  }
  ::unsetenv("SWITCHYARD_PLUGINS");
  EXPECT_NE(problem("sound_word").find("/sound_word: "), std::string::npos);
  ::unlink("sound_word");
}

bool loads_and_runs(const std::string& path) {
  try {
    const LibraryHandle library = load_library(path);
    return length(1000) == 4;
  } catch (const RegistrationError&) {
    return false;
  }
}

struct Survivors {
  unsigned loaded = 0, refused = 0;
};
// Loads what `corrupt` makes of each number, in a process of its own: the
// dynamic loader believes what it reads, and does not survive all of it.
Survivors load_corrupted(std::string (*corrupt)(const std::string&, unsigned),
                         unsigned count, unsigned step) {
  init();
  const std::string good = test::read_bytes(plugin("SOUND"));
  const std::string path = folder("corrupted") + "/libsound.so";
  EXPECT_EQ(test::try_apart(path, good, &loads_and_runs), 0);
  Survivors out;
  for (unsigned n = 0; n < count; n += step) {
    const int status = test::try_apart(path, corrupt(good, n), &loads_and_runs);
    EXPECT_TRUE(WIFEXITED(status)) << "number " << n << ": " << status;
    ++(status == 0 ? out.loaded : out.refused);
  }
  return out;
}

// A process with AddressSanitizer takes ten times as long to fork.
constexpr unsigned kFewer = SY_ASAN ? 10 : 1;

TEST(BrokenLibrary, NoFieldOfASegmentCrashesTheLoader) {
  const Survivors s = load_corrupted(test::corrupt_segments, 4000, 3 * kFewer);
  EXPECT_GT(s.loaded, 50 / kFewer);  // fields that nobody reads
  EXPECT_GT(s.refused, 500 / kFewer);
}

TEST(BrokenLibrary, NoDynamicEntryCrashesTheLoader) {
  const Survivors s = load_corrupted(test::corrupt_dynamic, 20000, 3 * kFewer);
  EXPECT_GT(s.loaded, 50 / kFewer);  // numbers and flags that nobody needs
  EXPECT_GT(s.refused, 500 / kFewer);
}

TEST(BrokenLibrary, BytesAreReadAsTheFileIs) {
  const std::string path = plugin("SOUND");
  const auto by_file = read_library_notes(path);
  const auto by_bytes = parse_library_notes(test::read_bytes(path), path);
  ASSERT_EQ(by_file.size(), 2u);
  ASSERT_EQ(by_bytes.size(), 2u);
  EXPECT_STREQ(by_file[0].ns, by_bytes[0].ns);
  EXPECT_STREQ(by_file[0].ns, "sound");
}

TEST(BrokenLibraryDeathTest, ThrowingStaticInitialiserIsNamed) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(load_library(plugin("THROWING_START")),
               "switchyard: a static initialiser of .*throwing_start.so threw, "
               "which no program survives: no licence");
}

}  // namespace
}  // namespace sy
