#include "c10/device/device.h"

#include <charconv>
#include <limits>
#include <ostream>

#include "c10/device/backend.h"
#include "c10/process/error.h"
#include "c10/schema/nearest.h"

namespace sy {
namespace {

[[noreturn]] void unknown_device(std::string_view text, std::string_view name) {
  std::string known;
  NearestName nearest(name);
  const std::vector<BackendInfo> all = backends();
  for (const BackendInfo& b : all) {
    nearest.consider(b.device);
    if (!b.present) continue;
    if (!known.empty()) known += ", ";
    known += b.device;
  }
  std::string hint = nearest.question();
  if (hint.empty()) hint = "; a library may bring others: sy::load_library()";
  fail(ErrorKind::Value, "[Device] expected one of {}, got '{}'{}", known, text,
       hint);
}

// Backends with a fixed number may be named before they are loaded.
bool may_be_named(const BackendInfo& b) {
  return b.present || number_of(b.type) < kNumFixedBackends;
}

}  // namespace

Device::Device(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::vector<BackendInfo> all = backends();
  const BackendInfo* found = nullptr;
  for (const BackendInfo& b : all) {
    if (may_be_named(b) && b.device == name) found = &b;
  }
  if (found == nullptr) unknown_device(text, name);
  type_ = found->type;
  if (colon == std::string_view::npos) return;
  const std::string_view digits = text.substr(colon + 1);
  const bool one_only = type_ == kCPU || type_ == kMeta;
  const int most = one_only ? 0 : std::numeric_limits<int8_t>::max();
  int n = -1;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), n);
  SY_CHECK(error == std::errc() && end == digits.data() + digits.size() &&
               n >= 0 && n <= most && (digits.size() == 1 || digits[0] != '0'),
           Value, "[Device] index: expected {}, got '{}' in '{}'",
           one_only ? std::string("0") : "0 to " + std::to_string(most), digits,
           text);
  set_index(n);
}

std::string Device::str() const {
  std::string out = backend_device_name(type_);
  if (has_index()) out += ":" + std::to_string(index());
  return out;
}

std::string to_string(DeviceType t) { return backend_device_name(t); }

std::ostream& operator<<(std::ostream& out, Device d) { return out << d.str(); }

std::ostream& operator<<(std::ostream& out, DeviceType t) {
  return out << backend_device_name(t);
}

}  // namespace sy
