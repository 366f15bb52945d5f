#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/load_library.h"
#include "test/c10/plugin/broken_libraries.h"
#include "test/c10/plugin/damage.h"

// Damaged copies of a library that has an entry in each table which the dynamic
// loader reads: each is an error, or loads and may be called, and none ends the
// process.
//
// Varied: headers, segments, sections, names, symbols, hash tables, versions,
// dynamic entries, relocations, notes; one to three changes of bits, bytes,
// words, or the end cut off. Never varied: code, and what is said only once
// (damage.h); the library's source.
//
// 600 copies. SY_DAMAGES=100000 makes more, from SY_FIRST_DAMAGE on (0).
// TABLES=PATH takes the library from another linker, as of
//   g++ -std=c++20 -O2 -fPIC -shared -fuse-ld=lld -I. -Ibazel-bin
//     -Ibazel-bin/c10/gen test/c10/plugin/libraries/tables.cpp -o libtables.so

namespace sy {
namespace {

std::string library() {
  const char* const path = std::getenv("TABLES");
  if (path == nullptr) throw std::runtime_error("no TABLES");
  return path;
}

uint64_t number(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

bool loads_and_runs(const std::string& path) {
  try {
    const LibraryHandle handle = load_library(path);
    const TensorBase argument(make_tensor({1000}, kFloat, Device(kCPU)));
    return typed_operator<int64_t(const TensorBase&)>("tables::count")
               .call(argument) == 230;
  } catch (const Error&) {
    return false;
  }
}

TEST(DamagedLibrary, IsRefusedOrLoadedAndEndsNoProcess) {
  init();
  // A process with AddressSanitizer takes ten times as long to fork.
  const uint64_t count = number("SY_DAMAGES", SY_ASAN ? 60 : 600);
  const std::string folder = ::testing::TempDir() + "damaged";
  std::filesystem::create_directories(folder);
  const test::DamageCounts c = test::load_damaged(
      library(), folder, number("SY_FIRST_DAMAGE", 0), count, &loads_and_runs);
  std::printf("%u loaded, %u refused, %zu ended by a signal\n", c.loaded,
              c.refused, c.signals.size());
  for (const auto& [part, n] : c.parts) {
    std::printf("  %5u %s\n", n, part.c_str());
  }
  for (const std::string& s : c.signals) ADD_FAILURE() << s;
  // Much of a file is read by nobody; most is.
  EXPECT_GT(c.loaded, count / 10);
  EXPECT_GT(c.refused, count / 2);
}

TEST(DamagedLibrary, TheSoundOneWorks) {
  EXPECT_EQ(test::problem(library()), "(loaded)");
  EXPECT_TRUE(loads_and_runs(library()));
}

TEST(DamagedLibrary, EachTableIsDamaged) {
  const test::Damage damage(test::read_bytes(library()));
  for (const char* const name :
       {"header", "segments", "sections", ".dynamic", ".dynsym", ".dynstr",
        ".gnu.version", ".gnu.version_r", ".rela.dyn", ".rela.plt"}) {
    const auto has = [&](const auto& p) { return p.name == name; };
    EXPECT_TRUE(std::any_of(damage.parts().begin(), damage.parts().end(), has))
        << name;
  }
}

}  // namespace
}  // namespace sy
