#include "codegen/tools/commands.h"

#include <ostream>

#include "codegen/check.h"
#include "codegen/files.h"
#include "codegen/lang/yaml.h"
#include "codegen/tools/fmt.h"
#include "codegen/tools/json_schema.h"
#include "codegen/tools/schema_files.h"

namespace sy::codegen {

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
      const auto formatted = format_schema(text, file, diagnostics);
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
  if (!tags.empty()) {
    const std::string text = lang::read_file(tags, diagnostics);
    names = read_tags(text, tags, diagnostics);
  }
  if (!diagnostics.empty()) {
    err << diagnostics.str_with_sources() << '\n';
    return 1;
  }
  out << json_schema(names);
  return 0;
}

}  // namespace sy::codegen
