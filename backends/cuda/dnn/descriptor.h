#pragma once

#include <string>
#include <utility>

#include "backends/cuda/dnn/library.h"

namespace sy::cuda::dnn {

// Thrown where the library refuses. Caught where a plan is made.
struct Refusal {
  std::string why;
};

// A descriptor of the library, which is destroyed with it. Its functions throw
// Refusal, which names the step. Under the session's mutex.
class Object {
 public:
  Object(const Api& api, Kind kind);
  Object(Object&& other) noexcept
      : api_(other.api_),
        kind_(other.kind_),
        descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  Object& operator=(Object&&) = delete;
  ~Object() {
    if (descriptor_ != nullptr) api_->destroy_descriptor(descriptor_);
  }

  Descriptor get() const { return descriptor_; }

  void set(Attribute what, Type type, int64_t count, const void* values) {
    check(api_->set(descriptor_, what, type, count, values), "set", what);
  }
  void set_int(Attribute what, int64_t value) {
    set(what, kTypeInt64, 1, &value);
  }
  void set_object(Attribute what, const Object& value) {
    set(what, kTypeDescriptor, 1, &value.descriptor_);
  }
  void finalize() { check(api_->finalize(descriptor_), "finalize", 0); }
  // How many there are, of which `most` at the most are written.
  int64_t read(Attribute what, Type type, int64_t most, void* values) const;

 private:
  void check(Result r, const char* step, int attribute) const;

  const Api* api_;
  Kind kind_;
  Descriptor descriptor_ = nullptr;
};

}  // namespace sy::cuda::dnn
