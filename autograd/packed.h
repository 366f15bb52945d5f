#pragma once

#include <any>
#include <string>

#include "autograd/saved_tensor_hooks.h"
#include "c10/plugin/library_token.h"
#include "c10/tensor_impl.h"

// What SavedTensor does within SavedTensorHooks.

namespace sy::autograd {

// Keeps the library at `dso` from being unloaded.
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

// The functions of one guard; outlives it while anything is packed.
struct SavedHooks : RefCounted {
  explicit SavedHooks(const void* dso) : library(dso) {}

  const LibraryHold library;  // goes last
  SavedTensorHooks::Pack pack;
  SavedTensorHooks::Unpack unpack;
  std::string place;  // "registered at f.cpp:12"
};

// Kept with the stand-in of a saved tensor.
struct Packed final : BackendMeta {
  intrusive_ptr<SavedHooks> hooks;  // goes last
  std::any value;
  bool is_output = false;
};

inline bool is_packed_output(const TensorImpl& stand_in) {
  return static_cast<const Packed&>(*stand_in.backend_meta()).is_output;
}

// `prefix`: of messages. Throw what the hooks throw, with their place.
intrusive_ptr<Packed> run_pack_hook(const Tensor& t, const std::string& prefix);
// Throws ValueError unless the result is as `stand_in` says.
Tensor run_unpack_hook(const Packed& packed, const TensorImpl& stand_in,
                       const std::string& prefix);

}  // namespace sy::autograd
