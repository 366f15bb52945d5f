#pragma once

#include <iosfwd>
#include <string>
#include <vector>

// What sygen does for each of its commands. All return the exit status and
// write problems to `err`, all of a run at once, as file:line:col: error: …

namespace sy::codegen {

// One canonical signature a line, in file order; with derived forms if asked.
int print(const std::vector<std::string>& files, bool autogen,
          std::ostream& out, std::ostream& err);

// Silent if nothing is wrong. `known` are files that names may refer to.
int check_files(const std::vector<std::string>& files,
                const std::vector<std::string>& known, std::ostream& err);
inline int check_files(const std::vector<std::string>& files,
                       std::ostream& err) {
  return check_files(files, {}, err);
}

struct EmitOptions {
  std::string kind;
  std::vector<std::string> inputs;
  std::vector<std::string> extra;  // read, not emitted
  std::vector<std::string> outs;
};
// Writes one file for each of outs, whose names say what goes where.
int emit(const EmitOptions& options, std::ostream& err);

// The whole tree of generated files under `folder`; unchanged files are left
// as they are.
int emit_all(const std::vector<std::string>& files, const std::string& folder,
             std::ostream& err);

}  // namespace sy::codegen
