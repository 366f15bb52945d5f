#include "autograd/packed.h"

#include "autograd/thread.h"
#include "autograd/user_error.h"
#include "c10/dispatch/capture.h"
#include "c10/dispatch/thread_state.h"

namespace sy::autograd {

SavedTensorHooks::SavedTensorHooks(Pack pack, Unpack unpack, const char* file,
                                   int line, const void* dso)
    : hooks_(make_intrusive<SavedHooks>(dso)),
      before_(detail::thread.saved_hooks) {
  SY_CHECK(pack && unpack, Value,
           "[SavedTensorHooks] expected two functions, got an empty one");
  hooks_->pack = std::move(pack);
  hooks_->unpack = std::move(unpack);
  hooks_->place = str("registered at {}:{}", file, line);
  detail::thread.saved_hooks = hooks_.get();
}

SavedTensorHooks::~SavedTensorHooks() { detail::thread.saved_hooks = before_; }

namespace {

// Operators that the hooks call save their tensors as they are.
class WithoutHooks {
 public:
  WithoutHooks() : before_(detail::thread.saved_hooks) {
    detail::thread.saved_hooks = nullptr;
  }
  ~WithoutHooks() { detail::thread.saved_hooks = before_; }
  WithoutHooks(const WithoutHooks&) = delete;
  WithoutHooks& operator=(const WithoutHooks&) = delete;

 private:
  SavedHooks* before_;
};

}  // namespace

intrusive_ptr<Packed> run_pack_hook(const Tensor& t,
                                    const std::string& prefix) {
  tell_capture_acts("a hook of saved tensors runs");
  auto packed = make_intrusive<Packed>();
  packed->hooks = intrusive_ptr<SavedHooks>::retain(detail::thread.saved_hooks);
  const SavedHooks& hooks = *packed->hooks;
  const WithoutHooks plain;
  const NoGradGuard no_grad;
  const uint32_t version = t.impl()->version();
  call_user([&] { packed->value = hooks.pack(Tensor(t.impl()->alias())); },
            [&] { return str("{}in the pack hook {}", prefix, hooks.place); });
  SY_CHECK(t.impl()->version() == version, Value,
           "{}the pack hook {} wrote to its argument, {}", prefix, hooks.place,
           describe(t));
  return packed;
}

Tensor run_unpack_hook(const Packed& packed, const TensorImpl& stand_in,
                       const std::string& prefix) {
  tell_capture_acts("a hook of saved tensors runs");
  const SavedHooks& hooks = *packed.hooks;
  const WithoutHooks plain;
  Tensor t;
  call_user(
      [&] { t = hooks.unpack(packed.value); },
      [&] { return str("{}in the unpack hook {}", prefix, hooks.place); });
  const TensorImpl* got = t.impl();
  SY_CHECK(got != nullptr && got->sizes() == stand_in.sizes() &&
               got->dtype() == stand_in.dtype() &&
               got->device() == stand_in.device(),
           Value, "{}the unpack hook {} should give {}{} on {}, gave {}",
           prefix, hooks.place, dtype_name(stand_in.dtype()), stand_in.sizes(),
           stand_in.device(), describe(t));
  return t;
}

}  // namespace sy::autograd
