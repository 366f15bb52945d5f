#include "test/backends/cuda/fake/driver/settings.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "test/backends/cuda/fake/fake_cuda_control.h"

namespace fake_cuda {
namespace {

const char* text_of(const char* name, const char* otherwise) {
  const char* v = std::getenv(name);
  return v == nullptr || *v == 0 ? otherwise : v;
}

[[noreturn]] void refuse(const char* name, const char* expected) {
  std::fprintf(stderr, "fake_cuda: %s: expected %s, got %s\n", name, expected,
               std::getenv(name));
  std::abort();
}

int64_t number_of(const char* name, int64_t otherwise) {
  const char* v = std::getenv(name);
  if (v == nullptr || *v == 0) return otherwise;
  char* end;
  const long long n = std::strtoll(v, &end, 0);
  if (*end != 0 || n < 0) refuse(name, "a number");
  return n;
}

bool flag_of(const char* name, bool otherwise) {
  return number_of(name, otherwise ? 1 : 0) != 0;
}

// "512M", "2G", or bytes.
size_t size_of(const char* name, size_t otherwise) {
  const char* v = std::getenv(name);
  if (v == nullptr || *v == 0) return otherwise;
  char* end;
  size_t n = std::strtoull(v, &end, 0);
  switch (*end) {
    case 'K': n <<= 10, ++end; break;
    case 'M': n <<= 20, ++end; break;
    case 'G': n <<= 30, ++end; break;
    default: break;
  }
  if (*end != 0 || n == 0) refuse(name, "a size such as 512M");
  return n;
}

Settings read_settings() {
  Settings s;
  s.devices = static_cast<int>(number_of("FAKE_CUDA_DEVICES", s.devices));
  s.version = static_cast<int>(number_of("FAKE_CUDA_VERSION", s.version));
  s.memory = size_of("FAKE_CUDA_MEMORY", s.memory);
  const char* capability = text_of("FAKE_CUDA_CAPABILITY", "9.0");
  if (std::sscanf(capability, "%d.%d", &s.major, &s.minor) != 2) {
    refuse("FAKE_CUDA_CAPABILITY", "a version such as 8.0");
  }
  s.multiprocessors =
      static_cast<int>(number_of("FAKE_CUDA_MULTIPROCESSORS", 4));
  s.synchronous = flag_of("FAKE_CUDA_SYNC", s.synchronous);
  s.protect = flag_of("FAKE_CUDA_PROTECT", s.protect);
  s.junk = flag_of("FAKE_CUDA_JUNK", s.junk);
  if (std::strcmp(text_of("FAKE_CUDA_RACES", ""), "all") == 0) {
    s.most_checked = ~uint64_t{0};
  } else if (!flag_of("FAKE_CUDA_RACES", true)) {
    s.most_checked = 0;
  }
  s.keep_modules = flag_of("FAKE_CUDA_KEEP_MODULES", s.keep_modules);
  s.patience = static_cast<int>(number_of("FAKE_CUDA_PATIENCE", s.patience));
  s.name = text_of("FAKE_CUDA_NAME", s.name.c_str());
  return s;
}

// "3" or "3:719".
void set_nth(Nth& nth, const char* name, int code) {
  const char* v = std::getenv(name);
  if (v == nullptr || *v == 0) return;
  long long n;
  const int got = std::sscanf(v, "%lld:%d", &n, &code);
  if (got < 1) refuse(name, "a number, or number:code");
  nth.set(n, code);
}

}  // namespace

const Settings& settings() {
  static const Settings s = read_settings();
  return s;
}

Faults& faults() {
  static Faults* const f = [] {
    auto* made = new Faults;
    set_nth(made->launch, "FAKE_CUDA_FAIL_LAUNCH", Result::kLaunchFailed);
    set_nth(made->fault, "FAKE_CUDA_FAULT_LAUNCH", Result::kIllegalAddress);
    set_nth(made->create, "FAKE_CUDA_FAIL_CREATE", Result::kOutOfMemory);
    set_nth(made->allocate, "FAKE_CUDA_FAIL_ALLOCATE", Result::kOutOfMemory);
    set_nth(made->host_allocate, "FAKE_CUDA_FAIL_HOST_ALLOCATE",
            Result::kOutOfMemory);
    made->slow = static_cast<unsigned>(number_of("FAKE_CUDA_SLOW", 0));
    made->seed = static_cast<uint64_t>(number_of("FAKE_CUDA_SEED", 1));
    const char* order = text_of("FAKE_CUDA_BLOCKS", "ascending");
    if (std::strcmp(order, "descending") == 0) {
      made->block_order = 1;
    } else if (std::strcmp(order, "shuffled") == 0) {
      made->block_order = 2;
    } else if (std::strcmp(order, "ascending") != 0) {
      refuse("FAKE_CUDA_BLOCKS", "ascending, descending or shuffled");
    }
    return made;
  }();
  return *f;
}

Counters& counters() {
  static Counters* const c = new Counters;
  return *c;
}

namespace {
struct LastFault {
  std::mutex mutex;
  // The one before stays valid for readers of the pointer.
  std::string text, before;
};
LastFault& last_fault() {
  static LastFault* const l = new LastFault;
  return *l;
}
}  // namespace

void note_fault(const std::string& text, bool asked_for) {
  if (!asked_for) std::fprintf(stderr, "fake_cuda: %s\n", text.c_str());
  LastFault& last = last_fault();
  const std::lock_guard lock(last.mutex);
  last.before = std::move(last.text);
  last.text = text;
}

}  // namespace fake_cuda

using fake_cuda::faults;
using fake_cuda::Result;

extern "C" {
void fake_cuda_fail_launch(int64_t nth, int code) {
  faults().launch.set(nth, code);
}
void fake_cuda_fault_launch(int64_t nth, int code) {
  faults().fault.set(nth, code);
}
void fake_cuda_fail_create(int64_t nth) {
  faults().create.set(nth, Result::kOutOfMemory);
}
void fake_cuda_fail_allocate(int64_t nth) {
  faults().allocate.set(nth, Result::kOutOfMemory);
}
void fake_cuda_fail_host_allocate(int64_t nth) {
  faults().host_allocate.set(nth, Result::kOutOfMemory);
}
void fake_cuda_slow(unsigned microseconds) { faults().slow = microseconds; }
void fake_cuda_seed(uint64_t seed) { faults().seed = seed; }
void fake_cuda_block_order(int order) { faults().block_order = order; }
const char* fake_cuda_last_fault(void) {
  fake_cuda::LastFault& last = fake_cuda::last_fault();
  const std::lock_guard lock(last.mutex);
  return last.text.c_str();
}
}
