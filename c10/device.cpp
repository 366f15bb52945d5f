#include "c10/device.h"

#include <charconv>
#include <limits>

#include "c10/backend.h"
#include "c10/error.h"
#include "c10/schema/nearest.h"

namespace sy {
namespace {

[[noreturn]] void unknown_device(std::string_view text, std::string_view name) {
  std::string known;
  NearestName nearest(name);
  const std::vector<BackendInfo> all = backends();
  for (const BackendInfo& b : all) {
    if (!b.present) continue;
    if (!known.empty()) known += ", ";
    known += b.device;
    nearest.consider(b.device);
  }
  fail(ErrorKind::Value, "[Device] expected one of ", known, ", got '", text,
       "'", nearest.question());
}

}  // namespace

Device::Device(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::vector<BackendInfo> all = backends();
  const BackendInfo* found = nullptr;
  for (const BackendInfo& b : all) {
    if (b.present && b.device == name) found = &b;
  }
  if (found == nullptr) unknown_device(text, name);
  type = found->type;
  if (colon == std::string_view::npos) return;
  const std::string_view digits = text.substr(colon + 1);
  const bool one_only = type == kCPU || type == kMeta;
  const int most = one_only ? 0 : std::numeric_limits<int8_t>::max();
  int n = -1;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), n);
  SY_CHECK(error == std::errc() && end == digits.data() + digits.size() &&
               n >= 0 && n <= most && (digits.size() == 1 || digits[0] != '0'),
           Value, "[Device] index: expected ",
           one_only ? std::string("0") : "0 to " + std::to_string(most),
           ", got '", digits, "' in '", text, "'");
  index = static_cast<int8_t>(n);
}

std::string Device::str() const {
  std::string out = backend_device_name(type);
  if (has_index()) out += ":" + std::to_string(index);
  return out;
}

}  // namespace sy
