#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/emit/describe.h"
#include "codegen/model_names.h"
#include "codegen/torch/model.h"
#include "lang/yaml.h"
#include "model/model.h"

// Every name that PyTorch's native_functions.yaml gives C++, as a function and
// as a method of Tensor, is there or is left out for a reason. It varies the
// name and its two forms. It never looks at arguments: recorded cases do.

namespace sy::codegen {
namespace {

const std::string kFolder = "test/codegen/torch/testdata/";

using Names = std::map<std::string, std::set<std::string>>;  // of each form

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  }
  return lines;
}

Names torch_names() {
  Names all;
  for (const std::string& line : lines_of(kFolder + "api_names.txt")) {
    const size_t colon = line.find(':');
    std::istringstream forms(line.substr(colon + 1));
    for (std::string form; forms >> form;) {
      all[form].insert(line.substr(0, colon));
    }
  }
  return all;
}

// "add_out" of "sy::add_out(out, self, other)".
std::string called(const std::string& call) {
  const std::string head = call.substr(0, call.find('('));
  return head.substr(head.find_last_of(":.") + 1);
}

Names own_names() {
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator("schemas/ops")) {
    paths.push_back(file.path());
  }
  paths.push_back("schemas/tags.yaml");
  lang::Diagnostics diagnostics;
  const Model model = Model::load(paths, diagnostics);
  Names all;
  for (const Family& family : model.families()) {
    for (const Operator& op : family.operators) {
      for (const ApiCall& c : api_calls(op)) {
        all[c.is_method ? "method" : "function"].insert(called(c.call));
      }
    }
  }
  return all;
}

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] != '*') {
    return !name.empty() && name[0] == pattern[0] &&
           matches(pattern.substr(1), name.substr(1));
  }
  for (size_t i = 0; i <= name.size(); ++i) {
    if (matches(pattern.substr(1), name.substr(i))) return true;
  }
  return false;
}

struct LeftOut {
  std::string form;  // empty: both
  std::string pattern;
  bool used = false;
};

std::vector<LeftOut> left_out() {
  std::vector<LeftOut> all;
  for (const std::string& line : lines_of(kFolder + "left_out.txt")) {
    if (line[0] != ' ') continue;  // a reason
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      LeftOut l;
      if (word == "method" || word == "function") {
        l.form = word;
        words >> word;
      }
      l.pattern = word;
      all.push_back(l);
    }
  }
  return all;
}

TEST(ApiNames, AreThoseOfPyTorch) {
  Names torch = torch_names(), own = own_names();
  ASSERT_GT(torch["function"].size(), 1000u);
  ASSERT_GT(own["function"].size(), 1000u);
  std::vector<LeftOut> reasons = left_out();
  for (const auto& [form, names] : torch) {
    for (const std::string& name : names) {
      if (own[form].contains(name)) continue;
      bool excused = false;
      for (LeftOut& l : reasons) {
        const bool fits =
            (l.form.empty() || l.form == form) && matches(l.pattern, name);
        l.used |= fits;
        excused |= fits;
      }
      EXPECT_TRUE(excused) << form << " " << name << " is missing";
    }
  }
  for (const LeftOut& l : reasons) {
    EXPECT_TRUE(l.used) << l.pattern << " in left_out.txt fits nothing";
  }
}

// The list is that of PyTorch's file, where there is one.
TEST(ApiNames, AreReadFromPyTorchsFile) {
  const char* path = std::getenv("SWITCHYARD_NATIVE_FUNCTIONS");
  if (path == nullptr) {
    GTEST_SKIP() << "SWITCHYARD_NATIVE_FUNCTIONS names no file";
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  lang::Diagnostics diagnostics;
  const auto root = lang::parse_yaml(text.str(), path, diagnostics);
  Names read;
  for (const auto& f : torch::read_native_functions(root, diagnostics)) {
    const std::string name(f.schema.name().name.view());
    if (f.function_variant) read["function"].insert(name);
    if (f.method_variant) read["method"].insert(name);
  }
  EXPECT_EQ(read, torch_names());
}

}  // namespace
}  // namespace sy::codegen
