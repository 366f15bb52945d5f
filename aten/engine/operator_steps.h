#pragma once

#include <initializer_list>

#include "aten/engine/apart.h"
#include "aten/engine/copy.h"
#include "aten/engine/structured.h"
#include "aten/tensor.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/operator_def.h"

// The steps of an operator's function that no engine takes: it finds its entry,
// checks arguments, fills out=, keeps what it overwrites. For the sources that
// sygen writes, the loader and composites. Includes the dispatcher.

namespace sy::generated {

// The handle of ops::X, looked up once.
template <class Op>
SY_ALWAYS_INLINE TypedOperator<typename Op::Signature> handle() {
  static constinit KnownOperator<typename Op::Signature> op(Op::name);
  return op.get();
}

// Calls the kernel that a guard guards.
template <class Op, class... A>
SY_ALWAYS_INLINE decltype(auto) call_guarded(const Kernel* k,
                                             DispatchKeySet keys, A&&... args) {
  return [&]<class R, class... P>(R (*)(P...)) -> R {
    return detail::call_kernel<R, P...>(static_cast<const Kernel*>(k->context),
                                        keys, std::forward<A>(args)...);
  }(static_cast<typename Op::Signature*>(nullptr));
}

// One row of a table of definitions. `guard` and `functional` may be null.
template <class Op>
OperatorDef operator_def(const char* schema, void* guard, uint16_t flags,
                         const OperatorInfo* info,
                         const FunctionalForm* functional = nullptr) {
  using Traits = detail::SignatureTraits<typename Op::Signature>;
  OperatorDef def;
  def.schema = schema;
  def.signature = &Traits::kSignature;
  def.guard = guard;
  def.guard_boxed = guard == nullptr ? nullptr : &Traits::boxed;
  for (int i = 0; i < Traits::kSignature.num_args; ++i) {
    const ArgCode code = Traits::kArgs[i];
    if (code >= ArgCode::Tensor && code <= ArgCode::OptTensorList) {
      def.tensor_args |= uint64_t{1} << i;
    }
  }
  def.flags = flags;
  def.info = info;
  def.functional = functional;
  return def;
}

// Applies the options that a factory's kernel does not apply.
inline Tensor with_options(Tensor t, const TensorOptions& options) {
  if (SY_UNLIKELY(options.requires_grad())) t.requires_grad_();
  return t;
}

// Throws ValueError: only host memory can be pinned. Meta has none to pin.
[[noreturn]] SY_API SY_COLD void cannot_pin(const OperatorEntry& op,
                                            Device device);
template <class Op>
SY_ALWAYS_INLINE void check_pinning(Device device,
                                    std::optional<bool> pin_memory) {
  if (SY_UNLIKELY(pin_memory.value_or(false) && device.type() > kMeta)) {
    cannot_pin(Op::entry(), device);
  }
}

// Runs an out= kernel. `kernel` fills a tensor of exactly these sizes and dtype
// that shares no memory with the inputs. It gets `out` if out is such a tensor,
// else a temporary that is then stored in out.
template <class F>
void fill_out(const OperatorEntry& op, Tensor& out, IntArrayRef sizes,
              ScalarType dtype, Device device,
              std::initializer_list<const TensorBase*> inputs, F&& kernel) {
  bool direct = out.defined() && out.scalar_type() == dtype;
  // An out that grows may reach an input that it does not reach now.
  const bool fits = direct && out.sizes() == sizes;
  for (const TensorBase* t : inputs) {
    if (!direct || t == nullptr || !t->defined()) continue;
    direct = fits ? !overlaps(out, *t) : !out.is_alias_of(*t);
  }
  if (SY_LIKELY(direct)) {
    prepare_out(op, out, sizes, dtype, device);
    kernel(static_cast<const Tensor&>(out));
    return;
  }
  const Tensor result(make_tensor(sizes, dtype, device));
  kernel(result);
  store_result(op, result, out);
}

// Gives a row-major result the memory format of `like`.
SY_API void lay_out_like(const TensorBase& like, const Tensor& result);

// Throws ValueError: a tensor argument that is written is undefined.
[[noreturn]] SY_API SY_COLD void undefined(const OperatorEntry& op,
                                           const char* argument);
SY_ALWAYS_INLINE void bump_version(const OperatorEntry& op,
                                   const char* argument, const TensorBase& t) {
  if (SY_UNLIKELY(!t.defined())) undefined(op, argument);
  t.impl()->bump_version(&op);
}

// For operators whose out= does not convert. Throws TypeError unless `out` has
// `dtype`.
SY_API void check_out_dtype(const OperatorEntry& op, const TensorBase& out,
                            ScalarType dtype);
// Throws ValueError unless self has `sizes`, for kernels that do not check
// that.
SY_API void check_inplace_sizes(const OperatorEntry& op, const TensorBase& self,
                                IntArrayRef sizes);
// Throws ValueError unless every tensor of a list is defined and all are on one
// device, with `first` if that is given.
SY_API void check_list(const OperatorEntry& op, const char* argument,
                       TensorList list, const TensorBase* first);
// For a list of fixed size, such as `bool[3] output_mask`. Throws ValueError.
SY_API void check_list_size(const char* op, const char* argument, size_t size,
                            size_t expected);
// Throws ValueError if an element would lie outside of self's storage.
SY_API void check_in_storage(const char* op, const Tensor& self,
                             IntArrayRef sizes, IntArrayRef strides,
                             int64_t offset);

// The in-place form of an operator that is made of others: copies `result` to
// self. Autograd records it as a copy.
SY_API Tensor& assign_inplace(const OperatorEntry& op, const Tensor& result,
                              Tensor& self);
// self.clone(), for headers that do not include the operators.
SY_API Tensor clone_for_write(const Tensor& self);
// The value that such an operator computes from. It is a copy while the parts
// of the operator may be recorded, since they may save self, which is
// overwritten at the end.
template <class... A>
Tensor before_write(const Tensor& self, const A&... others) {
  const bool recorded =
      GradMode::is_enabled() &&
      detail::keys_of(self, others...).has(DispatchKey::Autograd);
  return recorded ? clone_for_write(self) : self;
}
// The same for another argument: `before` is what before_write gave for self.
// A tensor that is saved must not be self, nor a view of it, whose history
// would then hold it for ever.
inline Tensor before_write_of(const Tensor& other, const Tensor& self,
                              const Tensor& before) {
  if (before.is_same(self) || !other.defined()) return other;
  if (other.is_same(self)) return before;
  return other.is_alias_of(self) ? clone_for_write(other) : other;
}
inline std::optional<Tensor> before_write_of(const std::optional<Tensor>& other,
                                             const Tensor& self,
                                             const Tensor& before) {
  if (!other) return other;
  return before_write_of(*other, self, before);
}

// The arguments of a view for its ViewMeta: ints and bools as they are, a list
// after its length, None as kNone.
class ViewArgs {
 public:
  static constexpr int64_t kNone = INT64_MIN;

  ViewArgs() {}  // NOLINT: data_ stays uninitialised on purpose
  ViewArgs& add(int64_t v) {
    data_[size_++] = v;
    return *this;
  }
  ViewArgs& add(std::optional<int64_t> v) { return add(v.value_or(kNone)); }
  ViewArgs& add(IntArrayRef list) {
    add(static_cast<int64_t>(list.size()));
    for (const int64_t v : list) add(v);
    return *this;
  }
  const int64_t* data() const { return data_; }
  int size() const { return size_; }

 private:
  int size_ = 0;
  // Room for two lists of dims, already checked, and a few numbers.
  int64_t data_[2 * TensorImpl::kMaxDims + 8];
};

}  // namespace sy::generated
