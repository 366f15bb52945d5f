#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/cuda/driver/api.h"
#include "backends/cuda/driver/library.h"
#include "test/c10/expect_error.h"
#include "test/c10/with_environment.h"

// Finding libraries, and drivers that cannot be used.

namespace sy::cuda::driver {
namespace {

namespace fs = std::filesystem;

// A folder that is removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "switchyard-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  // A library of that name, which has what the C library's own has.
  fs::path add_library(const fs::path& name) const {
    const fs::path to = path_ / name;
    fs::create_directories(to.parent_path());
    std::string why;
    const Library m = open_library({"libm.so.6"}, &why);
    EXPECT_TRUE(m) << why;
    fs::copy_file(m.path, to);
    return to;
  }
  fs::path add_text(const fs::path& name) const {
    const fs::path to = path_ / name;
    fs::create_directories(to.parent_path());
    std::ofstream(to) << "no library";
    return to;
  }

 private:
  fs::path path_;
};

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Libraries, AreFoundInTheFolderOfTheVariable) {
  const Folder folder;
  const fs::path file = folder.add_library("libsy_some.so.3");
  const Variable v("SWITCHYARD_CUDA_LIBS",
                   "/nowhere:" + folder.path().string());
  std::string why;
  const Library l = open_library({"libsy_some.so.4", "libsy_some.so.3"}, &why);
  ASSERT_TRUE(l) << why;
  EXPECT_EQ(l.path, fs::canonical(file));
  EXPECT_EQ(l.version, "3");
  EXPECT_EQ(l.place, "SWITCHYARD_CUDA_LIBS");
  EXPECT_NE(l.symbol("cos"), nullptr);
  EXPECT_EQ(l.symbol("cuInit"), nullptr);
}

TEST(Libraries, TheVariableMayNameAFile) {
  const Folder folder;
  const fs::path file = folder.add_library("libsy_file.so.13.0.88");
  const Variable v("SWITCHYARD_CUDA_LIBS", file.string());
  std::string why;
  const Library l = open_library({"libsy_file.so.13"}, &why);
  ASSERT_TRUE(l) << why;
  EXPECT_EQ(l.version, "13.0.88");
}

TEST(Libraries, LinksAreResolvedForTheVersion) {
  const Folder folder;
  folder.add_library("lib64/libsy_link.so.12.4.127");
  fs::create_symlink("libsy_link.so.12.4.127",
                     folder.path() / "lib64/libsy_link.so.12");
  const Variable v("CUDA_HOME", folder.path().string());
  std::string why;
  const Library l = open_library({"libsy_link.so.12"}, &why);
  ASSERT_TRUE(l) << why;
  EXPECT_EQ(l.version, "12.4.127");
  EXPECT_EQ(l.place, "the toolkit");
}

TEST(Libraries, TheToolkitOfSetupIsFound) {
  const Folder folder;
  folder.add_library("switchyard/cuda-13.0.88/lib/libsy_setup.so.13");
  // Compiled kernels are kept beside it.
  folder.add_library("switchyard/cuda/lib/libsy_setup.so.14");
  const Variable v("XDG_CACHE_HOME", folder.path().string());
  std::string why;
  const Library l =
      open_library({"libsy_setup.so.14", "libsy_setup.so.13"}, &why);
  ASSERT_TRUE(l) << why;
  EXPECT_EQ(l.version, "13");
  EXPECT_EQ(l.place, "the toolkit");
}

TEST(Libraries, AreFoundInThePackagesOfAPython) {
  const Folder folder;
  folder.add_library(
      "lib/python3.11/site-packages/nvidia/cu13/lib/libsy_wheel.so.13");
  folder.add_library(
      "lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libsy_old.so.12");
  const Variable v("VIRTUAL_ENV", folder.path().string());
  std::string why;
  EXPECT_EQ(open_library({"libsy_wheel.so.13"}, &why).place,
            "a Python's packages")
      << why;
  EXPECT_TRUE(open_library({"libsy_old.so.12"}, &why)) << why;
}

TEST(Libraries, ThePythonOfThePathIsAsked) {
  const Folder folder;
  folder.add_library(
      "lib/python3.12/site-packages/nvidia/cu13/lib/libsy_path.so.1");
  fs::create_directories(folder.path() / "bin");
  fs::create_symlink("/bin/sh", folder.path() / "bin/python3");
  const char* const before = std::getenv("PATH");
  const std::string path = before == nullptr ? "" : before;
  setenv("PATH", ((folder.path() / "bin").string() + ":" + path).c_str(), 1);
  std::string why;
  EXPECT_TRUE(open_library({"libsy_path.so.1"}, &why)) << why;
  setenv("PATH", path.c_str(), 1);
}

TEST(Libraries, WhatIsMissingSaysWhereItWasSought) {
  const Folder folder;
  const Variable v("SWITCHYARD_CUDA_LIBS", folder.path().string());
  std::string why;
  EXPECT_FALSE(open_library({"libsy_none.so.1", "libsy_none.so.2"}, &why));
  EXPECT_NE(why.find("libsy_none.so.1"), std::string::npos) << why;
  EXPECT_NE(why.find(folder.path().string()), std::string::npos) << why;
  EXPECT_NE(why.find("the loader's path"), std::string::npos) << why;
  open_library({"libsy_none.so.1"}, nullptr);
}

TEST(Libraries, ABrokenFileIsSaidToBeBroken) {
  const Folder folder;
  const fs::path file = folder.add_text("libsy_broken.so.1");
  const Variable v("SWITCHYARD_CUDA_LIBS", folder.path().string());
  std::string why;
  EXPECT_FALSE(open_library({"libsy_broken.so.1"}, &why));
  EXPECT_NE(why.find(file.string()), std::string::npos) << why;
}

TEST(Libraries, WhatWasOpenedIsRemembered) {
  const Folder folder;
  folder.add_library("libsy_known.so.1");
  const Variable v("SWITCHYARD_CUDA_LIBS", folder.path().string());
  std::string why;
  const Library l = open_library({"libsy_known.so.1"}, &why);
  open_library({"libsy_known.so.1"}, &why);
  int found = 0;
  for (const Library& o : opened_libraries()) found += o.handle == l.handle;
  EXPECT_EQ(found, 1);
}

TEST(Driver, IsTheOneThatTheVariableNames) {
  const char* why = "?";
  ASSERT_NE(try_api(&why), nullptr) << why;
  EXPECT_STREQ(why, "");
  EXPECT_EQ(&api(), try_api(nullptr));
  EXPECT_GE(driver_info().version, 12000);
  const char* const named = std::getenv("SWITCHYARD_CUDA_DRIVER");
  if (named == nullptr) GTEST_SKIP() << "on a GPU: no variable names a driver";
  EXPECT_STREQ(driver_info().place, "SWITCHYARD_CUDA_DRIVER");
  EXPECT_EQ(fs::canonical(named), driver_info().path);
}

TEST(Driver, AFileThatIsNoneNamesWhatItLacks) {
  if (!with_environment("SWITCHYARD_CUDA_DRIVER", "libm.so.6")) return;
  const char* why = nullptr;
  EXPECT_EQ(try_api(&why), nullptr);
  EXPECT_NE(std::string(why).find("it lacks cuInit, cuDriverGetVersion"),
            std::string::npos)
      << why;
  SY_EXPECT_ERROR(api(), Error, why);
  SY_EXPECT_ERROR(api(), Error, why);
}

TEST(Driver, AMissingFileIsNamed) {
  if (!with_environment("SWITCHYARD_CUDA_DRIVER", "/nowhere/libcuda.so.1")) {
    return;
  }
  SY_EXPECT_ERROR(api(), Error, "[cuda] there is no driver: /nowhere/");
  EXPECT_STREQ(driver_info().path, "");
}

TEST(Driver, AnswersAreErrors) {
  check(kSuccess, "cuInit");
  SY_EXPECT_ERROR(check(kInvalidValue, "cuMemAlloc"), Error,
                  "[cuda] cuMemAlloc: CUDA_ERROR_INVALID_VALUE");
  SY_EXPECT_ERROR(check(kOutOfMemory, "cuMemAlloc"), OutOfMemoryError,
                  "[cuda] cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_NE(result_text(static_cast<Result>(12345)).find("12345"),
            std::string::npos);
}

TEST(Driver, FaultsAreThoseThatEndAContext) {
  EXPECT_TRUE(is_fault(kIllegalAddress));
  EXPECT_TRUE(is_fault(kMisalignedAddress));
  EXPECT_TRUE(is_fault(kLaunchFailed));
  EXPECT_FALSE(is_fault(kOutOfMemory));
  EXPECT_FALSE(is_fault(kLaunchOutOfResources));
  EXPECT_FALSE(is_fault(kNotReady));
}

}  // namespace
}  // namespace sy::cuda::driver
