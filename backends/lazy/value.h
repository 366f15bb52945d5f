#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "aten/program/op_desc.h"
#include "aten/tensor.h"
#include "c10/dispatcher.h"
#include "c10/storage_payload.h"
#include "c10/value.h"

// What a recorded call is, and how tensors of the lazy device know theirs.
//
// Note [Values and storages]
// A value is all elements of a dense block of memory, computed or not; it never
// changes. The storage of a lazy tensor has no memory but a payload that names
// its value now. A write gives the storage another value. So a base and its
// views agree, and recorded calls keep reading what they were given. Only code
// that asks for a pointer gives a storage memory: a copy of its value. If that
// code may write, the memory is what counts from then on.

namespace sy::lazy {

// The dtype, sizes and strides of a value or of a part of one. A value is dense
// from its first element on; `offset` is 0 there.
struct Layout {
  Layout(ScalarType dtype, IntArrayRef sizes, IntArrayRef strides,
         int64_t offset = 0);

  IntArrayRef sizes() const { return {dims_.data(), dims_.size() / 2}; }
  IntArrayRef strides() const {
    return {dims_.data() + dims_.size() / 2, dims_.size() / 2};
  }
  int64_t dim() const { return static_cast<int64_t>(dims_.size() / 2); }
  size_t bytes() const {
    return static_cast<size_t>(numel) * element_size(dtype);
  }
  bool is_of(const TensorImpl& t) const;
  friend bool operator==(const Layout&, const Layout&) = default;

  ScalarType dtype;
  int64_t offset;
  int64_t numel = 1;

 private:
  std::vector<int64_t> dims_;  // sizes, then strides
};

struct Node;

// What a recorded call reads: a value, as a whole or a part of it.
struct Operand {
  intrusive_ptr<Node> node;
  uint16_t result = 0;
  bool wrapped_number = false;
  // nullptr: the whole value, as it lies.
  std::unique_ptr<Layout> part;

  const Layout& layout() const;
  // As a tensor of the inner device. The value must be computed.
  Tensor tensor() const;
};

// A value that a node makes.
struct Made {
  Layout layout;
  Storage memory;        // of the inner device, once it is computed
  uint32_t holders = 0;  // storages of lazy tensors
  uint32_t uses = 0;     // operands
};

// A recorded call, or data. graph_mutex() guards its changes.
struct Node final : RefCounted {
  enum Kind : uint8_t {
    kData,       // elements from outside
    kEmpty,      // memory that nobody has set
    kPointwise,  // `program`
    kReduce,     // `reduce`
    kCall,       // the operator's kernel
    kWrite,      // operand 0 with operand 1 in place of the part `window`
  };
  enum State : uint8_t { kRecorded, kRunning, kDone };
  // How operands take the place of tensors in the arguments of a kCall.
  struct Place {
    uint16_t argument;
    int16_t count;  // -1: one tensor; else a list with so many
    bool optional_list = false;
    std::vector<bool> present;  // of a list
  };

  Node(Kind k, const OperatorEntry* o) : kind(k), op(o) {}
  ~Node();
  const char* name() const;
  void drop_operands() noexcept;
  void add_operand(Operand o);

  Kind kind;
  State state = kRecorded;
  const OperatorEntry* op;  // nullptr for kData, kEmpty and kWrite
  uint64_t sequence = 0;    // grows with each recorded node
  std::vector<Operand> operands;
  std::vector<Made> made;

  // Of kPointwise and kReduce.
  const program::Program* program = nullptr;
  ScalarType compute = ScalarType::Undefined;
  const ReduceOp* reduce = nullptr;
  uint64_t reduced = 0;
  bool keepdim = false;
  std::vector<program::Uniform> uniforms;

  // The call, with operands in the places of tensors. Results that are None are
  // not among `made`.
  std::vector<Value> args;
  std::vector<Place> places;
  std::vector<int8_t> result_of;  // of made[i], among the call's results
  int num_results = 1;

  std::unique_ptr<Layout> window;  // of kWrite

  int index = -1;  // for the code that walks graphs
  uint64_t mark = 0;
};

std::recursive_mutex& graph_mutex();

// The device that lazy tensors are computed on: SWITCHYARD_LAZY_DEVICE, else
// the CPU.
Device inner_device();
Device lazy_device();

// The payload of a lazy storage.
class LazyValue final : public StoragePayload {
 public:
  LazyValue(intrusive_ptr<Node> node, uint16_t result);
  ~LazyValue();
  static LazyValue* of(const StorageImpl& s) noexcept;
  void materialize(StorageImpl& storage) override;
  const char* describe() const noexcept override;

  const intrusive_ptr<Node> node;
  const uint16_t result;
};

// nullptr if memory of its own is what counts.
LazyValue* value_of(const StorageImpl& s) noexcept;

bool is_lazy(const TensorBase& t);
// The caller holds graph_mutex() for the following.
Operand operand_of(const TensorBase& t);
// A tensor without memory whose storage has this value.
Tensor tensor_of(const intrusive_ptr<Node>& node, uint16_t result);
// A value with the elements of a tensor of the inner device, which nobody
// writes from now on.
intrusive_ptr<Node> data_of(const Tensor& inner);
// A value with the memory that the storage of a lazy tensor has of its own.
intrusive_ptr<Node> value_of_memory(const TensorBase& t);
// A copy of any tensor's elements on the inner device; dense.
Tensor copied_to_inner(const TensorBase& t);
// The storage of `t` has this value from now on, which covers it. Nobody may
// have a pointer to write to it.
void give_value(const TensorBase& t, const intrusive_ptr<Node>& node,
                uint16_t result);

// Memory of the inner device as a tensor.
Tensor tensor_in(const Storage& memory, const Layout& layout);

}  // namespace sy::lazy
