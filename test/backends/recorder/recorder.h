#pragma once

#include <mutex>
#include <vector>

#include "aten/tensor.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/intrusive_ptr.h"
#include "c10/tensor/storage_payload.h"
#include "c10/tensor/value.h"

// A backend that records calls on tensors without memory and gives regions to
// the CPU when a value is asked for: the least that a lazy backend is. A value
// never changes: a write gives the storage another node.

namespace recorder {

using sy::Tensor;
using sy::TensorBase;
using sy::Value;

struct Node;

// A recorded call. Its outputs know it, and it them.
struct Call : sy::RefCounted {
  const sy::OperatorEntry* op = nullptr;
  std::vector<Value> args;
  std::vector<Node*> outputs;  // nullptr for those nobody wants
};

// An output that a call will have: a dense tensor.
struct Node : sy::RefCounted {
  sy::intrusive_ptr<Call> call;  // none once it is computed
  size_t output = 0;
  std::vector<int64_t> sizes;
  sy::ScalarType dtype = sy::ScalarType::Undefined;
  sy::Storage value;  // once it is computed

  ~Node() {
    if (call) call->outputs[output] = nullptr;
  }
};

// The node of a storage: a base and its views share it.
class Recorded final : public sy::StoragePayload {
 public:
  explicit Recorded(sy::intrusive_ptr<Node> n);
  void materialize(sy::StorageImpl& storage) override;
  const char* describe() const noexcept override { return "a recorded value"; }
  const sy::intrusive_ptr<Node> node;
};

sy::Device device();
// The node of a tensor of the backend, or nullptr.
Node* node_of(const TensorBase& t);
// A tensor without memory, over a storage of its own.
Tensor tensor_of(sy::intrusive_ptr<Node> node);
// A node whose value is that of a CPU tensor.
sy::intrusive_ptr<Node> computed_node(const Tensor& cpu);
// The elements of a tensor of any device as a CPU tensor, computed first.
Tensor on_cpu(const TensorBase& t);
Value on_cpu(const Value& v);

// Computes a node, as a region with what it needs where that can be.
void compute(Node& node);
void compute_on_cpu(Call& call);

std::recursive_mutex& mutex();

struct Counts {
  int64_t recorded = 0, regions = 0, in_regions = 0, on_cpu = 0, largest = 0;
};
Counts& counts();

}  // namespace recorder
