#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "c10/macros.h"

// Operators from YAML while a program runs, without a compiler: the files that
// sygen makes C++ of, and the same operators. docs/runtime_operators.md.

namespace sy {

namespace runtime {
class LoadedSchema;
}

// The operators of one schema. Dropping the handle unloads; if they are still
// held by then, they stay. Movable; use by one thread at a time.
class SY_API SchemaHandle {
 public:
  SchemaHandle() = default;
  SchemaHandle(SchemaHandle&& o) noexcept;
  SchemaHandle& operator=(SchemaHandle&& o) noexcept;
  ~SchemaHandle();

  explicit operator bool() const { return loaded_ != nullptr; }
  // The file, or the name that the text was given.
  const std::string& path() const { return path_; }
  // Full names with derived forms, in the file's order: "mine::bump_".
  const std::vector<std::string>& operators() const { return operators_; }
  // Takes the operators out, after the calls in flight have returned. Throws
  // Error, changing nothing, if calls do not return in time or the operators
  // are held: by graph nodes, or libraries with kernels for them.
  void unload(std::chrono::milliseconds timeout = std::chrono::seconds(10));
  // Leaves them for the life of the process.
  void keep() { loaded_ = nullptr; }

 private:
  friend SY_API SchemaHandle load_schema_text(std::string_view text,
                                              const std::string& name);
  std::string path_;
  std::vector<std::string> operators_;
  runtime::LoadedSchema* loaded_ = nullptr;
};

// Makes callable what the file describes: every form, with guards, shapes
// without data and gradients, by name through the Dispatcher. All of it or
// nothing: throws RegistrationError with every problem, each with its line and
// a caret as `sygen check` shows it. Thread-safe. The first call loads
// libswitchyard_schema.so, unless //runtime:loader is linked in.
SY_API SchemaHandle load_schema(const std::string& path);
// The same for a text; `name` stands for the file in messages.
SY_API SchemaHandle load_schema_text(std::string_view text,
                                     const std::string& name = "(text)");

}  // namespace sy
