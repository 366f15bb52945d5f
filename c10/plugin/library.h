#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "c10/device/backend.h"
#include "c10/device/backend_service.h"
#include "c10/dispatch/boxing.h"
#include "c10/dispatch/kernel.h"
#include "c10/dispatch/operator_def.h"
#include "c10/plugin/library_note.h"

// Registration. A library's source says
//
//   SY_LIBRARY(my, m) { m.def("noop(Tensor a) -> Tensor"); }
//   SY_LIBRARY_IMPL(my, CPU, m) { m.impl("noop", SY_FN(noop_cpu)); }
//
// The static initialiser of a block only records it. Bodies run when the
// library is committed: by load_library(), or by init() for what is linked to
// the program. An exception from a body becomes a RegistrationError. All blocks
// of one shared object are committed together or not at all.

namespace sy {

class RegistrationBatch;

// The body of a block registers with this object. Methods only record; the
// commit reports all problems at once, with the file and line of the block.
class SY_API Library {
 public:
  // In SY_LIBRARY and SY_LIBRARY_FRAGMENT: defines an operator. `schema` is
  // copied. `kernel` becomes its CompositeImplicitAutograd kernel.
  void def(std::string_view schema);
  void def(std::string_view schema, const Kernel& kernel);
  // For generated code: `defs` are static data, which are neither copied nor
  // parsed.
  void def_static(const OperatorDef* defs, size_t n);

  // In SY_LIBRARY_IMPL: registers a kernel for the block's key. `name` has no
  // namespace: "add.Tensor".
  void impl(std::string_view name, const Kernel& kernel);
  // In SY_LIBRARY_IMPL(_, key, m): registers a boxed kernel for every operator
  // that has no kernel of its own for the key.
  void fallback(const Kernel& kernel);
  // In SY_LIBRARY_IMPL(_, Npu, m) and SY_BACKEND: registers an object that the
  // backend offers. It must outlive the library's registration.
  void service(BackendService s, void* object);

  // In SY_BACKEND: registers the devices of the backend. `name` is "npu" for
  // Device("npu:0"). The interface must outlive the library's registration.
  void device(std::string_view name, DeviceInterface* interface);

  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

 private:
  friend class RegistrationBatch;
  Library() = default;
  struct Block;
  RegistrationBatch* batch_ = nullptr;
  const struct LibraryRecord* record_ = nullptr;
};

enum class LibraryKind : uint8_t { Def, Fragment, Impl, Backend };

// Static data behind one block.
struct LibraryRecord {
  LibraryKind kind;
  const char* ns;
  const char* key;  // of Impl and Backend
  void (*body)(Library&);
  const char* file;
  int line;
  const void* dso;  // &__dso_handle, one per shared object
  LibraryRecord* next = nullptr;
};

namespace detail {
// Adds the record to the list of those to commit. Neither allocates nor throws.
SY_API void record_library(LibraryRecord* record) noexcept;

struct LibraryRegistrar {
  explicit LibraryRegistrar(LibraryRecord* r) noexcept { record_library(r); }
};
}  // namespace detail

// Registrations made while a program runs. The destructor undoes them after the
// calls in flight have returned; if something still holds them, they stay.
// reset() does the same, but throws Error if they are held.
class SY_API RegistrationHandle {
 public:
  RegistrationHandle() = default;
  RegistrationHandle(RegistrationHandle&& o) noexcept;
  RegistrationHandle& operator=(RegistrationHandle&& o) noexcept;
  ~RegistrationHandle();
  void reset();

 private:
  friend SY_API RegistrationHandle
  register_library(LibraryKind kind, std::string_view ns, std::string_view key,
                   void (*body)(Library&, void*), void* context);
  class LibraryToken* token_ = nullptr;
};

// Throws RegistrationError.
SY_API RegistrationHandle register_library(LibraryKind kind,
                                           std::string_view ns,
                                           std::string_view key,
                                           void (*body)(Library&, void*),
                                           void* context);

// register_library(LibraryKind::Impl, "aten", "CPU", [&](Library& m) {...})
template <class F>
RegistrationHandle register_library(LibraryKind kind, std::string_view ns,
                                    std::string_view key, F&& body) {
  return register_library(
      kind, ns, key,
      [](Library& m, void* f) {
        (*static_cast<std::remove_reference_t<F>*>(f))(m);
      },
      &body);
}

}  // namespace sy

extern "C" void* __dso_handle;

#define SY_LIBRARY_BLOCK(kind, ns, key, m, id)                                \
  static void SY_CONCAT(sy_library_body_, id)(::sy::Library&);                \
  static ::sy::LibraryRecord SY_CONCAT(sy_library_record_, id){               \
      kind,     ns,       key,           &SY_CONCAT(sy_library_body_, id),    \
      __FILE__, __LINE__, &__dso_handle, nullptr};                            \
  alignas(8) __attribute__((                                                  \
      section(".note.switchyard"),                                            \
      used)) static const ::sy::LibraryNote SY_CONCAT(sy_library_note_, id) = \
      ::sy::make_library_note(static_cast<uint32_t>(kind), ns, key);          \
  static const ::sy::detail::LibraryRegistrar SY_CONCAT(                      \
      sy_library_registrar_, id)(&SY_CONCAT(sy_library_record_, id));         \
  static void SY_CONCAT(sy_library_body_,                                     \
                        id)([[maybe_unused]] ::sy::Library & m)

// Owns the namespace: one block per namespace in a process.
#define SY_LIBRARY(ns, m) \
  SY_LIBRARY_BLOCK(::sy::LibraryKind::Def, #ns, "", m, __COUNTER__)
// Adds to a namespace that another block or library owns.
#define SY_LIBRARY_FRAGMENT(ns, m) \
  SY_LIBRARY_BLOCK(::sy::LibraryKind::Fragment, #ns, "", m, __COUNTER__)
// Kernels for one key: a backend's name (CPU, Npu), Autograd, AutogradNpu,
// CompositeImplicitAutograd, ...
#define SY_LIBRARY_IMPL(ns, key, m) \
  SY_LIBRARY_BLOCK(::sy::LibraryKind::Impl, #ns, #key, m, __COUNTER__)
// A backend under that key name, with m.device("npu", &interface).
#define SY_BACKEND(key, m) \
  SY_LIBRARY_BLOCK(::sy::LibraryKind::Backend, "_", #key, m, __COUNTER__)
