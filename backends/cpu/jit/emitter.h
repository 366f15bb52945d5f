#pragma once

#include <memory>
#include <string>

#include "backends/cpu/jit/request.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace sy::cpu::jit {

// The kernel of a request before it is optimised: a module with the function
// "kernel" (KernelFn) that calls what it needs of prims.cpp. nullptr, and why,
// if it needs what is not there.
struct Emitted {
  std::unique_ptr<llvm::Module> module;
  int unit = 0;        // elements of an iteration
  bool stops = false;  // at one that has an element for slow code
};
Emitted emit(const Request& request, llvm::LLVMContext& context,
             std::string* why);

}  // namespace sy::cpu::jit
