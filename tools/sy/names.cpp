#include "tools/sy/names.h"

#include "c10/error.h"

namespace sy::tools {

std::string short_name(std::string_view full) {
  return std::string(full.starts_with("aten::") ? full.substr(6) : full);
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
