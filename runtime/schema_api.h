#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "c10/macros.h"

// The interface of libswitchyard_schema.so: the reader, the checkers and the
// interpreters behind load_schema, mapped on first use.

namespace sy::runtime {

class LoadedSchema;

struct SchemaApi {
  static constexpr uint32_t kVersion = 1;
  uint32_t version;
  // Throws RegistrationError. Fills in the names of what it defined.
  LoadedSchema* (*load)(std::string_view text, const std::string& name,
                        std::vector<std::string>* operators);
  // Throws Error, changing nothing; otherwise frees it.
  void (*unload)(LoadedSchema* schema, std::chrono::milliseconds timeout);
};

inline constexpr const char* kSchemaEntry = "switchyard_schema_api";
inline constexpr const char* kSchemaLibrary = "libswitchyard_schema.so";

// The loader calls this where it is linked to the program itself.
SY_API void register_schema_api(const SchemaApi* api) noexcept;

}  // namespace sy::runtime
