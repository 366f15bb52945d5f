#include "aten/backend/pending.h"

#include <utility>

#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/library.h"
#include "c10/tensor/tensor_impl.h"
#include "c10/tensor/value.h"

namespace sy {

namespace {

// The kernel of Pending.
void wait_and_call(const Kernel&, const OperatorEntry& op, DispatchKeySet keys,
                   Value* args, size_t num_args, Value* results,
                   size_t num_results) {
  const std::string name(op.name());
  for (size_t i = 0; i < num_args; ++i) {
    for_each_tensor(args[i], [&](const TensorBase& t) {
      if (is_pending(t)) wait_pending(t, name.c_str());
    });
  }
  OperatorHandle(&op).redispatch_boxed(
      keys & DispatchKeySet::below(DispatchKey::Pending), args, num_args,
      results, num_results);
}

SY_LIBRARY_IMPL(_, Pending, m) {
  m.fallback(Kernel::from_boxed(&wait_and_call));
}

}  // namespace

Tensor pending_tensor(IntArrayRef sizes, ScalarType dtype, Device device,
                      intrusive_ptr<StoragePayload> maker) {
  const auto bytes = static_cast<size_t>(
      checked_numel("pending_tensor", sizes, element_size(dtype)) *
      static_cast<int64_t>(element_size(dtype)));
  Storage storage = StorageImpl::without_data(bytes, device);
  storage->set_payload(std::move(maker));
  return Tensor(TensorImpl::make(std::move(storage), dtype, device,
                                 DispatchKeySet::dense(device.type()) |
                                     DispatchKeySet(DispatchKey::Pending),
                                 sizes));
}

bool is_pending(const TensorBase& t) noexcept {
  return t.defined() && t.key_set().has(DispatchKey::Pending);
}

void wait_pending(const TensorBase& t, const char* asked) {
  if (!is_pending(t)) return;
  StorageImpl& storage = *t.storage();
  if (storage.nbytes() != 0) {
    materialize(storage, asked);
  } else if (StoragePayload* const maker = storage.payload()) {
    maker->materialize(storage);
  }
  t.impl()->end_pending();
}

}  // namespace sy
