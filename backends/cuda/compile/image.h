#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "backends/cuda/compile/hash.h"

namespace sy::cuda {

// An image that the driver loads: a cubin, a fatbin or PTX. A value; copies
// share the bytes.
struct Image {
  Hash id;  // of the bytes
  std::string_view bytes;
  std::shared_ptr<const void> owner;  // nullptr if they live for ever

  static Image make(std::string text) {
    auto held = std::make_shared<const std::string>(std::move(text));
    return {hash_of(*held), *held, held};
  }
  explicit operator bool() const { return !bytes.empty(); }
};

}  // namespace sy::cuda
