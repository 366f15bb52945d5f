#include "autograd/anomaly.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <charconv>
#include <cstdint>

#include "autograd/node.h"
#include "autograd/thread.h"
#include "c10/process/demangle.h"

namespace sy::autograd {

struct Origin {
  static constexpr int kMaxFrames = 48;
  std::array<void*, kMaxFrames> frames;
  int num_frames = 0;
  // The name and the origin of the node whose gradient this operation is a part
  // of.
  std::string parent_name;
  std::shared_ptr<const Origin> parent;
};

bool AnomalyMode::is_enabled() noexcept { return detail::thread.anomaly; }

bool AnomalyMode::should_check_nan() noexcept {
  return detail::thread.check_nan;
}

void AnomalyMode::set_enabled(bool enabled, bool check_nan) noexcept {
  detail::thread.anomaly = enabled;
  detail::thread.check_nan = enabled && check_nan;
}

DetectAnomalyGuard::DetectAnomalyGuard(bool check_nan) noexcept
    : enabled_(AnomalyMode::is_enabled()),
      check_nan_(AnomalyMode::should_check_nan()) {
  AnomalyMode::set_enabled(true, check_nan);
}

DetectAnomalyGuard::~DetectAnomalyGuard() {
  AnomalyMode::set_enabled(enabled_, check_nan_);
}

std::shared_ptr<const Origin> record_origin() {
  auto origin = std::make_shared<Origin>();
  origin->num_frames = backtrace(origin->frames.data(), Origin::kMaxFrames);
  if (const Node* running = detail::thread.running) {
    origin->parent_name = running->name();
    const NodeExtra* extra = running->extra_or_null();
    if (extra != nullptr) origin->parent = extra->origin;
  }
  return origin;
}

namespace {

// "at train [0x1234] main": file and offset are what addr2line takes; names
// are those of exported functions.
std::string to_line(void* return_address) {
  const char* call = static_cast<const char*>(return_address) - 1;
  Dl_info info;
  if (dladdr(call, &info) == 0) return "";
  const auto offset =
      static_cast<uint64_t>(call - static_cast<const char*>(info.dli_fbase));
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, offset, 16);
  std::string r = str("\n  at {} [0x{}]", info.dli_fname,
                      std::string_view(digits, size_t(end.ptr - digits)));
  if (info.dli_sname != nullptr) r += " " + demangled(info.dli_sname);
  return r;
}

std::string to_lines(const Origin& o) {
  std::string r;
  for (int i = 1; i < o.num_frames; ++i) {  // not record_origin itself
    r += to_line(o.frames[static_cast<size_t>(i)]);
  }
  return r;
}

}  // namespace

std::string describe_origin(const Node& node) {
  std::string r = "in the gradient of " + node.name();
  const NodeExtra* extra = node.extra_or_null();
  const Origin* o = extra == nullptr ? nullptr : extra->origin.get();
  while (o != nullptr) {
    r += ", recorded" + to_lines(*o);
    if (o->parent_name.empty()) break;
    r += "\nas a part of the gradient of " + o->parent_name;
    o = o->parent.get();
  }
  return r;
}

}  // namespace sy::autograd
