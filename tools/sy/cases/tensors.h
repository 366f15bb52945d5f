#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "c10/tensor/tensor_base.h"
#include "tools/sy/cases/safetensors.h"
#include "tools/sy/support/json.h"

// Tensors between case files, host memory and the device under test.

namespace sy::tools {

// A tensor as a case states it: a view of one storage of the file.
struct TensorSpec {
  std::string key;
  ScalarType dtype;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  std::string alias;        // of results: the argument whose storage it shares
  bool any_values = false;  // of results: memory not set, or random numbers
};

bool is_tensor(const Json& v);
// Throws ValueError that begins with `where` if the view does not fit the
// storage, or has fields that a tensor has not.
TensorSpec parse_tensor(const Json& v, const Safetensors& storages,
                        const std::string& where);

// A tensor of any device with its whole storage in host memory.
struct HostTensor {
  ScalarType dtype;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  std::string storage;
  bool has_values = true;  // false on devices without memory, and of any_values

  int64_t numel() const;
  // The bytes of the element at that storage index (counted in elements).
  const char* at(int64_t index) const {
    return storage.data() + index * static_cast<int64_t>(element_size(dtype));
  }
};

HostTensor read_tensor(const TensorSpec& spec, const Safetensors& storages);
HostTensor read_tensor(const TensorBase& t);
// A copy of a CPU tensor on a device: the same bytes of storage, the same view.
TensorBase copy_to(Device device, const TensorBase& t);
// The bytes of a storage; empty if its device has no memory.
std::string read_storage(const Storage& s);

// Storage indices of the elements, in row-major order.
std::vector<int64_t> element_indices(IntArrayRef sizes, IntArrayRef strides,
                                     int64_t offset);
// "[1, 2]" of the n-th element in row-major order.
std::string element_position(IntArrayRef sizes, int64_t n);

// The fresh storages of one call, on a device. Tensors of one key share.
class CaseMemory {
 public:
  CaseMemory(const Safetensors& storages, Device device)
      : storages_(storages), device_(device) {}
  TensorBase tensor(const TensorSpec& spec);

 private:
  const Safetensors& storages_;
  Device device_;
  std::map<std::string, Storage> made_;
};

}  // namespace sy::tools
