#include <mutex>
#include <set>

#include "c10/process/fork.h"
#include "runtime/loader/loaded_schema.h"
#include "runtime/schema_api.h"

namespace sy::runtime {
namespace {

// Points to all schemas that are loaded, also those that were kept, with
// operators or none. Leaked: they serve calls while statics are destroyed.
struct Live {
  ForkMutex mutex;
  std::set<LoadedSchema*> schemas;
};
Live& live() {
  static auto* l = new Live;
  return *l;
}

LoadedSchema* load(std::string_view text, const std::string& name,
                   std::vector<std::string>* operators) {
  const ForkSection section;  // the signature grammar has locks of its own
  auto schema = LoadedSchema::load(text, name, operators);
  const std::lock_guard lock(live().mutex);
  live().schemas.insert(schema.get());
  return schema.release();
}

void unload(LoadedSchema* schema, std::chrono::milliseconds timeout) {
  schema->unload(timeout);
  const std::lock_guard lock(live().mutex);
  live().schemas.erase(schema);
  delete schema;
}

constexpr SchemaApi kApi = {SchemaApi::kVersion, &load, &unload};

// There is nothing to open where this is linked to a program.
[[maybe_unused]] const bool registered = [] {
  register_schema_api(&kApi);
  return true;
}();

}  // namespace
}  // namespace sy::runtime

// The one symbol that libswitchyard_schema.so is opened for.
extern "C" SY_API const sy::runtime::SchemaApi* switchyard_schema_api() {
  return &sy::runtime::kApi;
}
