#pragma once

#include <any>
#include <string>

#include "autograd/saved_tensor_hooks.h"
#include "c10/plugin/library_token.h"
#include "c10/tensor/tensor_impl.h"

// How SavedTensor works within SavedTensorHooks.

namespace sy::autograd {

// While it lives, the library at `dso` is not unloaded.
class LibraryHold {
 public:
  explicit LibraryHold(const void* dso) : token_(plugin_of(dso)) {
    if (token_ != nullptr) token_->hold(LibraryToken::kHook);
  }
  ~LibraryHold() {
    if (token_ != nullptr) token_->drop(LibraryToken::kHook);
  }
  LibraryHold(const LibraryHold&) = delete;
  LibraryHold& operator=(const LibraryHold&) = delete;

 private:
  LibraryToken* token_;
};

// The functions of one guard. They outlive it while anything is packed.
struct SavedHooks : RefCounted {
  explicit SavedHooks(const void* dso) : library(dso) {}

  const LibraryHold library;  // destroyed last
  SavedTensorHooks::Pack pack;
  SavedTensorHooks::Unpack unpack;
  std::string place;  // "registered at f.cpp:12"
};

// Data of the tensor that stands in for a saved tensor.
struct Packed final : BackendMeta {
  intrusive_ptr<SavedHooks> hooks;  // destroyed last
  std::any value;
  bool is_output = false;
};

inline bool is_packed_output(const TensorImpl& stand_in) {
  return static_cast<const Packed&>(*stand_in.backend_meta()).is_output;
}

// `prefix` begins messages. Throws what the hook throws, with the hook's place.
intrusive_ptr<Packed> run_pack_hook(const Tensor& t, const std::string& prefix);
// Throws ValueError unless the result has the sizes, dtype and device of
// `stand_in`.
Tensor run_unpack_hook(const Packed& packed, const TensorImpl& stand_in,
                       const std::string& prefix);

}  // namespace sy::autograd
