#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/pjrt/plugin.h"
#include "c10/tensor/array_ref.h"
#include "c10/tensor/scalar_type.h"
#include "c10/tensor/storage.h"

// Compiles programs in StableHLO text with a PJRT plugin, and runs them on
// memory of the CPU.

namespace sy::pjrt {

// The shape of a dense, row-major array.
struct Shape {
  ScalarType dtype = ScalarType::Undefined;
  std::vector<int64_t> sizes;

  size_t nbytes() const;
  friend bool operator==(const Shape&, const Shape&) = default;
};

// `float32[2, 3]`
std::string to_string(const Shape& shape);

// Memory that is aligned to this is used as it is; other inputs are copied.
inline constexpr size_t kAlignment = 64;

// An output that is computed into the memory of an input, which it replaces.
// The argument of the program says so too: `%a: tensor<4xf32>
// {tf.aliasing_output = 0 : i32}`. Both have one shape. An argument that the
// program does not read is just the memory for an output: large outputs are
// computed up to 8 times faster into memory of StorageImpl::allocate() than
// into the plugin's.
struct Donation {
  size_t input;
  size_t output;
};

// A compiled program. Threads may run it at the same time.
class Executable {
 public:
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  ArrayRef<Shape> inputs() const { return inputs_; }
  ArrayRef<Shape> outputs() const { return outputs_; }

  // Runs the program and waits for it. `inputs[i]` is the memory of input i,
  // which nobody writes until run() returns; it may be nullptr if the input has
  // no elements. `outputs[k]` becomes fresh memory on the CPU, not resizable,
  // but stays as it is if an input is donated to it: that memory, which must be
  // no other input's, then has the elements. Throws what a kernel of the
  // program threw, or Error with what the plugin says; donated memory has any
  // elements then.
  void run(ArrayRef<const void*> inputs, Storage* outputs);

 private:
  friend class Client;
  class Buffers;
  Executable(const Plugin& plugin, abi::Client* client, abi::Device* device,
             abi::Loaded* loaded, std::vector<Shape> inputs,
             std::vector<Shape> outputs, ArrayRef<Donation> donations);
  void check_outputs() const;
  void check_outputs(abi::Executable* executable) const;
  abi::Buffer* new_input(size_t i, const void* data) const;
  void execute(const Buffers& inputs, Buffers& outputs) const;
  void* pointer(abi::Buffer* output) const;
  Storage adopted(size_t k, Buffers& outputs) const;
  [[noreturn]] void raise(abi::Error* error) const;

  const Plugin& plugin_;
  abi::Client* const client_;
  abi::Device* const device_;
  abi::Loaded* const loaded_;
  const std::vector<Shape> inputs_;
  const std::vector<Shape> outputs_;
  std::vector<int> donated_to_;  // for each input: the output, or -1
  std::vector<int> donor_of_;    // for each output: the input, or -1
};

// A plugin's client of the CPU. All functions may be called from any thread.
// Programs run on a pool of threads, one for each core; PJRT_NPROC in the
// environment, when the client is opened, is another number of them. Plugins
// write notes to stderr; TF_CPP_MIN_LOG_LEVEL=1 in the environment leaves only
// errors.
class Client {
 public:
  // One for each file, until the process ends. Throws what Plugin::open throws,
  // and Error if the plugin makes no client, or one of another platform.
  static Client& open(const std::string& path);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // "cpu, PJRT 0.81, StableHLO 1.13.3, PATH"
  std::string describe() const;
  // The text has a function `main` of these inputs and outputs. It may call
  // kernels (backends/pjrt/ffi.h). Throws Error with what the plugin says, and
  // ValueError if the program has other outputs.
  std::unique_ptr<Executable> compile(const std::string& stablehlo,
                                      std::vector<Shape> inputs,
                                      std::vector<Shape> outputs,
                                      ArrayRef<Donation> donations = {}) const;

 private:
  explicit Client(const Plugin& plugin);

  const Plugin& plugin_;
  abi::Client* const client_;
  abi::Device* device_ = nullptr;
};

}  // namespace sy::pjrt
