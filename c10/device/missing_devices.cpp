#include "c10/device/missing_devices.h"

#include <map>
#include <mutex>
#include <utility>

#include "c10/device/backend.h"
#include "c10/process/error.h"
#include "c10/process/fork.h"

namespace sy {

namespace {

// Never destroyed: errors are made while the process ends, too.
struct Reasons {
  ForkMutex mutex;
  std::map<DeviceType, std::string> texts;
};
Reasons& reasons() {
  static auto* const r = new Reasons;
  return *r;
}

}  // namespace

void set_why_no_devices(DeviceType t, std::string why) {
  Reasons& r = reasons();
  const std::lock_guard lock(r.mutex);
  r.texts[t] = std::move(why);
}

std::string no_device_text(DeviceType t) {
  const std::string name = backend_device_name(t);
  Reasons& r = reasons();
  const std::lock_guard lock(r.mutex);
  const std::string& why = r.texts[t];
  return str("there is no '{}' device in this machine{}{}", name,
             why.empty() ? "" : ": ", why);
}

}  // namespace sy
