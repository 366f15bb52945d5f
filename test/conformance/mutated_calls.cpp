#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "aten/backend/cpu_fallback.h"
#include "c10/plugin/library.h"
#include "c10/tensor/scalar.h"
#include "c10/tensor/tensor_base.h"

// Mutants of operators whose kernels would be long: the CPU computes the
// result, and SWITCHYARD_MUTANT names what is done wrong before or after. The
// device is that of mutants.cpp, so its memory can be read here.

namespace sy {
namespace {

using Values = Value*;

struct MutatedCall {
  const char* op;
  const char* mutant;
  void (*before)(Values arguments);
  void (*after)(Values arguments, Values results);
};

bool is_chosen(const char* mutant) {
  const char* const chosen = std::getenv("SWITCHYARD_MUTANT");
  return chosen != nullptr && std::string_view(chosen) == mutant;
}

void call(const Kernel& kernel, const OperatorEntry& op, DispatchKeySet keys,
          Value* args, size_t num_args, Value* results, size_t num_results) {
  const auto& m = *static_cast<const MutatedCall*>(kernel.context);
  const bool wrong = is_chosen(m.mutant);
  if (wrong && m.before != nullptr) m.before(args);
  cpu_fallback(kernel, op, keys, args, num_args, results, num_results);
  reset_fallback_counts();  // the kernel's own affair
  if (wrong && m.after != nullptr) m.after(args, results);
}

// The last element is what memory had, as after a loop that ends too early.
void lose_last(const Value& v) {
  const TensorBase& t = v.to_tensor();
  if (t.numel() < 2) return;
  int64_t last = t.storage_offset();
  for (int64_t d = 0; d < t.dim(); ++d) {
    last += (t.sizes()[d] - 1) * t.strides()[d];
  }
  const size_t item = t.itemsize();
  std::memset(static_cast<char*>(t.storage()->data()) +
                  static_cast<size_t>(last) * item,
              0x11, item);
}

void lose_last_result(Values, Values results) { lose_last(results[0]); }

void copy_result(Values, Values results) {
  const TensorBase& t = results[0].to_tensor();
  const Storage storage =
      StorageImpl::allocate(t.storage()->nbytes(), t.device());
  if (storage->nbytes() != 0) {
    std::memcpy(storage->data(), t.storage()->data(), storage->nbytes());
  }
  results[0] = Value(
      TensorBase(TensorImpl::make(Storage(storage), t.dtype(), t.device(),
                                  DispatchKeySet::dense(t.device().type()),
                                  t.sizes(), t.strides(), t.storage_offset())));
}

// An index beyond the end is the last one.
void clamp_indices(Values arguments) {
  const TensorBase& self = arguments[0].to_tensor();
  const TensorBase& index = arguments[2].to_tensor();
  if (self.dim() == 0 || index.dtype() != kLong || !index.is_contiguous()) {
    return;
  }
  const int64_t dim = arguments[1].to_int();
  const int64_t d = dim < 0 ? dim + self.dim() : dim;
  if (d < 0 || d >= self.dim()) return;
  TensorBase clamped(make_tensor(index.sizes(), kLong, index.device()));
  for (int64_t i = 0; i < index.numel(); ++i) {
    clamped.data_ptr<int64_t>()[i] =
        std::min(index.data_ptr<int64_t>()[i], self.sizes()[d] - 1);
  }
  arguments[2] = Value(clamped);
}

const MutatedCall kCalls[] = {
    {"cumsum", "stops a scan too early", nullptr, &lose_last_result},
    {"_foreach_add.Scalar", "leaves the last of a list", nullptr,
     [](Values, Values results) {
       const auto list = results[0].to_tensor_list();
       if (!list.empty()) lose_last(Value(list[list.size() - 1]));
     }},
    {"transpose.int", "copies what it should view", nullptr, &copy_result},
    {"outer", "takes the arguments of a composite in reverse",
     [](Values arguments) { std::swap(arguments[0], arguments[1]); }, nullptr},
    {"convolution", "ignores dilation",
     [](Values arguments) {
       std::vector<int64_t> ones(arguments[5].to_int_list().size(), 1);
       arguments[5] = Value(IntArrayRef(ones));
     },
     nullptr},
    {"max_pool2d_with_indices", "loses the last index", nullptr,
     [](Values, Values results) { lose_last(results[1]); }},
    {"sort.stable", "ignores descending",
     [](Values arguments) { arguments[3] = Value(false); }, nullptr},
    {"index_select", "clamps an index", &clamp_indices, nullptr},
    {"bernoulli_.float", "ignores the probability",
     [](Values arguments) { arguments[1] = Value(0.5); }, nullptr},
    {"linspace.out", "leaves the end of a range", nullptr, &lose_last_result},
    {"linalg_cholesky_ex", "ignores upper",
     [](Values arguments) { arguments[1] = Value(false); }, nullptr},
};

SY_LIBRARY_IMPL(aten, Mutant, m) {
  for (const MutatedCall& c : kCalls) {
    m.impl(c.op, Kernel::from_boxed(&call, const_cast<MutatedCall*>(&c)));
  }
}

}  // namespace
}  // namespace sy
