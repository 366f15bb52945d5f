#include "codegen/tools/commands.h"

#include <filesystem>
#include <ostream>
#include <system_error>

#include "codegen/files.h"
#include "codegen/model_names.h"
#include "codegen/tools/fmt.h"
#include "codegen/tools/json_schema.h"
#include "codegen/tools/schema_files.h"
#include "lang/format.h"
#include "lang/yaml.h"
#include "model/backends.h"
#include "model/check.h"

namespace sy::codegen {
namespace {

// Editors find the JSON Schema that lies beside the folder of a file by its
// first line.
std::string with_pointer(const std::string& file, std::string text) {
  constexpr std::string_view kSchema = "../operators.schema.json";
  std::error_code failed;
  const auto folder = std::filesystem::path(file).parent_path();
  if (text.find("yaml-language-server:") != std::string::npos ||
      !std::filesystem::exists(folder / kSchema, failed)) {
    return text;
  }
  return fmt::format("# yaml-language-server: $schema={}\n{}", kSchema, text);
}

}  // namespace

int format_files(const std::vector<std::string>& paths, bool check,
                 std::ostream& out, std::ostream& err) {
  lang::Diagnostics diagnostics;
  bool good = true;
  for (const std::string& path : paths) {
    std::vector<std::string> files = schema_files(path);
    if (files.empty()) files = {path};
    for (const std::string& file : files) {
      if (is_tags(file)) continue;
      const std::size_t before = diagnostics.size();
      const std::string text = lang::read_file(file, diagnostics);
      if (diagnostics.size() != before) continue;
      const auto formatted =
          format_schema(with_pointer(file, text), file, diagnostics);
      if (!formatted || *formatted == text) continue;
      out << file << '\n';
      good &= !check && write_file({file, *formatted}, err);
    }
  }
  if (!diagnostics.empty()) err << diagnostics.str_with_sources() << '\n';
  return good && diagnostics.empty() ? 0 : 1;
}

int print_json_schema(const std::string& tags, std::ostream& out,
                      std::ostream& err) {
  lang::Diagnostics diagnostics;
  std::vector<std::string> names;
  std::vector<Backend> backends;
  if (!tags.empty()) {
    const std::string text = lang::read_file(tags, diagnostics);
    names = read_tags(text, tags, diagnostics);
    const auto folder = std::filesystem::path(tags).parent_path();
    backends = read_backends(backend_files(folder.string()), diagnostics);
  }
  if (!diagnostics.empty()) {
    err << diagnostics.str_with_sources() << '\n';
    return 1;
  }
  std::vector<std::string_view> keys;
  if (!backends.empty()) keys = dispatch_keys(backends);
  out << json_schema(names, keys);
  return 0;
}

}  // namespace sy::codegen
