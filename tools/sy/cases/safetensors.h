#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "c10/tensor/scalar_type.h"

namespace sy::tools {

// "F64" of float64.
const char* safetensors_name(ScalarType dtype);

// A safetensors file in memory. Strict: what the format does not allow
// (overlapping or missing bytes, sizes that do not fit, unknown fields) is a
// ValueError that names the file, as is a bool that is neither 0 nor 1.
class Safetensors {
 public:
  struct Entry {
    ScalarType dtype;
    std::vector<int64_t> shape;
    std::string_view bytes;  // not aligned; lives as long as the file's object
  };

  static Safetensors load(const std::string& path);
  // `name` stands for the file in errors.
  Safetensors(std::string bytes, const std::string& name);

  const std::map<std::string, Entry, std::less<>>& entries() const {
    return entries_;
  }
  // Throws ValueError if there is none.
  const Entry& at(std::string_view key) const;

  // One more, flat, with bytes that no file holds. Throws ValueError if there
  // is one with that key, or if a bool is neither 0 nor 1.
  void add(const std::string& key, ScalarType dtype, std::string bytes);

 private:
  std::unique_ptr<const std::string> bytes_;  // entries point into it
  std::string name_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::vector<std::unique_ptr<const std::string>> added_;  // and into these
};

}  // namespace sy::tools
