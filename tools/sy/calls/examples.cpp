#include "tools/sy/calls/examples.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "c10/process/error.h"
#include "lang/words.h"

namespace sy::tools {

namespace {

std::vector<std::string> library_examples() {
  if (const char* file = std::getenv("SWITCHYARD_EXAMPLES")) return {file};
  std::error_code none;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
  const auto file =
      self.parent_path().parent_path() / "share/switchyard/examples.txt";
  if (none || !std::filesystem::exists(file, none)) return {};
  return {file.string()};
}

constexpr std::string_view kDerivative = " derivative";

// Calls `f(name, words)` for each line.
template <class F>
void for_each_line(const std::vector<std::string>& given, F f) {
  std::vector<std::string> files = library_examples();
  files.insert(files.end(), given.begin(), given.end());
  for (const std::string& file : files) {
    std::ifstream in(file);
    SY_CHECK(in.good(), Value, "examples: cannot read {}", file);
    for (std::string line; std::getline(in, line);) {
      if (line.empty()) continue;
      // The name may have a namespace, whose colons no space follows.
      const size_t end = line.find(": ");
      SY_CHECK(end != line.npos, Value,
               "examples: {}: expected NAME: WORDS, got '{}'", file, line);
      f(line.substr(0, end), line.substr(end + 2));
    }
  }
}

}  // namespace

ExampleWords read_examples(const std::vector<std::string>& given) {
  ExampleWords out;
  for_each_line(given, [&](const std::string& name, const std::string& words) {
    if (!name.ends_with(kDerivative)) out[name] = words;
  });
  return out;
}

ExampleWords read_no_derivatives(const std::vector<std::string>& given) {
  ExampleWords out;
  for_each_line(given, [&](const std::string& name, const std::string& words) {
    const auto reason = lang::parse_no_derivative(words);
    if (!name.ends_with(kDerivative) || !reason) return;
    out[name.substr(0, name.size() - kDerivative.size())] = reason->why;
  });
  return out;
}

}  // namespace sy::tools
