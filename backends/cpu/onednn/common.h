#pragma once

#include <list>
#include <unordered_map>
#include <utility>

#include "backends/cpu/onednn/api.h"
#include "backends/cpu/support/hash_of_bytes.h"
#include "dnnl.hpp"

// Shared by the primitives of this library.

namespace sy::cpu {

const dnnl::engine& onednn_engine();
dnnl::memory::data_type onednn_type(OneDnnType t);
inline size_t onednn_item(OneDnnType t) {
  return t == OneDnnType::f32                         ? 4
         : t == OneDnnType::s8 || t == OneDnnType::u8 ? 1
                                                      : 2;
}
// The size of a piece of memory with padding, so that the next piece is
// aligned.
inline size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }
// The caller's memory as a memory of oneDNN.
dnnl::memory onednn_memory(const dnnl::memory::desc& d, const void* data);

// A number for a layout. The same layout has the same number.
uint64_t onednn_layout(const dnnl::memory::desc& d);

// While it lives, oneDNN uses n threads. It asks OpenMP for their number.
class OneDnnThreads {
 public:
  explicit OneDnnThreads(int n);
  ~OneDnnThreads();
  OneDnnThreads(const OneDnnThreads&) = delete;
  OneDnnThreads& operator=(const OneDnnThreads&) = delete;

 private:
  int before_;
};

// The values that one thread used last, by a key that is compared as bytes.
// Making a primitive costs as much as a product of 256 x 256 matrices.
template <class Key, class V>
class OneDnnCache {
 public:
  // Calls make(key) for a new key. An exception of make is passed on.
  template <class F>
  V& get(const Key& key, const F& make) {
    const auto found = index_.find(key);
    if (found != index_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return found->second->second;
    }
    order_.emplace_front(key, make(key));
    index_[key] = order_.begin();
    if (order_.size() > kMost) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
    return order_.front().second;
  }

 private:
  static constexpr size_t kMost = 256;
  using Order = std::list<std::pair<Key, V>>;
  Order order_;
  std::unordered_map<Key, typename Order::iterator, HashOfBytes<Key>,
                     EqualBytes<Key>>
      index_;
};

}  // namespace sy::cpu
