#include "aten/engine/apart.h"

#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "c10/dispatch/dispatcher.h"

namespace sy::generated {

namespace {

void check_pair(const OperatorEntry& op, const TensorBase& a,
                const TensorBase& b) {
  if (!a.defined() || !b.defined() || !a.is_alias_of(b)) return;
  const Sharing s = sharing(a, b);
  // Empty results of one storage grow over each other.
  const bool apart = s == Sharing::TooHard ||
                     (s == Sharing::None && a.numel() != 0) ||
                     (s == Sharing::None && b.numel() != 0);
  const std::string_view name = op.name();
  SY_CHECK(apart, Value,
           "[{}] out: expected results with memory of their own, got two that "
           "share it",
           name.substr(name.find("::") + 2));
}

}  // namespace

Tensor copy_apart(const Tensor& t) {
  int64_t strides[TensorImpl::kMaxDims];
  dense_strides_like(t, MemoryFormat::Preserve, strides);
  Tensor r(make_tensor_strided(t.sizes(),
                               {strides, static_cast<size_t>(t.dim())},
                               t.dtype(), t.device()));
  copy_tensor(r, t);
  r.impl()->set_wrapped_number(t.impl()->is_wrapped_number());
  return r;
}

void check_outs_apart(const OperatorEntry& op,
                      std::initializer_list<const TensorBase*> outs) {
  for (const TensorBase* const* a = outs.begin(); a != outs.end(); ++a) {
    for (const TensorBase* const* b = outs.begin(); b != a; ++b) {
      check_pair(op, **a, **b);
    }
  }
}

void check_outs_apart(const OperatorEntry& op, TensorList outs) {
  for (size_t i = 0; i < outs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) check_pair(op, outs[i], outs[j]);
  }
}

}  // namespace sy::generated
