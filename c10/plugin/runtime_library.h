#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "c10/dispatch/kernel.h"
#include "c10/dispatch/operator_def.h"

namespace sy {

class LibraryToken;

// Operators and kernels that a program makes while it runs. They are registered
// all at once, as the blocks of a shared object are. Not thread-safe. The
// destructor does not withdraw them.
class SY_API RuntimeLibrary {
 public:
  // `name` is for messages, like the name of a file.
  explicit RuntimeLibrary(const std::string& name);
  RuntimeLibrary(const RuntimeLibrary&) = delete;
  RuntimeLibrary& operator=(const RuntimeLibrary&) = delete;
  ~RuntimeLibrary();

  // Objects that outlive a call and need this library hold it.
  LibraryToken* token() const { return token_; }

  // Makes this the owner of the namespace, as SY_LIBRARY does. `line` is for
  // messages, here and below.
  void own_namespace(std::string_view ns, int line);
  // `schema` includes the namespace, and is copied. `def` holds the rest,
  // without a signature; what it points to must outlive the registration. A
  // guard may exist boxed only.
  void def(std::string_view schema, const OperatorDef& def, int line);
  void impl(std::string_view full_name, std::string_view key,
            const Kernel& kernel, int line);

  // Registers everything or, if it throws RegistrationError with every problem,
  // nothing. Call it once.
  void commit();
  // Like LibraryHandle::unload: throws Error and changes nothing if the library
  // is held.
  void withdraw(std::chrono::milliseconds timeout);

 private:
  LibraryToken* token_;
  std::unique_ptr<class RegistrationBatch> batch_;
};

}  // namespace sy
