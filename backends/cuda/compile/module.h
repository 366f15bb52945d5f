#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "backends/cuda/driver/api.h"
#include "c10/tensor/array_ref.h"

// Kernels by name. Sources are text that the library carries (*.cu and *.cuh of
// backends/cuda) or prints (print/). They are compiled by NVRTC, or beforehand
// (packs, and what the library holds); the images of NVRTC are kept on disk.
//
//   SWITCHYARD_NVRTC        the file of NVRTC
//   SWITCHYARD_CUDA_JIT     background, wait or off: see program()
//   SWITCHYARD_CUDA_CACHE   the folder of compiled kernels; "" for none
//   SWITCHYARD_CUDA_PACK    packs, separated by ':' (bake/README.md)
//   SWITCHYARD_CUDA_RECORD  a folder where a run writes what it asks for

namespace sy::cuda {

// A kernel in the context of one device. Lives until the process ends.
struct Function {
  driver::Function handle = nullptr;
  const char* name = "";      // of the kernel, for messages
  unsigned shared_limit = 0;  // dynamic shared memory allowed so far
};

// One definition with which a source is compiled: {"T", "float"}.
struct Define {
  std::string_view name, value;
};

// The kernel of a source that the library carries: "indexing.cu" compiled with
// the definitions. Compiles and loads on the first call, and then waits;
// looking up again takes a hash of the arguments and no lock. `device` is an
// index. Throws Error with the compiler's log, or what is missing (neither
// NVRTC nor a pack).
const Function& kernel(int device, std::string_view source,
                       std::string_view name, ArrayRef<Define> defines = {});

// Kernels of programs. The caller has the key at hand (a hash of steps, dtypes,
// shell and index class) and makes the source only if nobody knows the key.
struct ProgramKey {
  uint64_t hash[2] = {};
  friend bool operator==(const ProgramKey&, const ProgramKey&) = default;
};

class ProgramSource {
 public:
  virtual ~ProgramSource() = default;
  // Appends the kernel, whose name is `name`, to a unit that begins with
  // #include "kernel.cuh". Several kernels are compiled in one unit: everything
  // else that it defines is inside a namespace of its name.
  virtual std::string text(const std::string& name) const = 0;
  // Its name in messages: "add of float32". "" if nobody can tell.
  virtual std::string label() const { return {}; }
};

// The compiled kernel for the device, or nullptr: then it has been queued, and
// the caller runs the interpreter (engine/interpret.h). By SWITCHYARD_CUDA_JIT:
// `background` (the default), `wait` (compiles it now), `off` (always
// nullptr, but for packs and the kernels in the library). A key whose
// compilation failed gives nullptr for ever, with one warning. `source` is
// borrowed for the call.
const Function* program(int device, const ProgramKey& key,
                        const ProgramSource& source);

// Waits until what is queued is compiled.
void finish_compiling();

}  // namespace sy::cuda
