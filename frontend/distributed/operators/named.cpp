#include "frontend/distributed/operators/named.h"

#include "frontend/distributed/context.h"

namespace sy::distributed {

std::string renamed(const char* op, const Error& e) {
  const std::string& text = e.message();
  const size_t end = text.starts_with('[') ? text.find(']') : text.npos;
  std::string out = "[";
  out += op;
  out += end == text.npos ? "] " : "";
  return out += text.substr(end == text.npos ? 0 : end);
}

std::shared_ptr<ProcessGroup> group_for(const char* op, std::string_view name) {
  try {
    return named(op, [&] { return group_of(name); });
  } catch (const ValueError&) {
    throw;
  } catch (const Error& e) {
    throw Error(renamed(op, e));
  }
}

}  // namespace sy::distributed
