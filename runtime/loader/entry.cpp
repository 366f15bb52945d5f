#include "runtime/loader/loaded_schema.h"
#include "runtime/schema_api.h"

namespace sy::runtime {
namespace {

LoadedSchema* load(std::string_view text, const std::string& name,
                   std::vector<std::string>* operators) {
  return LoadedSchema::load(text, name, operators).release();
}

void unload(LoadedSchema* schema, std::chrono::milliseconds timeout) {
  schema->unload(timeout);
  delete schema;
}

constexpr SchemaApi kApi = {SchemaApi::kVersion, &load, &unload};

// Where this is linked to a program there is nothing to open.
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
