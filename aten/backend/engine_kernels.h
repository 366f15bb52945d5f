#pragma once

#include "aten/backend/engines.h"
#include "c10/dispatch/boxing.h"
#include "c10/plugin/library.h"

// The kernels that engines run. Generated code has each once, as a template
// over the type that gives its engines: aten/ops/<family>_engine_kernels.h. The
// library compiles an instance for all backends, which takes the engines from
// the context of its Kernel. A backend with `engine_calls: direct` compiles
// another one, which calls the functions of the engines directly.

namespace sy {

// The engines of a direct instance.
template <const BackendEngines& kEngines>
struct KnownEngines {
  explicit KnownEngines(const Kernel*) {}
  const BackendEngines* operator->() const { return &kEngines; }
};

// The engines of the shared instance.
class EnginesOfKernel {
 public:
  explicit EnginesOfKernel(const Kernel* k)
      : engines_(static_cast<const BackendEngines*>(k->context)) {}
  const BackendEngines* operator->() const { return engines_; }

 private:
  const BackendEngines* engines_;
};

namespace detail {

template <auto* F, class Function>
struct WrapEngineKernel;
template <auto* F, class Engines, class R, class... A>
struct WrapEngineKernel<F, R(Engines, A...)> {
  using Signature = R(A...);
  static R unboxed(const Kernel* k, DispatchKeySet, A... args) {
    return F(Engines(k), std::forward<A>(args)...);
  }
};

}  // namespace detail

// Registers the kernels of one backend in its block of registrations, and
// leaves out those of engines that it lacks.
class SY_API EngineKernels {
 public:
  // `but`: operators that the backend has kernels of its own for, "add.Tensor".
  // Borrows everything; the kernels keep `engines`.
  EngineKernels(Library& m, const BackendEngines& engines,
                ArrayRef<const char*> but = {})
      : library_(m), engines_(engines), but_(but) {}

  template <auto* F>
  void pointwise(const char* name) {
    if (engines_.pointwise != nullptr) add<F>(name);
  }
  template <auto* F>
  void reduce(const char* name) {
    if (engines_.reduce != nullptr) add<F>(name);
  }
  template <auto* F>
  void scan(const char* name) {
    if (engines_.scan != nullptr) add<F>(name);
  }

 private:
  template <auto* F>
  void add(const char* name) {
    using Wrap =
        detail::WrapEngineKernel<F, std::remove_pointer_t<decltype(F)>>;
    using Traits = detail::SignatureTraits<typename Wrap::Signature>;
    add(name, reinterpret_cast<void*>(&Wrap::unboxed), Traits::kOfKernel,
        &Traits::boxed);
  }
  void add(const char* name, void* unboxed, const CppSignature& signature,
           BoxedFunction boxed);

  Library& library_;
  const BackendEngines& engines_;
  ArrayRef<const char*> but_;
};

// Static data behind the shared kernels of a family. The constructor neither
// allocates nor throws.
class SY_API SharedEngineKernels {
 public:
  using Add = void (*)(EngineKernels& m);
  explicit SharedEngineKernels(Add add) noexcept;

 private:
  friend SY_API void register_engine_kernels(Library& m,
                                             const BackendEngines& engines,
                                             ArrayRef<const char*> but);
  const Add add_;
  const SharedEngineKernels* const next_;
};

// Registers the shared kernels of all families, as EngineKernels does.
SY_API void register_engine_kernels(Library& m, const BackendEngines& engines,
                                    ArrayRef<const char*> but = {});

}  // namespace sy
