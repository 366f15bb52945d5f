#include "aten/backend/engines.h"

#include <memory>
#include <mutex>

namespace sy {
namespace {

struct Slots {
  std::mutex mutex;
  std::vector<std::unique_ptr<EngineSlot>> all;
};

// Leaked: kernels hold slots until the process ends.
Slots& slots() {
  static auto* s = new Slots;
  return *s;
}

}  // namespace

std::vector<const EngineSlot*> engine_slots() {
  Slots& s = slots();
  const std::lock_guard lock(s.mutex);
  std::vector<const EngineSlot*> out;
  for (const auto& slot : s.all) {
    if (slot->engines.load(std::memory_order_acquire) != nullptr) {
      out.push_back(slot.get());
    }
  }
  return out;
}

const BackendEngines* engines_of(std::string_view key) {
  for (const EngineSlot* slot : engine_slots()) {
    if (slot->key == key) return slot->engines.load(std::memory_order_acquire);
  }
  return nullptr;
}

EngineRegistrar::EngineRegistrar(const char* key, const BackendEngines& engines)
    : engines_(engines), slot_(nullptr) {
  Slots& s = slots();
  const std::lock_guard lock(s.mutex);
  for (const auto& slot : s.all) {
    if (slot->key == key) slot_ = slot.get();
  }
  if (slot_ == nullptr) {
    s.all.push_back(std::make_unique<EngineSlot>());
    slot_ = s.all.back().get();
    slot_->key = key;
  }
  const BackendEngines* none = nullptr;
  slot_->engines.compare_exchange_strong(none, &engines_,
                                         std::memory_order_acq_rel);
}

EngineRegistrar::~EngineRegistrar() {
  const BackendEngines* own = &engines_;
  slot_->engines.compare_exchange_strong(own, nullptr,
                                         std::memory_order_acq_rel);
}

}  // namespace sy
