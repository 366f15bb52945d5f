#include "c10/memory/pinned_memory.h"

#include "c10/process/error.h"

namespace sy {

namespace {

bool pins(const BackendInfo& b) {
  return b.interface != nullptr && b.interface->pinned_allocator() != nullptr;
}

// "none of the loaded backends ('npu') pins memory".
std::string why_none_pins() {
  std::string names;
  for (const BackendInfo& b : backends()) {
    if (b.type <= kMeta || b.interface == nullptr) continue;
    names += str("{}{}'", names.empty() ? "'" : ", '", b.device);
  }
  return names.empty()
             ? "no backend is loaded beside the CPU: see load_library()"
             : str("none of the loaded backends ({}) pins memory", names);
}

}  // namespace

DeviceType pinning_backend(const char* op, std::optional<Device> device) {
  if (device) {
    SY_CHECK(device_interface(device->type()).pinned_allocator() != nullptr,
             Value, "[{}] device: expected one that pins memory, got '{}'", op,
             *device);
    return device->type();
  }
  for (const BackendInfo& b : backends()) {
    if (pins(b)) return b.type;
  }
  fail(ErrorKind::Value,
       "[{}] pin_memory: expected a device that pins memory, got none; {}", op,
       why_none_pins());
}

bool is_pinned(const StorageImpl& s, std::optional<Device> device) {
  if (!device || !s.is_pinned()) return s.is_pinned();
  const BackendInfo b = backends()[number_of(device->type())];
  return pins(b) && b.interface->pinned_allocator() == s.allocator();
}

}  // namespace sy
