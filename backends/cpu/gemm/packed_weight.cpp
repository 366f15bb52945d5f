#include "backends/cpu/gemm/packed_weight.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backends/cpu/support/hash_of_bytes.h"
#include "c10/dispatch/thread_state.h"
#include "c10/memory/allocator.h"
#include "c10/memory/packed_weights.h"
#include "c10/process/fork.h"

namespace sy::cpu {

namespace {

// Calls between looks at what has become of the weights.
constexpr uint64_t kSweep = 64;
constexpr size_t kMostWeights = 4096;
constexpr int64_t kMostDims = 5;

struct Key {
  const StorageImpl* storage;
  int64_t offset, dtype, dim;
  int64_t sizes[kMostDims], strides[kMostDims];

  explicit Key(const TensorBase& t) {
    std::memset(this, 0, sizeof *this);
    storage = t.impl()->storage().get();
    offset = t.storage_offset();
    dtype = static_cast<int64_t>(t.dtype());
    dim = t.dim();
    std::copy(t.sizes().begin(), t.sizes().end(), sizes);
    std::copy(t.strides().begin(), t.strides().end(), strides);
  }
};

struct Packed {
  uint64_t layout;
  Storage memory;
};

struct Weight {
  // Keeps the object, not its memory: no other storage gets its address.
  weak_intrusive_ptr<StorageImpl> storage;
  uint32_t version = 0;
  uint64_t promise = 0;  // see c10/memory/packed_weights.h
  uint64_t last = 0;     // call
  std::vector<Packed> packed;
};

struct State {
  // Locked within a ForkSection. Calls only try to lock it, except to free: a
  // call that does not get it takes the weight as it lies.
  std::timed_mutex mutex;
  std::unordered_map<Key, Weight, HashOfBytes<Key>, EqualBytes<Key>> weights;
  uint64_t calls = 0;
  PackedWeightStats stats;
  int64_t limit;

  State();
  void drop(Weight& w) noexcept {
    for (const Packed& p : w.packed) {
      --stats.count;
      stats.bytes -= static_cast<int64_t>(p.memory->nbytes());
    }
    w.packed.clear();
  }
  void sweep() noexcept;
  bool make_room(int64_t bytes) noexcept;
};

// Leaked: threads may still call operators while the process ends.
State& state() {
  const ForkSection section;
  static State* const s = new State;
  return *s;
}

void drop_all() noexcept {
  const ForkSection section;
  State& s = state();
  const std::unique_lock lock(s.mutex, std::chrono::milliseconds(100));
  if (!lock) return;
  for (auto& [key, w] : s.weights) s.drop(w);
  s.weights.clear();
}

State::State() {
  const int64_t most = memory_stats().limit;
  limit = bytes_from_environment("SWITCHYARD_PACKED_LIMIT",
                                 most == 0 ? int64_t{1} << 30 : most / 8);
  add_reclaimer(&drop_all);
}

void State::sweep() noexcept {
  for (auto at = weights.begin(); at != weights.end();) {
    const StorageImpl& storage = *at->first.storage;
    const bool gone = storage.use_count() == 0;
    if (gone || storage.version() != at->second.version) drop(at->second);
    at = gone ? weights.erase(at) : std::next(at);
  }
}

// Makes room from weights that no call has used while every other weight may
// have been used twice.
bool State::make_room(int64_t bytes) noexcept {
  while (stats.bytes + bytes > limit) {
    Weight* oldest = nullptr;
    for (auto& [key, w] : weights) {
      if (!w.packed.empty() && (oldest == nullptr || w.last < oldest->last)) {
        oldest = &w;
      }
    }
    if (oldest == nullptr || calls - oldest->last <= 2 * weights.size()) {
      return false;
    }
    drop(*oldest);
  }
  return true;
}

}  // namespace

const char* PackedWeight::look_up() const noexcept {
  if (weight_ == nullptr || weight_->dim() > kMostDims) return "a copy";
  if (GradMode::is_enabled()) return "gradients are on";
  const Storage& storage = weight_->impl()->storage();
  if (!storage->resizable()) return "not the library's own memory";
  const uint64_t promise =
      storage->is_handed_out() ? packed_weights_promise(*storage) : 0;
  if (storage->is_handed_out() && promise == 0) {
    return "a pointer to it was handed out (see allow_packed_weights)";
  }
  const ForkSection section;
  State& s = state();
  if (s.limit == 0) return "SWITCHYARD_PACKED_LIMIT=0";
  const std::unique_lock lock(s.mutex, std::try_to_lock);
  if (!lock) return "another thread looks one up";
  if (++s.calls % kSweep == 0) s.sweep();
  const Key key(*weight_);
  const uint32_t version = storage->version();
  const auto at = s.weights.find(key);
  if (at == s.weights.end()) {
    if (s.weights.size() < kMostWeights) {
      s.weights.emplace(key, Weight{weak_intrusive_ptr<StorageImpl>(storage),
                                    version,
                                    promise,
                                    s.calls,
                                    {}});
    }
    return "the first call with it";
  }
  Weight& w = at->second;
  w.last = s.calls;
  if (w.version != version || w.promise != promise) {
    s.drop(w);
    w.version = version;
    w.promise = promise;
    return "the first call since it was written";
  }
  if (w.packed.empty() &&
      !s.make_room(static_cast<int64_t>(
          weight_->itemsize() * static_cast<size_t>(weight_->numel())))) {
    return "SWITCHYARD_PACKED_LIMIT is reached";
  }
  return nullptr;
}

void* PackedWeight::memory(void* context, uint64_t layout, size_t bytes,
                           bool* filled) noexcept {
  auto& self = *static_cast<PackedWeight*>(context);
  const ForkSection section;
  State& s = state();
  if (const std::unique_lock lock(s.mutex, std::try_to_lock); lock) {
    const auto at = s.weights.find(Key(*self.weight_));
    if (at != s.weights.end()) {
      for (const Packed& p : at->second.packed) {
        if (p.layout != layout) continue;
        ++s.stats.hits;
        self.memory_ = p.memory;
        *filled = true;
        return self.memory_->data();
      }
    }
  }
  try {
    self.memory_ = StorageImpl::allocate(bytes, Device(kCPU));
  } catch (const OutOfMemoryError&) {
    return nullptr;
  }
  self.layout_ = layout;
  self.fills_ = true;
  *filled = false;
  return self.memory_->data();
}

void PackedWeight::keep() noexcept {
  if (!fills_) return;
  const ForkSection section;
  State& s = state();
  const std::unique_lock lock(s.mutex, std::try_to_lock);
  if (!lock) return;
  const Key key(*weight_);
  const auto at = s.weights.find(key);
  const auto bytes = static_cast<int64_t>(memory_->nbytes());
  if (at == s.weights.end() || at->second.version != key.storage->version()) {
    return;
  }
  Weight& w = at->second;
  for (const Packed& p : w.packed) {
    if (p.layout == layout_) return;  // another thread was first
  }
  if (!s.make_room(bytes)) return;
  w.packed.push_back({layout_, std::move(memory_)});
  ++s.stats.count;
  s.stats.bytes += bytes;
}

PackedWeightStats packed_weight_stats() {
  const ForkSection section;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.stats;
}

}  // namespace sy::cpu
