#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/commands.h"

// Every rule of PyTorch's files, broken once: the exact messages.

namespace sy::codegen {
namespace {

constexpr const char* kTags =
    "- {tag: core, desc: Others are made of it.}\n"
    "- {tag: pointwise, desc: By element.}\n"
    "- {tag: inplace_view, desc: Changes sizes.}\n"
    "- {tag: nondeterministic_seeded, desc: Random.}\n"
    "- {tag: view_copy, desc: Copies a view.}\n";

using Files = std::vector<std::pair<std::string, std::string>>;

struct Mistake {
  std::string name;
  Files files;
  std::string errors;
};

// mistakes.txt: "## NAME", then "-- FILE" with its text, then "-- errors".
// Files with functions get tags, too.
std::vector<Mistake> mistakes() {
  std::ifstream in("test/codegen/torch/testdata/mistakes.txt");
  std::vector<Mistake> all;
  std::string* text = nullptr;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) {
      all.push_back({line.substr(3), {}, {}});
    } else if (line == "-- errors") {
      text = &all.back().errors;
    } else if (line.starts_with("-- ")) {
      if (line == "-- native_functions.yaml") {
        all.back().files.emplace_back("tags.yaml", kTags);
      }
      text = &all.back().files.emplace_back(line.substr(3), "").second;
    } else {
      *text += line + '\n';
    }
  }
  return all;
}

// Runs check over files in a folder of its own, whose name is taken out.
std::string check(const Files& files, int& status) {
  const std::string folder = ::testing::TempDir() + "torch_check/";
  std::filesystem::remove_all(folder);
  std::vector<std::string> paths;
  for (const auto& [name, text] : files) {
    const std::filesystem::path path = folder + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    paths.push_back(path.string());
  }
  std::ostringstream err;
  status = check_files(paths, err);
  std::string all = err.str();
  for (std::size_t at; (at = all.find(folder)) != std::string::npos;) {
    all.erase(at, folder.size());
  }
  return all;
}

class TorchCheck : public ::testing::TestWithParam<Mistake> {};

TEST_P(TorchCheck, SaysWhatIsWrongAndWhere) {
  int status = 0;
  EXPECT_EQ(check(GetParam().files, status), GetParam().errors);
  EXPECT_EQ(status, 1);
}

INSTANTIATE_TEST_SUITE_P(Rules, TorchCheck, ::testing::ValuesIn(mistakes()),
                         [](const auto& tested) { return tested.param.name; });

TEST(TorchCheckRun, NamesBothPlacesOfWhatTwoFilesDefine) {
  const std::string text =
      "- func: f(Tensor self) -> Tensor\n  device_guard: False\n";
  int status = 0;
  EXPECT_EQ(check({{"a/native_functions.yaml", text},
                   {"b/native_functions.yaml", "# ours\n" + text}},
                  status),
            "b/native_functions.yaml:2:9: error: function 'f' is written "
            "twice; the first is at a/native_functions.yaml:1:9\n"
            "  - func: f(Tensor self) -> Tensor\n"
            "          ^\n");
}

// A function with an error of its own is not an error of those that need it.
TEST(TorchCheckRun, ReportsAllFilesAtOnceAndNothingTwice) {
  int status = 0;
  EXPECT_EQ(
      check({{"native_functions.yaml",
              "- func: f(Tensr self) -> Tensor\n"
              "  structured_delegate: f.out\n"
              "- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
              "  structured: True\n"
              "  dispatch: {CPUU: f}\n"},
             {"derivatives.yaml",
              "- name: f(Tensor self) -> Tensor\n  self: grd\n"}},
            status),
      "derivatives.yaml:2:9: error: unknown name 'grd' (did you mean "
      "'grad'?)\n"
      "    self: grd\n"
      "          ^\n"
      "native_functions.yaml:1:11: error: unknown type 'Tensr'; did you mean "
      "'Tensor'?\n"
      "  - func: f(Tensr self) -> Tensor\n"
      "            ^\n"
      "native_functions.yaml:5:14: error: unknown dispatch key 'CPUU' (did "
      "you mean 'CPU'?)\n"
      "    dispatch: {CPUU: f}\n"
      "               ^\n");
  EXPECT_EQ(status, 1);
}

}  // namespace
}  // namespace sy::codegen
