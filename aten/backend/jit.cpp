#include "aten/backend/jit.h"

#include "c10/device/backend.h"
#include "c10/device/backend_service.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/error.h"

namespace sy::jit {

namespace {

template <class F>
auto ask(const F& f) {
  const CallScope scope;
  void* service = backend_service(kCPU, BackendService::kCompiler);
  if (service == nullptr) {
    init();  // the services of linked libraries are there from now on
    service = backend_service(kCPU, BackendService::kCompiler);
  }
  auto* const compiler = static_cast<Compiler*>(service);
  SY_CHECK(compiler != nullptr, NotImplemented,
           "[jit] expected a backend that compiles, got none for the CPU");
  return f(*compiler);
}

}  // namespace

Compiler::~Compiler() = default;

Counters counters() {
  return ask([](const Compiler& c) { return c.counters(); });
}

std::string counters_text() {
  const Counters c = counters();
  std::string text;
  const auto line = [&](const char* what, int64_t n) {
    text += str("{} {}\n", n, what);
  };
  line("compiled programs in memory", c.kernels);
  line("bytes of their code", c.bytes);
  line("runs of compiled programs", c.runs);
  line("compiled by this process", c.compiled);
  line("read from the folder", c.loaded);
  line("refused", c.refused);
  line("failed for want of memory", c.failed);
  line("evicted", c.evicted);
  line("queued", c.queued);
  line("us compiling", c.compile_ns / 1000);
  line("us calls waited", c.blocked_ns / 1000);
  return text;
}

std::string programs_text() {
  return ask([](const Compiler& c) { return c.programs_text(false); });
}
std::string code_text() {
  return ask([](const Compiler& c) { return c.programs_text(true); });
}

Mode mode() {
  return ask([](const Compiler& c) { return c.mode(); });
}
void set_mode(Mode m) {
  ask([&](Compiler& c) { c.set_mode(m); });
}
void set_max_kernels(int64_t n) {
  SY_CHECK(n > 0, Value, "[jit] max_kernels: expected at least 1, got {}", n);
  ask([&](Compiler& c) { c.set_max_kernels(n); });
}
void finish() {
  ask([](Compiler& c) { c.finish(); });
}
void clear() {
  ask([](Compiler& c) { c.clear(); });
}

}  // namespace sy::jit
