#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "aten/tensor.h"

// For out= arguments that share memory with an input. A kernel must not read
// what it has written, nor what a resized out= has moved: it gets copies of
// such inputs. For the sources that sygen writes.

namespace sy {

class OperatorEntry;

namespace generated {

SY_ALWAYS_INLINE bool shares_storage(const TensorBase& a, const TensorBase& b) {
  return a.defined() && b.defined() && a.is_alias_of(b);
}
// The output is a list.
inline bool shares_storage(const TensorBase& a, TensorList list) {
  for (const Tensor& t : list) {
    if (shares_storage(a, t)) return true;
  }
  return false;
}
template <class A, class B>
bool shares_storage(const std::optional<A>& a, const B& b) {
  return a.has_value() && shares_storage(*a, b);
}
template <class A, class B>
bool shares_storage(const ArrayRef<A>& list, const B& b) {
  for (const A& a : list) {
    if (shares_storage(a, b)) return true;
  }
  return false;
}
// Whether a tensor of `in` has the storage of one of `outs`. Each is a tensor,
// an optional one or a list.
template <class In, class... Outs>
SY_ALWAYS_INLINE bool shares(const In& in, const Outs&... outs) {
  return (shares_storage(in, outs) || ...);
}

// A dense copy with the strides of `t` if these are dense.
SY_API SY_COLD Tensor copy_apart(const Tensor& t);

// `in`, where a copy replaces each tensor that has the storage of one of
// `outs`.
template <class... Outs>
Tensor apart(const Tensor& in, const Outs&... outs) {
  return shares(in, outs...) ? copy_apart(in) : in;
}
template <class... Outs>
std::optional<Tensor> apart(const std::optional<Tensor>& in,
                            const Outs&... outs) {
  if (!in) return in;
  return apart(*in, outs...);
}
template <class T, class... Outs>
std::vector<T> apart(ArrayRef<T> in, const Outs&... outs) {
  std::vector<T> r;
  r.reserve(in.size());
  for (const T& t : in) r.push_back(apart(t, outs...));
  return r;
}

// Whether another tensor than `out` has its storage. For pointwise operators,
// which may write to an input itself.
SY_ALWAYS_INLINE bool shares_another(const TensorBase& out,
                                     const TensorBase* const* inputs, int n) {
  bool found = false;
  for (int i = 0; i < n && out.defined(); ++i) {
    found |= !inputs[i]->is_same(out) && shares_storage(*inputs[i], out);
  }
  return found;
}
inline Tensor another_apart(const Tensor& in, const Tensor& out) {
  return in.is_same(out) ? in : apart(in, out);
}

// Throws ValueError if two of `outs` share memory or would share it once they
// are resized.
SY_API void check_outs_apart(const OperatorEntry& op,
                             std::initializer_list<const TensorBase*> outs);
SY_API void check_outs_apart(const OperatorEntry& op, TensorList outs);

}  // namespace generated
}  // namespace sy
