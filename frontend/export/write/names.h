#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace sy::exporting {

// Names of values: each stands once, and is one that Python takes for a
// variable.
class ValueNames {
 public:
  // The name, with other characters as '_' and a number after it if need be.
  std::string fresh(std::string_view wanted);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;
};

// Whether a variable of Python may be called so.
bool is_variable(std::string_view name);
// Whether a module of Python may have a tensor of that path: "half" and "to"
// are functions of it.
bool is_free_in_python(std::string_view path);

// "conv2d" of "aten::conv2d.padding".
std::string base_name(std::string_view op);
// "torch.ops.aten.conv2d.padding"; an overload without a name is ".default".
std::string target_of(std::string_view op);

}  // namespace sy::exporting
