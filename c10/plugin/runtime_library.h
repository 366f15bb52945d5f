#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "c10/kernel.h"
#include "c10/operator_def.h"

namespace sy {

class LibraryToken;

// Operators and kernels that a program makes while it runs, all registered at
// once: what the blocks of a shared object are, without one. Not thread-safe;
// destruction leaves registered what has not been withdrawn.
class SY_API RuntimeLibrary {
 public:
  // `name` is for messages, as a file's.
  explicit RuntimeLibrary(const std::string& name);
  RuntimeLibrary(const RuntimeLibrary&) = delete;
  RuntimeLibrary& operator=(const RuntimeLibrary&) = delete;
  ~RuntimeLibrary();

  // Held by what outlives a call and needs this library.
  LibraryToken* token() const { return token_; }

  // As SY_LIBRARY does. `line` is where, for messages.
  void own_namespace(std::string_view ns, int line);
  // `schema` with its namespace; copied. `def` holds the rest, without a
  // signature; what it points to outlives the registration. A guard may exist
  // boxed only.
  void def(std::string_view schema, const OperatorDef& def, int line);
  void impl(std::string_view full_name, std::string_view key,
            const Kernel& kernel, int line);

  // All of it or, throwing RegistrationError with every problem, nothing. Once.
  void commit();
  // As LibraryHandle::unload: throws Error, changing nothing, if held.
  void withdraw(std::chrono::milliseconds timeout);

 private:
  LibraryToken* token_;
  std::unique_ptr<class RegistrationBatch> batch_;
};

}  // namespace sy
