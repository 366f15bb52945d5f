#pragma once

#include <iosfwd>
#include <string>
#include <vector>

// The commands of sygen. All return the exit status and write problems to
// `err`, all of a run at once, as file:line:col: error: …

namespace sy::codegen {

struct PrintOptions {
  bool autogen = false;  // with the derived forms
  bool uses = false;     // of derivatives.yaml: what the formulas use
};
// One canonical signature a line, in file order.
int print(const std::vector<std::string>& files, const PrintOptions& options,
          std::ostream& out, std::ostream& err);

// Silent if nothing is wrong. `known` are files that names may refer to.
int check_files(const std::vector<std::string>& files,
                const std::vector<std::string>& known, std::ostream& err);
inline int check_files(const std::vector<std::string>& files,
                       std::ostream& err) {
  return check_files(files, {}, err);
}

// The `example:` of each operator of the files that has one: "NAME: WORDS".
int print_examples(const std::vector<std::string>& files,
                   const std::vector<std::string>& known, std::ostream& out,
                   std::ostream& err);

struct ImportOptions {
  std::vector<std::string> files;
  std::vector<std::string> ops;          // globs of names
  std::vector<std::string> derivatives;  // derivatives.yaml
  std::vector<std::string> with;         // our own files
};
// Writes functions of PyTorch's native_functions.yaml as entries of ours.
int import_entries(const ImportOptions& options, std::ostream& out,
                   std::ostream& err);

struct EmitOptions {
  std::string kind;
  std::vector<std::string> inputs;
  std::vector<std::string> extra;  // read, not emitted
  std::vector<std::string> outs;
  // For kind "backend": the description of the backend that files are for.
  // Without inputs, the files are its two beyond families; without a backend,
  // the input is the description of a plugin.
  std::string backend;
  // The kernels of families are in files of their own.
  bool per_family = false;
};
// Writes one file for each of outs, whose names tell the contents.
int emit(const EmitOptions& options, std::ostream& err);

// The whole tree of generated files under `folder`; unchanged files are left
// as they are.
int emit_all(const std::vector<std::string>& files, const std::string& folder,
             std::ostream& err);

}  // namespace sy::codegen
