#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

// One good library broken in every way that a file can be.

namespace sy::test {

struct BrokenLibrary {
  std::string name;
  std::string path;  // in the folder
  std::string why;   // what `cannot load library PATH: ` is followed by
};

// Writes them into `folder`, which exists. `good` defines a namespace `sound`
// and links to libstdc++.
std::vector<BrokenLibrary> break_library(const std::string& good,
                                         const std::string& folder);

// `good` with one field of its program headers changed, another for each
// `number`.
std::string corrupt_segments(const std::string& good, unsigned number);

// The same of the entries of its dynamic segment: values and tags, moved a
// little, exchanged, or made into others that the dynamic loader knows.
std::string corrupt_dynamic(const std::string& good, unsigned number);

// Numbers at which a reader of files may err.
inline constexpr std::initializer_list<uint64_t> kEdges = {0,
                                                           1,
                                                           8,
                                                           0xfff,
                                                           0x1000,
                                                           0x7fffffff,
                                                           0xffffffff,
                                                           ~uint64_t{0},
                                                           uint64_t{1} << 63};

// Makes `bytes` the file at `path`, which may be loaded already, and calls
// `loads_and_runs` in a process of its own: how that ended, 0 if it loads and
// runs.
int try_apart(const std::string& path, const std::string& bytes,
              bool (*loads_and_runs)(const std::string& path));

// The error of load_library() for a file; "(loaded)" if it takes it.
std::string problem(const std::string& path);

// The bytes of a file.
std::string read_bytes(const std::string& path);

}  // namespace sy::test
