#include "codegen/tools/new_backend.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace sy::codegen {
namespace {

namespace fs = std::filesystem;

struct Result {
  int status;
  std::string out, err;
};

Result run(const std::string& name, const std::string& folder) {
  std::ostringstream out, err;
  const int status = new_backend({name, folder}, out, err);
  return {status, out.str(), err.str()};
}

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string fresh(const char* name) {
  const std::string folder = ::testing::TempDir() + name;
  fs::remove_all(folder);
  return folder;
}

TEST(NewBackend, WritesAProjectUnderItsName) {
  const std::string folder = fresh("project");
  const Result r = run("my_npu", folder);
  EXPECT_EQ(r.status, 0) << r.err;
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const std::string path = entry.path().string(), text = read(entry.path());
    EXPECT_EQ(path.substr(folder.size()).find("sample"), path.npos) << path;
    EXPECT_EQ(text.find("sample"), text.npos) << path;
    EXPECT_EQ(text.find("Sample"), text.npos) << path;
  }
  EXPECT_EQ(files, new_backend_files().size());
  EXPECT_NE(read(folder + "/my_npu.yaml").find("\nbackend: MyNpu\n"),
            std::string::npos);
  EXPECT_NE(read(folder + "/src/device.cpp")
                .find("SY_BACKEND(MyNpu, m) { m.device(\"my_npu\""),
            std::string::npos);
  EXPECT_TRUE(fs::exists(folder + "/test/my_npu_test.cpp"));
}

TEST(NewBackend, KeepsWhatIsThere) {
  const std::string folder = fresh("kept");
  fs::create_directories(folder);
  EXPECT_EQ(run("npu", folder).status, 0);  // an empty folder will do
  const std::string before = read(folder + "/npu.yaml");
  const Result again = run("other", folder);
  EXPECT_EQ(again.status, 1);
  EXPECT_EQ(again.err, "sygen: error: " + folder + " is not empty\n");
  EXPECT_EQ(read(folder + "/npu.yaml"), before);
  EXPECT_FALSE(fs::exists(folder + "/other.yaml"));
}

TEST(NewBackend, RefusesNamesThatCannotBe) {
  const std::string folder = fresh("refused");
  for (const char* name :
       {"", "Npu", "1pu", "n pu", "npu-2", "_npu", "npu_", "n__pu", "../x"}) {
    const Result r = run(name, folder);
    EXPECT_EQ(r.status, 1) << name;
    EXPECT_EQ(r.err,
              "sygen: error: expected a name of small letters, digits and "
              "single _, as 'npu', got '" +
                  std::string(name) + "'\n");
  }
  for (const char* name : {"cpu", "meta", "sy", "std", "int", "aten"}) {
    EXPECT_EQ(run(name, folder).err, "sygen: error: '" + std::string(name) +
                                         "' means something else already\n");
  }
  EXPECT_NE(run("autogradx", folder).err.find("mistaken"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder));
}

}  // namespace
}  // namespace sy::codegen
