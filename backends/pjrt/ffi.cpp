#include "backends/pjrt/ffi.h"

#include <cfenv>
#include <charconv>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/pjrt/ffi_c_api.h"
#include "c10/process/error.h"

namespace sy::pjrt {

namespace {

using namespace abi;  // NOLINT(google-build-using-namespace)

constexpr std::string_view kTarget = "switchyard.call";

// All tables are leaked: threads of plugins run until the process ends.
struct Kernels {
  std::shared_mutex mutex;
  std::unordered_map<int64_t, std::shared_ptr<const Kernel>> by_number;
  int64_t last = 0;
};

Kernels& kernels() {
  static auto& all = *new Kernels;
  return all;
}

// Note [Exceptions of kernels]
// An exception cannot pass through the plugin, but a text does: it has the
// number under which the exception is kept here, and run() finds that again.
// Kernels of one run may fail together, and only one of the texts comes out; so
// the oldest exceptions go.
class Exceptions {
 public:
  std::string keep(std::exception_ptr e, const char* what) {
    const std::lock_guard lock(mutex_);
    if (kept_.size() == kMost) kept_.pop_front();
    kept_.emplace_back(++last_, std::move(e));
    return str("{}{}: {}", kMark, last_, what);
  }
  std::exception_ptr take(std::string_view text) {
    const size_t at = text.find(kMark);
    if (at == std::string_view::npos) return nullptr;
    const char* const digits = text.data() + at + kMark.size();
    uint64_t number = 0;
    std::from_chars(digits, text.data() + text.size(), number);
    const std::lock_guard lock(mutex_);
    for (auto i = kept_.begin(); i != kept_.end(); ++i) {
      if (i->first != number) continue;
      std::exception_ptr e = std::move(i->second);
      kept_.erase(i);
      return e;
    }
    return nullptr;
  }

 private:
  static constexpr std::string_view kMark = "switchyard exception ";
  static constexpr size_t kMost = 64;
  std::mutex mutex_;
  std::deque<std::pair<uint64_t, std::exception_ptr>> kept_;
  uint64_t last_ = 0;
};

Exceptions& exceptions() {
  static auto& all = *new Exceptions;
  return all;
}

// The plugin computes with denormals flushed to zero; kernels do not.
class DefaultFloats {
 public:
  DefaultFloats() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloats() { std::fesetenv(&saved_); }
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;

 private:
  std::fenv_t saved_;
};

std::shared_ptr<const Kernel> find_kernel(const ffi::Attributes& attributes) {
  for (int64_t i = 0; i < attributes.count; ++i) {
    const ffi::Text& name = *attributes.names[i];
    if (std::string_view(name.data, name.length) != "id") continue;
    if (attributes.types[i] != ffi::kScalar) break;
    const auto& id = *static_cast<const ffi::Scalar*>(attributes.values[i]);
    if (id.type != ffi::kInt64) break;
    const int64_t number = *static_cast<const int64_t*>(id.value);
    Kernels& all = kernels();
    const std::shared_lock lock(all.mutex);
    const auto found = all.by_number.find(number);
    SY_CHECK(found != all.by_number.end(), Error,
             "[pjrt] the program calls kernel {}, which is not there", number);
    return found->second;
  }
  fail(ErrorKind::Value,
       "[pjrt] a call of {} must have an attribute id of type i64", kTarget);
}

template <class Pointer>
std::vector<Pointer> pointers(const ffi::Buffers& buffers) {
  std::vector<Pointer> all(static_cast<size_t>(buffers.count));
  for (size_t i = 0; i < all.size(); ++i) {
    SY_CHECK(buffers.types[i] == ffi::kBuffer, NotImplemented,
             "[pjrt] {}: expected arrays", kTarget);
    all[i] = static_cast<const ffi::Buffer*>(buffers.values[i])->data;
  }
  return all;
}

ffi::Error* failed(const ffi::Frame& frame, const char* what) {
  const std::string text = exceptions().keep(std::current_exception(), what);
  ffi::CreateError args;
  args.head.size = sizeof args;
  args.text = text.c_str();
  return frame.api->create_error(&args);
}

void say_version(const ffi::Frame& frame) {
  const auto* const extension =
      reinterpret_cast<const ffi::MetadataExtension*>(frame.head.extensions);
  Version& version = extension->metadata->version;
  version.head.size = sizeof version;
  version.head.extensions = nullptr;
  version.major = ffi::kMajor;
  version.minor = ffi::kMinor;
  extension->metadata->traits = 0;
}

ffi::Error* call_kernel(ffi::Frame* frame) {
  if (frame->head.extensions != nullptr &&
      frame->head.extensions->type == ffi::kMetadataExtension) {
    say_version(*frame);
    return nullptr;
  }
  const DefaultFloats floats;
  try {
    const std::shared_ptr<const Kernel> kernel = find_kernel(frame->attributes);
    (*kernel)(pointers<const void*>(frame->inputs),
              pointers<void*>(frame->outputs));
    return nullptr;
  } catch (const std::exception& e) {
    return failed(*frame, e.what());
  } catch (...) {
    return failed(*frame, "not a std::exception");
  }
}

}  // namespace

KernelId::KernelId(Kernel kernel) {
  auto shared = std::make_shared<const Kernel>(std::move(kernel));
  Kernels& all = kernels();
  const std::lock_guard lock(all.mutex);
  number_ = ++all.last;
  all.by_number.emplace(number_, std::move(shared));
}

KernelId::~KernelId() {
  if (number_ == 0) return;
  Kernels& all = kernels();
  std::shared_ptr<const Kernel> out;  // destroyed without the lock
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_number.find(number_);
  out = std::move(found->second);
  all.by_number.erase(found);
}

void register_kernels(const Plugin& plugin) {
  const auto* const extension = reinterpret_cast<const ffi::FfiExtension*>(
      plugin.extension(kFfiExtension));
  SY_CHECK(
      extension != nullptr && extension->base.size >= sizeof(ffi::FfiExtension),
      Error, "[pjrt] {}: its programs cannot call other functions",
      plugin.path());
  constexpr std::string_view kPlatform = "Host";
  ffi::RegisterHandler args;
  args.size = sizeof args;
  args.name = kTarget.data();
  args.name_length = kTarget.size();
  args.handler = &call_kernel;
  args.platform = kPlatform.data();
  args.platform_length = kPlatform.size();
  if (abi::Error* const e = extension->register_handler(&args)) {
    plugin.raise(args.kName, plugin.take(e));
  }
}

void rethrow_from_kernel(const std::string& text) {
  if (std::exception_ptr e = exceptions().take(text)) {
    std::rethrow_exception(std::move(e));
  }
}

}  // namespace sy::pjrt
