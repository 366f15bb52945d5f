#include "codegen/tools/schema_files.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <system_error>

#include "codegen/model_names.h"
#include "lang/format.h"
#include "lang/yaml.h"
#include "model/backends.h"

namespace sy::codegen {
namespace {

namespace fs = std::filesystem;

// Enumerations of the repository, which hold no operators.
bool is_enumeration(const fs::path& path) {
  return path.filename() == "dtypes.yaml" ||
         path.filename() == "dispatch_keys.yaml";
}

void add_folder(const fs::path& folder, std::vector<std::string>& out) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".yaml" && !is_enumeration(entry.path())) {
      out.push_back(entry.path().string());
    }
  }
}

// Mistakes in the description are told by its readers.
bool is_plugin(const std::string& file) {
  lang::Diagnostics ignored;
  return read_backend(lang::read_file(file, ignored), file, ignored).plugin;
}

bool is_library(const fs::path& folder) {
  std::error_code failed;
  return fs::is_regular_file(folder / "tags.yaml", failed) &&
         fs::is_directory(folder / "ops", failed);
}

// The library that `path` is, or lies in as a file or as its ops/; else "".
std::string library_around(const std::string& path) {
  std::error_code failed;
  fs::path at = (fs::absolute(path, failed) / "").lexically_normal();
  for (int up = 0; up < 3; ++up) {
    at = at.parent_path();
    if (is_library(at)) return at.string();
  }
  return "";
}

bool is_among(const std::vector<std::string>& files, const std::string& file) {
  return std::any_of(files.begin(), files.end(), [&](const std::string& f) {
    std::error_code failed;
    return fs::equivalent(f, file, failed);
  });
}

}  // namespace

bool is_tags(std::string_view path) {
  return fs::path(path).filename() == "tags.yaml";
}

std::vector<std::string> schema_files(const std::string& path) {
  std::error_code failed;
  if (!fs::is_directory(path, failed)) {
    if (fs::exists(path, failed)) return {path};
    return {};
  }
  const fs::path folder = path;
  std::vector<std::string> out;
  add_folder(folder, out);
  if (fs::is_directory(folder / "ops", failed)) add_folder(folder / "ops", out);
  const fs::path above =
      fs::path(fs::absolute(folder, failed)).lexically_normal();
  const fs::path parent =
      (above.has_filename() ? above : above.parent_path()).parent_path();
  if (is_library(parent) && fs::equivalent(parent / "ops", folder, failed)) {
    out.push_back((parent / "tags.yaml").string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string library_of(const std::string& file) {
  std::error_code failed;
  const fs::path full = fs::absolute(file, failed).lexically_normal();
  const fs::path beside = full.parent_path().parent_path();
  if (is_library(beside)) return beside.string();
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  const fs::path installed =
      program.parent_path().parent_path() / "share/switchyard/schemas";
  return !failed && is_library(installed) ? installed.string() : "";
}

std::vector<std::string> backend_files(const std::string& folder) {
  std::error_code failed;
  const fs::path beside =
      fs::path(folder).lexically_normal() / ".." / "backends";
  std::vector<std::string> out;
  for (const auto& entry :
       fs::directory_iterator(beside.lexically_normal(), failed)) {
    const fs::path file = entry.path() / "backend.yaml";
    if (fs::is_regular_file(file, failed) && !is_plugin(file.string())) {
      out.push_back(file.string());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> known_files(const std::vector<std::string>& files,
                                     const std::vector<std::string>& with) {
  std::vector<std::string> out;
  for (const std::string& path : with) {
    for (const std::string& known : schema_files(path)) {
      const auto same_name = [&](const std::string& file) {
        return fs::path(file).filename() == fs::path(known).filename();
      };
      if (std::none_of(files.begin(), files.end(), same_name) &&
          std::find(out.begin(), out.end(), known) == out.end()) {
        out.push_back(known);
      }
    }
    for (const std::string& known : backend_files(path)) {
      std::error_code failed;
      const auto same = [&](const std::string& file) {
        return fs::equivalent(file, known, failed);
      };
      if (std::none_of(files.begin(), files.end(), same)) {
        out.push_back(known);
      }
    }
  }
  return out;
}

std::vector<std::string> Schemas::files() const {
  std::vector<std::string> out = own;
  out.insert(out.end(), library.begin(), library.end());
  return out;
}

std::optional<Schemas> schemas_with(const std::vector<std::string>& with,
                                    std::ostream& err) {
  std::string folder;
  for (const std::string& path : with) {
    if (folder.empty()) folder = library_around(path);
  }
  if (folder.empty()) folder = library_of("schemas/ops/any.yaml");
  Schemas out;
  if (!folder.empty()) out.library = known_files({}, {folder});
  for (const std::string& path : with) {
    const std::vector<std::string> named = known_files({}, {path});
    if (named.empty()) {
      err << fmt::format("sygen: error: --with {}: no schema files\n", path);
      return std::nullopt;
    }
    for (const std::string& file : named) {
      if (!is_among(out.library, file) && !is_among(out.own, file)) {
        out.own.push_back(file);
      }
    }
  }
  if (!folder.empty()) out.library = known_files(out.own, {folder});
  if (out.own.empty() && out.library.empty()) {
    err << "sygen: error: no schema files; name them by --with\n";
    return std::nullopt;
  }
  return out;
}

}  // namespace sy::codegen
