#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "backends/pjrt/plugin.h"
#include "c10/tensor/array_ref.h"

// C++ functions that compiled programs call. The text of a call is
//
//   %r = stablehlo.custom_call @switchyard.call(%a, %b) {
//     api_version = 4 : i32, backend_config = {id = 7 : i64}
//   } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//
// with the number of a KernelId, and a list of types for several results.

namespace sy::pjrt {

// Reads the inputs and writes all of the outputs, which are row-major memory;
// without elements, any pointer. It is called on the thread that runs the
// program or on one of the plugin's, for several runs at a time, and perhaps
// together with other kernels of the program. It must not run programs itself:
// it may hold the plugin's last thread. An exception of it ends the run and
// comes out of Executable::run().
using Kernel =
    std::function<void(ArrayRef<const void*> inputs, ArrayRef<void*> outputs)>;

// A kernel with a number that no other kernel of the process ever has. Programs
// may call it until it is destroyed. Any thread may do all of this.
class KernelId {
 public:
  explicit KernelId(Kernel kernel);
  ~KernelId();
  KernelId(KernelId&& other) noexcept : number_(other.number_) {
    other.number_ = 0;
  }
  KernelId& operator=(KernelId&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  int64_t number() const { return number_; }

 private:
  int64_t number_;  // 0 for none
};

// ---- for the client

// Lets programs of the plugin call kernels.
void register_kernels(const Plugin& plugin);
// Throws what a kernel threw if `text`, an error of a plugin, tells of that.
void rethrow_from_kernel(const std::string& text);

}  // namespace sy::pjrt
