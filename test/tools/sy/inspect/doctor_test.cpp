#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/load_library.h"
#include "test/c10/plugin/broken_libraries.h"
#include "tools/sy/inspect/inspect.h"
#include "tools/sy/support/json.h"

// The reports of `sy doctor` on libraries, good and broken.

namespace sy::tools {
namespace {

const char* plugin(const char* name) {
  const char* const path = std::getenv(name);
  if (path == nullptr) throw std::runtime_error(std::string("no ") + name);
  return path;
}

struct Said {
  int status;
  std::string text;
};

Said doctor(const std::string& path, bool json = false) {
  ::testing::internal::CaptureStdout();
  const int status = examine_library(path, json);
  return {status, ::testing::internal::GetCapturedStdout()};
}

std::string folder(const char* name) {
  const std::string path = ::testing::TempDir() + name;
  std::filesystem::create_directories(path);
  return path;
}

TEST(Doctor, GoodLibraryLoadsAndIsGoneAgain) {
  const size_t before = Dispatcher::singleton().operators().size();
  const Said said = doctor(plugin("SOUND"));
  EXPECT_EQ(said.status, 0);
  for (const char* part :
       {"\n  SY_LIBRARY(sound)\n", "\n  SY_LIBRARY_IMPL(sound, CPU)\n",
        "\nloads; 2 new operators\n  paper: none\n  ink: libink.so.2\n"}) {
    EXPECT_NE(said.text.find(part), said.text.npos) << said.text;
  }
  EXPECT_EQ(Dispatcher::singleton().operators().size(), before);
  const Json json = parse_json(doctor(plugin("SOUND"), true).text, "doctor");
  EXPECT_EQ(json["notes"], Json({"paper: none", "ink: libink.so.2"}));
}

TEST(Doctor, EveryBrokenLibraryIsExplained) {
  for (const test::BrokenLibrary& broken :
       test::break_library(plugin("SOUND"), folder("doctor"))) {
    const Said said = doctor(broken.path);
    EXPECT_EQ(said.status, 1) << broken.name;
    EXPECT_TRUE(said.text.starts_with(broken.path + "\n")) << said.text;
    EXPECT_NE(said.text.find("does not load:\ncannot load library " +
                             broken.path + ": "),
              said.text.npos)
        << said.text;
    EXPECT_TRUE(said.text.ends_with(broken.why + "\n"))
        << broken.name << ": " << said.text;
    const Json json = parse_json(doctor(broken.path, true).text, "doctor");
    EXPECT_EQ(json["loads"], false);
    EXPECT_EQ(json["path"], broken.path);
    EXPECT_NE(said.text.find(json["why"].get<std::string>()), said.text.npos);
  }
}

std::string renamed(
    std::string bytes,
    std::initializer_list<std::pair<const char*, const char*>> names) {
  for (const auto& [from, to] : names) {
    bool found = false;
    for (size_t at = 0; (at = bytes.find(from, at)) != bytes.npos; ++at) {
      bytes.replace(at, std::strlen(to), to);
      found = true;
    }
    EXPECT_TRUE(found) << from;
  }
  return bytes;
}

TEST(Doctor, AllThatIsMissingIsNamed) {
  const std::string good = test::read_bytes(plugin("SOUND"));
  const std::string path = folder("missing") + "/libsound.so";
  const auto doctor_of = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return doctor(path).text;
  };
  const std::string libraries =
      doctor_of(renamed(good, {{"libstdc++.so.6", "libmissin.so.6"},
                               {"libc.so.6", "libq.so.6"}}));
  EXPECT_NE(libraries.find("it needs libmissin.so.6"), libraries.npos);
  EXPECT_TRUE(
      libraries.ends_with("\nall that is missing:\n"
                          "  library libmissin.so.6\n"
                          "  library libq.so.6\n"))
      << libraries;
  const std::string symbols = doctor_of(
      renamed(good, {{"_ZN2sy7Library3def", "_ZN2sy7Library3dof"},
                     {"_ZNK2sy5Value9to_tensor", "_ZNK2sy5Value9to_rotsen"}}));
  EXPECT_NE(symbols.find("\nall that is missing:\n  symbol sy::"), symbols.npos)
      << symbols;
  for (const char* part :
       {"  symbol sy::Library::dof(std::basic_string_view<char, "
        "std::char_traits<char> >)\n",
        "  symbol sy::Value::to_rotsen() const\n"}) {
    EXPECT_NE(symbols.find(part), symbols.npos) << symbols;
  }
  const Json json = parse_json(doctor(path, true).text, "doctor");
  EXPECT_EQ(json["missing"].size(), 2u);
}

TEST(Doctor, NamesThatClashAreExplained) {
  const std::string copy = folder("clash") + "/libsound.so";
  std::filesystem::copy_file(plugin("SOUND"), copy,
                             std::filesystem::copy_options::overwrite_existing);
  const LibraryHandle first = load_library(plugin("SOUND"));
  const Said said = doctor(copy);
  EXPECT_EQ(said.status, 1);
  EXPECT_NE(said.text.find("namespace sound is owned by the block at"),
            said.text.npos)
      << said.text;
}

TEST(Doctor, SurvivesWhatNoProcessSurvives) {
  Said said = doctor(plugin("THROWING_START"));
  EXPECT_EQ(said.status, 1);
  EXPECT_NE(said.text.find("the process that loads it dies of it (Aborted); "
                           "mend its static initialisers and what they call"),
            said.text.npos)
      << said.text;
  EXPECT_NE(said.text.find("no licence"), said.text.npos) << said.text;
  said = doctor(plugin("CRASHING_START"));
  EXPECT_EQ(said.status, 1);
  EXPECT_NE(said.text.find("dies of it (Segmentation fault)"), said.text.npos)
      << said.text;
}

}  // namespace
}  // namespace sy::tools
