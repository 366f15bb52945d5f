#pragma once

#include <string>
#include <vector>

// The operators that a backend has, and those that it must have.

namespace sy::tools {

struct CoverageOptions {
  std::vector<std::string> plugins;
  std::string device;      // "" for that of the plugin
  std::string glob;        // "" for all operators
  std::string json, html;  // files; - for standard output
};

// Says of each operator whether a device runs it by a kernel of its own,
// composed of others, on the CPU, or not at all. Returns 0 if there is no
// operator of the last kind.
int run_coverage(const CoverageOptions& options);

// The operators that have no form which is composed of others: a backend with
// kernels for these runs all. Prints a list, JSON, or the `supported:` of a
// YAML.
enum class ListFormat { Text, Json, Yaml };
int print_minimal_set(ListFormat format);

}  // namespace sy::tools
