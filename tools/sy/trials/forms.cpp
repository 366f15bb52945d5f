#include "tools/sy/trials/forms.h"

#include <cstring>

#include "c10/schema/function_schema.h"

namespace sy::tools {

std::vector<OperatorHandle> other_forms(OperatorHandle op) {
  std::vector<OperatorHandle> forms;
  const OperatorInfo* const info = op.entry().info();
  if (info == nullptr || *info->source == 0 || !op.schema().is_functional()) {
    return forms;
  }
  for (const OperatorHandle o : Dispatcher::singleton().operators()) {
    const OperatorInfo* const own = o.entry().info();
    if (own == nullptr || o.schema().is_functional()) continue;
    if (std::strcmp(own->source, info->source) == 0) forms.push_back(o);
  }
  return forms;
}

}  // namespace sy::tools
