#include <algorithm>
#include <cstring>
#include <optional>

#include "aten/engine/guard.h"
#include "aten/tensor.h"
#include "c10/device/generator.h"
#include "c10/process/error.h"
#include "tools/sy/cases/compare.h"
#include "tools/sy/support/exception_text.h"
#include "tools/sy/trials/forms.h"
#include "tools/sy/trials/trials.h"

namespace sy::tools {

namespace {

using Results = std::vector<HostTensor>;

// How an argument shares memory with what the call writes.
enum class Shared {
  Is,       // it is the tensor that is written
  Alias,    // another tensor of the same elements is written
  Part,     // its first half is written
  Overlap,  // what is written lies over it, an element further
  Grows,    // an empty tensor in front of it is written
};
constexpr Shared kAll[] = {Shared::Is, Shared::Alias, Shared::Part,
                           Shared::Overlap, Shared::Grows};

const char* name_of(Shared s) {
  switch (s) {
    case Shared::Is: return "itself";
    case Shared::Alias: return "an alias of it";
    case Shared::Part: return "a part of it";
    case Shared::Overlap: return "an overlapping view";
    default: return "an empty view of it";
  }
}

Tensor over(const Storage& storage, ScalarType dtype, IntArrayRef sizes,
            int64_t offset) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return Tensor(TensorBase(
      TensorImpl::make(Storage(storage), dtype, Device(kCPU),
                       DispatchKeySet::dense(kCPU), sizes, strides, offset)));
}

// A call of a form with one argument that shares memory with a written one.
class Aliased final : public CallTrials {
 public:
  Aliased(OperatorHandle op, std::shared_ptr<const Calls> calls)
      : CallTrials(op, std::move(calls)) {
    for (const OperatorHandle form : other_forms(op)) {
      if (binds(form)) forms_.push_back(form);
    }
  }

 private:
  // A case that makes no call of a form proves nothing.
  std::string problem(size_t i, CaseResult& result) const override {
    const size_t before = made_;
    std::string why = try_forms(i);
    if (why.empty() && made_ == before) {
      result.skipped = "no form that writes to memory of an argument";
    }
    return why;
  }

  std::string try_forms(size_t i) const {
    if (forms_.empty()) return "";
    Arguments in = arguments(i);
    std::vector<Value> out(op().schema().returns().size());
    manual_seed(5);
    op().call_boxed(in.values.data(), in.values.size(), out.data(), out.size());
    Results expected;
    for (const Value& v : out) {
      if (!v.is_tensor() || !v.to_tensor().defined()) return "";
      expected.push_back(read_tensor(v.to_tensor()));
    }
    for (const OperatorHandle form : forms_) {
      const bool inplace = !form.schema().is_out();
      // Only what fits can be written to.
      if (inplace && !fits(in, form, expected)) continue;
      for (size_t n = 0; n < in.tensors.size(); ++n) {
        for (size_t w = 0; w < expected.size(); ++w) {
          for (const Shared how : kAll) {
            std::string why = inplace ? in_place(form, i, n, how)
                                      : by_out(form, i, n, w, how, expected);
            if (why.empty()) continue;
            return str("{} with {} sharing memory with {} ({}): {}",
                       form.name(), in.tensors[n].name,
                       inplace ? str("self") : str("result {}", w),
                       name_of(how), why);
          }
        }
      }
      if (const std::string why = one_out(form, i, expected); !why.empty()) {
        return str("{} with one tensor for all results: {}", form.name(), why);
      }
    }
    return "";
  }

  // Whether every argument of the form is known from those of the operator.
  bool binds(OperatorHandle form) const {
    const FunctionSchema& base = op().schema();
    for (const Argument& a : form.schema().arguments()) {
      if (a.is_write() && form.schema().is_out()) {
        if (a.type != TypeKind::kTensor) return false;
      } else if (base.argument_index(a.name.view()) < 0) {
        return false;
      }
    }
    return true;
  }

  // The arguments of the form; its results go to `outs`.
  std::vector<Value> bind(OperatorHandle form, const Arguments& in,
                          const std::vector<Tensor>& outs) const {
    std::vector<Value> args;
    size_t written = 0;
    for (const Argument& a : form.schema().arguments()) {
      if (a.is_write() && form.schema().is_out()) {
        if (written == outs.size()) return {};
        args.emplace_back(TensorBase(outs[written++]));
        continue;
      }
      const auto k =
          static_cast<size_t>(op().schema().argument_index(a.name.view()));
      args.push_back(in.values[k]);
    }
    if (written != outs.size()) return {};
    ++made_;
    return args;
  }

  static const TensorBase* self_of(const Arguments& in, OperatorHandle form) {
    for (const Argument& a : form.schema().arguments()) {
      if (!a.is_write()) continue;
      const NamedTensor* const t = in.find(std::string(a.name.view()));
      return t == nullptr ? nullptr : &t->tensor;
    }
    return nullptr;
  }

  static bool fits(const Arguments& in, OperatorHandle form,
                   const Results& expected) {
    const TensorBase* const self = self_of(in, form);
    return self != nullptr && self->defined() && expected.size() == 1 &&
           self->dtype() == expected[0].dtype &&
           self->sizes() == IntArrayRef(expected[0].sizes);
  }

  static std::vector<Tensor> fresh(const Results& expected) {
    std::vector<Tensor> outs;
    for (const HostTensor& e : expected) {
      outs.emplace_back(make_tensor({0}, e.dtype, Device(kCPU)));
    }
    return outs;
  }

  // Moves `t` to a storage with `bytes` more behind the old ones, and changes
  // nothing else that a call sees.
  static void give_room(const TensorBase& t, size_t bytes) {
    const size_t old = t.storage()->nbytes();
    Storage storage = StorageImpl::allocate(old + bytes + 64, Device(kCPU));
    if (old != 0) {
      std::memcpy(storage->data(), t.storage()->data(), old);
    }
    const TensorBase there(
        TensorImpl::make(std::move(storage), t.dtype(), Device(kCPU),
                         DispatchKeySet::dense(kCPU), t.sizes(), t.strides(),
                         t.storage_offset()));
    const bool wrapped = t.impl()->is_wrapped_number();
    t.impl()->shallow_copy_from(*there.impl());
    t.impl()->set_wrapped_number(wrapped);
  }

  // The first place for elements of that size that is not in front of `t`.
  static int64_t begin_of(const TensorBase& t, ScalarType dtype) {
    const auto item = static_cast<int64_t>(element_size(dtype));
    return (t.storage_offset() * static_cast<int64_t>(t.itemsize()) + item -
            1) /
           item;
  }

  // Whether each element has memory of its own, as what is written must have.
  static bool is_writable(const TensorBase& t) {
    return internal_overlap(t) == Overlap::No;
  }

  static size_t bytes_of(const HostTensor& t) {
    return static_cast<size_t>(t.numel()) * element_size(t.dtype);
  }

  // The tensor that is written in place of result `w`; nullopt where that makes
  // no call of its own.
  static std::optional<Tensor> shared_out(const TensorBase& t, Shared how,
                                          const HostTensor& e) {
    switch (how) {
      case Shared::Is:
        if (t.dtype() != e.dtype || !is_writable(t)) return std::nullopt;
        return Tensor(t);
      case Shared::Alias:
        if (t.dtype() != e.dtype || !is_writable(t)) return std::nullopt;
        return Tensor(TensorBase(
            TensorImpl::make(Storage(t.storage()), t.dtype(), Device(kCPU),
                             DispatchKeySet::dense(kCPU), t.sizes(),
                             t.strides(), t.storage_offset())));
      case Shared::Part:
        if (t.dtype() != e.dtype || t.numel() < 2) return std::nullopt;
        give_room(t, t.nbytes());
        return over(t.storage(), e.dtype, {t.numel() / 2},
                    begin_of(t, e.dtype));
      case Shared::Overlap:
        give_room(t, bytes_of(e));
        return over(t.storage(), e.dtype, e.sizes, begin_of(t, e.dtype) + 1);
      default:
        give_room(t, 0);
        return over(t.storage(), e.dtype, {0}, begin_of(t, e.dtype));
    }
  }

  std::string by_out(OperatorHandle form, size_t i, size_t n, size_t w,
                     Shared how, const Results& expected) const {
    const Arguments in = arguments(i);
    const TensorBase& t = in.tensors[n].tensor;
    if (!t.defined()) return "";
    std::vector<Tensor> outs = fresh(expected);
    const auto out = shared_out(t, how, expected[w]);
    if (!out) return "";
    outs[w] = *out;
    // A tensor that fits makes an operator in place, which nobody refuses.
    const bool works = how == Shared::Is && expected.size() == 1 &&
                       t.sizes() == IntArrayRef(expected[w].sizes) &&
                       t.is_non_overlapping_and_dense();
    std::vector<Value> args = bind(form, in, outs);
    if (args.empty()) return "";
    return try_call(form, args, outs, expected, works);
  }

  std::string in_place(OperatorHandle form, size_t i, size_t n,
                       Shared how) const {
    const Arguments in = arguments(i);
    const TensorBase& self = *self_of(in, form);
    const TensorBase& t = in.tensors[n].tensor;
    if (!t.defined() || t.is_same(self)) return "";
    // Both need their values, so they can only lie in one storage.
    if (how != Shared::Overlap || t.dtype() != self.dtype()) return "";
    const Tensor values = Tensor(t).clone();
    if (!is_writable(self) || self.numel() == 0) return "";
    give_room(self, t.nbytes());
    // The other tensor begins at the last element of self.
    int64_t begin = self.storage_offset();
    for (int64_t d = 0; d < self.dim(); ++d) {
      begin += (self.sizes()[d] - 1) * self.strides()[d];
    }
    const Tensor other = over(self.storage(), t.dtype(), t.sizes(), begin);
    Tensor(other).copy_(values);
    t.impl()->shallow_copy_from(*other.impl());
    // They have an element in common now, so the result is another.
    std::vector<Value> apart;
    for (const Value& v : in.values) {
      apart.push_back(v.is_tensor() && v.to_tensor().defined()
                          ? Value(TensorBase(Tensor(v.to_tensor()).clone()))
                          : v);
    }
    std::vector<Value> result(1);
    Results want;
    manual_seed(5);
    try {
      op().call_boxed(apart.data(), apart.size(), result.data(), 1);
      want.push_back(read_tensor(result[0].to_tensor()));
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      return "";
    }
    std::vector<Value> args = bind(form, in, {});
    if (args.empty()) return "";
    return try_call(form, args, {Tensor(self)}, want, false);
  }

  // Several results in one tensor are an error, or in tensors of their own.
  std::string one_out(OperatorHandle form, size_t i,
                      const Results& expected) const {
    if (!form.schema().is_out() || expected.size() < 2) return "";
    const Arguments in = arguments(i);
    const Tensor out(make_tensor({0}, expected[0].dtype, Device(kCPU)));
    std::vector<Value> args =
        bind(form, in, std::vector<Tensor>(expected.size(), out));
    if (args.empty()) return "";
    std::vector<Value> results(form.schema().returns().size());
    try {
      form.call_boxed(args.data(), args.size(), results.data(), results.size());
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      return "";
    }
    return "expected an error, got results";
  }

  // "" if the call gives what is expected or, unless it `works`, fails with an
  // error of its own.
  static std::string try_call(OperatorHandle form, std::vector<Value>& args,
                              const std::vector<Tensor>& outs,
                              const Results& expected, bool works) {
    std::vector<Value> results(form.schema().returns().size());
    manual_seed(5);
    try {
      form.call_boxed(args.data(), args.size(), results.data(), results.size());
    } catch (const InternalError&) {
      return current_exception_text();
    } catch (const Error&) {
      return works ? current_exception_text() : "";
    }
    for (size_t w = 0; w < outs.size(); ++w) {
      const double t = tolerance_of(expected[w].dtype);
      const std::string why =
          compare_tensor(read_tensor(outs[w]), expected[w], {t, t});
      if (!why.empty()) return str("result {}: {}", w, why);
    }
    return "";
  }

  // Strides differ, and with them the order of sums.
  static double tolerance_of(ScalarType t) {
    switch (t) {
      case kDouble: return 1e-9;
      case kFloat: return 1e-4;
      case kHalf: return 1e-2;
      case kBFloat16: return 5e-2;
      default: return 0;
    }
  }

  std::vector<OperatorHandle> forms_;
  mutable size_t made_ = 0;  // calls of forms; each binds its arguments
};

}  // namespace

std::unique_ptr<Trials> aliased_trials(OperatorHandle op,
                                       std::shared_ptr<const Calls> calls) {
  return std::make_unique<Aliased>(op, std::move(calls));
}

}  // namespace sy::tools
