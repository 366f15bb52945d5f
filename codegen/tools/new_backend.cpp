#include "codegen/tools/new_backend.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ostream>
#include <system_error>
#include <vector>

#include "codegen/emit/common.h"
#include "codegen/files.h"

namespace sy::codegen {
namespace {

namespace fs = std::filesystem;

// Names that mean something else in the sources, or in a program that loads
// the backend.
constexpr std::string_view kTaken[] = {
    "any",    "at",      "aten",  "auto",   "autograd", "bool",   "char",
    "cpu",    "cuda",    "dense", "device", "double",   "float",  "int",
    "lazy",   "library", "long",  "memory", "meta",     "sample", "short",
    "signed", "std",     "sy",    "test",   "tensor",   "void"};

// Why no backend can be called that; "" if one can.
std::string misfit(const std::string& name) {
  const bool word = !name.empty() &&
                    std::islower(static_cast<unsigned char>(name[0])) &&
                    std::all_of(name.begin(), name.end(), [](unsigned char c) {
                      return std::islower(c) || std::isdigit(c) || c == '_';
                    });
  if (!word || name.ends_with('_') || name.find("__") != name.npos) {
    return fmt::format(
        "expected a name of small letters, digits and single _, as 'npu', got "
        "'{}'",
        name);
  }
  if (name.size() > 40)
    return fmt::format("expected at most 40 letters, got '{}'", name);
  if (std::find(std::begin(kTaken), std::end(kTaken), name) !=
      std::end(kTaken)) {
    return fmt::format("'{}' means something else already", name);
  }
  if (name.starts_with("autograd")) {
    return fmt::format("'{}' could be mistaken for the key of gradients", name);
  }
  return "";
}

std::string replaced(std::string text, std::string_view from,
                     const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos;) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

}  // namespace

int new_backend(const NewBackendOptions& options, std::ostream& out,
                std::ostream& err) {
  const std::string& name = options.name;
  if (const std::string why = misfit(name); !why.empty()) {
    err << fmt::format("sygen: error: {}\n", why);
    return 1;
  }
  const fs::path folder = options.folder.empty() ? name : options.folder;
  std::error_code failed;
  if (fs::exists(folder, failed) && !fs::is_empty(folder, failed)) {
    err << fmt::format("sygen: error: {} is not empty\n", folder.string());
    return 1;
  }
  const std::string key = camel(name);
  std::vector<OutputFile> files;
  for (const TemplateFile& f : new_backend_files()) {
    const auto renamed = [&](std::string_view text) {
      return replaced(replaced(std::string(text), "sample", name), "Sample",
                      key);
    };
    files.push_back({(folder / renamed(f.path)).string(), renamed(f.text)});
    fs::create_directories(fs::path(files.back().path).parent_path(), failed);
  }
  if (!write_files(files, err)) return 1;
  out << fmt::format("{}: {} files; README.md says how to build\n",
                     folder.string(), files.size());
  return 0;
}

}  // namespace sy::codegen
