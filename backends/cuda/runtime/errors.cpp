#include "backends/cuda/runtime/errors.h"

#include <algorithm>
#include <bit>
#include <map>

#include "backends/cuda/runtime/device_state.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/process/error.h"
#include "c10/schema/function_schema.h"

namespace sy::cuda {
namespace {

// The most errors of one device that are kept until somebody sees them. Errors
// beyond that are dropped.
constexpr size_t kMostTaken = 64;

struct Described {
  std::mutex mutex;
  std::map<std::string, DescribeValue, std::less<>> by_op;
};
Described& described() {
  static auto* const d = new Described;
  return *d;
}

// "aten::add" of "aten::add_.Tensor".
std::string_view plain_name(std::string_view op) {
  op = op.substr(0, op.find('.'));
  if (op.ends_with('_') && !op.ends_with("__")) op.remove_suffix(1);
  return op;
}

std::string_view name_of(const OperatorEntry* op) {
  return op == nullptr ? "cuda" : op->name();
}

// "index: ", or "" if it is not known.
std::string argument_text(const CheckedError& e) {
  if (e.op == nullptr || e.argument < 0 || !e.op->defined()) return "";
  const auto arguments = e.op->schema().arguments();
  const auto i = static_cast<size_t>(e.argument);
  return i < arguments.size() ? str("{}: ", arguments[i].name.view()) : "";
}

std::string value_text(const CheckedError& e) {
  Described& d = described();
  const std::lock_guard lock(d.mutex);
  const auto found = d.by_op.find(plain_name(name_of(e.op)));
  return found == d.by_op.end()
             ? str("expected another value, got {} (kernel {})", e.value,
                   e.kernel)
             : found->second(e.argument, e.value, e.bound);
}

}  // namespace

bool has_failed(int device) noexcept {
  const DeviceState* const s = used_device(device);
  return s != nullptr && s->errors.failure() != nullptr;
}

void throw_errors(int device) {
  DeviceState& s = device_state(device);
  s.errors.throw_failure();
  s.errors.throw_any();
}

void describe_values(std::string_view op, DescribeValue describe) {
  Described& d = described();
  const std::lock_guard lock(d.mutex);
  d.by_op.insert_or_assign(std::string(op), describe);
}

void check(DeviceState& device, driver::Result r, const char* what) {
  if (SY_LIKELY(r == driver::kSuccess)) return;
  if (driver::is_fault(r)) {
    device.errors.fault(r);
    device.errors.throw_failure();
  }
  driver::check(r, what);
}

void DeviceErrors::take() noexcept {
  const std::lock_guard lock(mutex_);
  const std::atomic_ref<unsigned long long> reported(slot_->ticket);
  const uint64_t t = reported.load(std::memory_order_acquire);
  if (t == 0) return;
  CheckedError e;
  e.code = static_cast<Fault>(slot_->code);
  e.argument = slot_->argument;
  e.value = slot_->value;
  e.bound = slot_->bound;
  if (StreamState* const s =
          device_.streams.at_place(t >> StreamState::kPlaceShift)) {
    e.stream = s->number();
    if (const LaunchRecord* const r = s->find(t & StreamState::kTicketMask)) {
      e.op = r->op;
      e.kernel = r->kernel;
    }
  }
  // Kernels may report the next one when the code is 0.
  reported.store(0, std::memory_order_relaxed);
  std::atomic_ref<int>(slot_->code).store(0, std::memory_order_release);
  try {
    if (taken_.size() < kMostTaken) taken_.push_back(e);
  } catch (...) {  // no memory to keep it
  }
  any_.store(!taken_.empty(), std::memory_order_release);
}

void DeviceErrors::throw_of_stream(uint64_t stream) {
  if (reported()) take();
  if (!any_.load(std::memory_order_acquire)) return;
  CheckedError first;
  {
    const std::lock_guard lock(mutex_);
    const auto of_stream = [&](const CheckedError& e) {
      return e.stream == stream;
    };
    const auto found = std::find_if(taken_.begin(), taken_.end(), of_stream);
    if (found == taken_.end()) return;
    first = *found;
    std::erase_if(taken_, of_stream);
    any_.store(!taken_.empty(), std::memory_order_release);
  }
  throw_error(first);
}

void DeviceErrors::throw_any() {
  if (reported()) take();
  if (!any_.load(std::memory_order_acquire)) return;
  CheckedError first;
  {
    const std::lock_guard lock(mutex_);
    if (taken_.empty()) return;
    first = taken_.front();
    taken_.clear();
    any_.store(false, std::memory_order_release);
  }
  throw_error(first);
}

void DeviceErrors::throw_error(const CheckedError& e) {
  const std::string_view op = name_of(e.op);
  const std::string argument = argument_text(e);
  switch (e.code) {
    case Fault::kIndex:
      sy::fail(ErrorKind::Index,
               "[{}] {}expected an index into a size of {}, got {}", op,
               argument, e.bound, e.value);
    case Fault::kDivision:
      sy::fail(ErrorKind::Value,
               "[{}] {}expected a divisor other than 0, got an integer 0", op,
               argument);
    case Fault::kProbability:
      sy::fail(ErrorKind::Value,
               "[{}] {}expected probabilities in [0, 1], got {}", op, argument,
               std::bit_cast<double>(e.value));
    default:
      sy::fail(ErrorKind::Value, "[{}] {}{}", op, argument, value_text(e));
  }
}

void DeviceErrors::throw_failure() const {
  if (const std::string* const text = failure()) throw Error(*text);
}

void DeviceErrors::fault(driver::Result r) noexcept {
  if (failure() != nullptr) return;
  static const auto* const no_memory = new std::string(
      "[cuda] a kernel failed, and there was no memory to say more");
  const std::string* text = no_memory;
  try {
    text = new std::string(fault_text(r));  // others hold it for ever
  } catch (...) {
  }
  const std::string* none = nullptr;
  if (!failure_.compare_exchange_strong(none, text) && text != no_memory) {
    delete text;
  }
}

std::string DeviceErrors::fault_text(driver::Result r) const {
  // Work of a stream runs in order: the oldest that is not done is the newest
  // that has begun, if a kernel has. Several streams may be at work.
  std::string_view op = "cuda";
  std::string who;
  int named = 0;
  device_.streams.each([&](StreamState& s) {
    const uint64_t last = s.last(), done = s.known(), begun = s.started();
    if (done >= last || ++named > 3) return;
    const uint64_t oldest = std::min(std::max(done + 1, begun), last);
    const LaunchRecord* const record = s.find(oldest);
    if (named == 1 && record != nullptr) op = name_of(record->op);
    who += named == 1 ? "the oldest work that was not done: " : "; or of ";
    if (named > 1) {
      who += record == nullptr ? "?" : std::string(name_of(record->op));
      who += ": ";
    }
    who += record == nullptr ? str("launch {} of stream {}", oldest, s.number())
                             : record->text(s.number());
    who += last == oldest
               ? " (1 piece was in flight)"
               : str(" ({} pieces were in flight)", last - oldest + 1);
  });
  if (named == 0) who = "nothing of this library was in flight";
  return str("[{}] cuda:{}: {}; {}. This process can use the device no more",
             op, device_.index, driver::result_text(r), who);
}

}  // namespace sy::cuda
