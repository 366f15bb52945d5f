#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "aten/backend/graph.h"
#include "aten/program/op_desc.h"
#include "aten/tensor.h"
#include "backends/lazy/few.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/memory/pool.h"
#include "c10/process/fork.h"
#include "c10/tensor/storage_payload.h"
#include "c10/tensor/value.h"

// Recorded calls, and how tensors of the lazy device know theirs.
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
class ValueLayout {
 public:
  ValueLayout(ScalarType dtype, IntArrayRef sizes, IntArrayRef strides,
              int64_t offset = 0);
  ValueLayout(const ValueLayout& o)
      : ValueLayout(o.dtype, o.sizes(), o.strides(), o.offset) {}
  ValueLayout(ValueLayout&&) noexcept = default;

  IntArrayRef sizes() const { return {dims(), dim_}; }
  IntArrayRef strides() const { return {dims() + dim_, dim_}; }
  int64_t dim() const { return dim_; }
  size_t bytes() const {
    return static_cast<size_t>(numel) * element_size(dtype);
  }
  bool is_of(const TensorImpl& t) const { return is_of(t, t.storage_offset()); }
  // The same, with the tensor's first element counted from elsewhere.
  bool is_of(const TensorImpl& t, int64_t first) const;
  friend bool operator==(const ValueLayout& a, const ValueLayout& b) {
    return a.dtype == b.dtype && a.offset == b.offset &&
           a.sizes() == b.sizes() && a.strides() == b.strides();
  }

  ScalarType dtype;

 private:
  static constexpr int kInline = 4;
  const int64_t* dims() const { return more_ ? more_.get() : inline_; }
  uint8_t dim_ = 0;
  int64_t inline_[2 * kInline];  // sizes, then strides
  std::unique_ptr<int64_t[]> more_;

 public:
  int64_t offset;
  int64_t numel = 1;
};

struct LazyNode;

// An operand of a recorded call: a value, as a whole or a part of it.
struct Operand {
  intrusive_ptr<LazyNode> node;
  uint16_t result = 0;
  bool wrapped_number = false;
  // nullptr: the whole value, as it lies.
  std::unique_ptr<ValueLayout> part;

  const ValueLayout& layout() const;
  // The operand as a tensor of the inner device. The value must be computed.
  Tensor tensor() const;
};

// How many there are of something. They are made under graph_mutex(), and may
// go at any time.
class Count {
 public:
  Count() = default;
  Count(Count&& o) noexcept : n_(o) {}
  operator uint32_t() const { return n_.load(std::memory_order_relaxed); }
  void operator++() { n_.fetch_add(1, std::memory_order_relaxed); }
  void operator--() { n_.fetch_sub(1, std::memory_order_release); }

 private:
  std::atomic<uint32_t> n_{0};
};

// A value that a node makes.
struct Made {
  explicit Made(ValueLayout l) : layout(std::move(l)) {}
  Made(Made&&) noexcept = default;

  ValueLayout layout;
  Storage memory;       // of the inner device, once it is computed
  Count holders;        // storages of lazy tensors
  Count uses;           // operands
  uint32_t inside = 0;  // operands of the graph that is looked at
  bool wanted = false;  // by others than that graph, when it was looked at
};

// A recorded call, or data. graph_mutex() guards its changes. Its owners are
// those that want it: storages of tensors, readers, a graph that runs. So it
// goes with the last of them, on whichever thread; the list of recorded calls
// is a weak owner.
struct LazyNode final : RefCounted {
  enum Kind : uint8_t {
    kData,       // elements from outside
    kEmpty,      // memory that nobody has set
    kPointwise,  // `program`
    kReduce,     // `reduce`
    kCall,       // the operator's kernel
    kWrite,      // operand 0 with operand 1 in place of the part `window`
  };
  enum State : uint8_t { kRecorded, kRunning, kDone };
  // An argument that is a list of tensors.
  struct List {
    size_t argument;
    bool optional;
    std::vector<bool> present;
  };

  LazyNode(Kind k, const OperatorEntry* o) : kind(k), op(o) {}
  static void* operator new(size_t n) { return pool_allocate(n); }
  static void operator delete(void* p, size_t n) { pool_free(p, n); }
  ~LazyNode() { drop_operands(); }
  void release_resources() noexcept;  // when its last owner goes
  const char* name() const;
  void drop() noexcept;  // all that it owns
  void drop_operands() noexcept;
  void add_operand(Operand o);
  // A node that will run does not keep others from using the memory again that
  // it reads: they run later.
  void release_uses() noexcept;
  void take_uses_back() noexcept;

  Kind kind;
  State state = kRecorded;
  bool keepdim = false;   // of kReduce
  bool released = false;  // its operands count as uses no more
  ScalarType compute = ScalarType::Undefined;
  const OperatorEntry* op;  // nullptr for kData, kEmpty and kWrite
  uint64_t sequence = 0;    // grows with each recorded node
  Few<Operand, 3> operands;
  Few<Made, 1> made;

  // The computation of kPointwise and kReduce.
  const program::Program* program = nullptr;
  const ReduceOp* reduce = nullptr;
  uint64_t reduced = 0;
  Few<program::Uniform, 2> uniforms;

  // The arguments of the call, with nothing in the places of tensors. Bit i of
  // `tensors`: argument i is the next operand. Lists have some operands each.
  Few<Value, 4> args;
  uint64_t tensors = 0;
  std::vector<List> lists;
  // The place of made[i], if some results of the call are None or lists.
  struct ResultPlace {
    int16_t result;   // -1: the operator has none
    int16_t element;  // of a list, or -1
  };
  std::vector<ResultPlace> result_of;

  std::unique_ptr<ValueLayout> window;  // of kWrite
  // Operands that a kCall writes. Their values after the call come last among
  // `made`, in this order.
  std::vector<uint8_t> written;

  int index = -1;  // for the code that walks graphs
  uint64_t mark = 0;
  LazyNode* next_dead = nullptr;
};

RecursiveForkMutex& graph_mutex();

// The device that lazy tensors are computed on: SWITCHYARD_LAZY_DEVICE, else
// the CPU.
Device inner_device();
Device lazy_device();

// The payload of a lazy storage.
class LazyValue final : public StoragePayload {
 public:
  static void* operator new(size_t n) { return pool_allocate(n); }
  static void operator delete(void* p, size_t n) { pool_free(p, n); }
  LazyValue(intrusive_ptr<LazyNode> node, uint16_t result);
  ~LazyValue() override;
  static LazyValue* of(const StorageImpl& s) noexcept;
  void materialize(StorageImpl& storage) override;
  const char* describe() const noexcept override;

  const intrusive_ptr<LazyNode> node;
  const uint16_t result;
};

// nullptr if memory of its own is what counts.
LazyValue* value_of(const StorageImpl& s) noexcept;

bool is_lazy(const TensorBase& t);
// Whether calls that write `t` are recorded: on the lazy device, or captured.
bool is_recorded(const TensorBase& t);
// Whether a tensor is all that its storage has.
bool fills_storage(const TensorBase& t);
// In a capture, Capture::end_piece_to_see().
void end_piece_to_see(const TensorBase& t);
// Whether it is all that its value has: the same on the lazy device. In a
// capture, calls see `t`.
bool is_whole(const TensorBase& t);
// Whether code outside of kernels may write the memory that the storage has.
bool is_exposed(const StorageImpl& s);
// The caller holds graph_mutex() for the following.
// Makes an operand of `t`. In a capture it first ends the piece, if
// end_piece_to_see() has to.
Operand operand_of(const TensorBase& t);
// A tensor without memory whose storage has this value.
Tensor tensor_of(const intrusive_ptr<LazyNode>& node, uint16_t result);
// Data that has no memory yet.
intrusive_ptr<LazyNode> data_node(ValueLayout layout);
// Part of the memory of a storage, which it holds, as memory of a device.
Storage part_of_memory(Storage s, void* data, size_t bytes, Device device);
// A value with the elements of a tensor of the inner device, which nobody
// writes from now on.
intrusive_ptr<LazyNode> data_of(const Tensor& inner);
// A value with the memory that the storage of a lazy tensor has of its own.
intrusive_ptr<LazyNode> value_of_memory(const TensorBase& t);
// A copy of any tensor's elements on the inner device; dense.
Tensor copied_to_inner(const TensorBase& t);
Tensor copied_to(Device device, const TensorBase& t);
// The storage of `t` has this value from now on, which covers it. Nobody may
// have a pointer to write to it.
void give_value(const TensorBase& t, const intrusive_ptr<LazyNode>& node,
                uint16_t result);

graph::Layout view_of(const ValueLayout& layout);
// Memory of the inner device as a tensor.
Tensor tensor_in(const Storage& memory, const ValueLayout& layout);

}  // namespace sy::lazy
