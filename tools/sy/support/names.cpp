#include "tools/sy/support/names.h"

#include <fnmatch.h>

#include <algorithm>

#include "c10/process/error.h"

namespace sy::tools {

std::string short_name(std::string_view full) {
  return std::string(full.starts_with("aten::") ? full.substr(6) : full);
}

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
         fnmatch(pattern.c_str(), ("aten::" + name).c_str(), 0) == 0;
}

std::string family_of(OperatorHandle op) {
  const OperatorInfo* const info = op.entry().info();
  if (info == nullptr || *info->source == '\0') {
    return std::string(op.name().substr(0, op.name().find("::")));
  }
  std::string file = info->source;
  file.erase(std::min(file.find(".yaml"), file.size()));
  return file.substr(file.rfind('/') + 1);
}

const char* route_name(DispatchInfo::Route route) {
  static constexpr const char* kNames[] = {"missing", "own", "alias",
                                           "fallback", "skipped"};
  return kNames[static_cast<int>(route)];
}

std::string kernel_place(const KernelInfo& kernel, std::string_view owner) {
  std::string_view file = kernel.file;
  const size_t bin = file.find("/bin/");
  if (file.starts_with("bazel-out/") && bin != file.npos) {
    file.remove_prefix(bin + 5);
  }
  return str("{}:{}{}{}{}{}", file, kernel.line, owner.empty() ? "" : ", ",
             owner, kernel.boxed_only ? ", boxed" : "",
             kernel.checks_itself ? ", guarded" : "");
}

}  // namespace sy::tools
