#include "frontend/compile/function.h"

#include "aten/backend/capture.h"
#include "aten/backend/pending.h"
#include "autograd/thread.h"
#include "c10/dispatch/thread_state.h"
#include "c10/plugin/load_library.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"
#include "c10/process/fork.h"
#include "frontend/compile/state.h"

namespace sy::compiling {

namespace {

// Functions of the user save tensors for gradients.
bool has_saved_hooks() {
  return autograd::detail::thread.saved_hooks != nullptr;
}

capture::Engine& engine() {
  const ForkSection section;
  static const bool loaded = [] {
    load_library("lazy").keep();
    return true;
  }();
  static_cast<void>(loaded);
  capture::Engine* const e = capture::engine();
  SY_CHECK(e != nullptr, NotImplemented,
           "[compile] expected a library that captures, found none");
  return *e;
}

// The device of the call: that of its tensors which is no CPU, if any.
Device device_of(const Arguments& a) {
  Device device(kCPU);
  for (const Tensor& t : a.tensors) {
    if (t.defined() && !t.device().is_cpu()) device = t.device();
  }
  return device;
}

bool is_captured(Device d) { return !d.is_meta() && !d.is_lazy(); }

// Runs the steps of the call, and what follows if that is known. False: it is
// as if nothing had run.
bool walk(FunctionState& s, const Arguments& a, FunctionState::Found* found,
          Outputs* out) {
  Walk walk(a);
  auto end =
      walk.along(found->paths, [&](const Variant& v) { return s.fits(a, v); });
  const bool known = end != nullptr;
  s.note_walk(walk, std::move(end), found);
  if (known && !found->checked) {
    found->variant->replay(a, walk.frame(), out);
    return true;
  }
  walk.undo();
  return false;
}

}  // namespace

Function::Function(CompileOptions options)
    : state_(std::make_unique<FunctionState>(std::move(options))) {}
Function::~Function() = default;

bool Function::call(const Arguments& a, Body body, void* context,
                    Outputs* out) {
  FunctionState& s = *state_;
  const Device device = device_of(a);
  const ThreadState& t = thread_state;
  if (t.capture != nullptr || t.transforms != nullptr || !is_captured(device) ||
      has_saved_hooks()) {
    s.count_plain(has_saved_hooks() ? "hooks of saved tensors are on"
                                    : nullptr);
    body(context, out);
    return false;
  }
  // The graph reads memory.
  for (const Tensor& argument : a.tensors) wait_pending(argument, "compile");
  FunctionState::Found found = s.find(a);
  if (found.spared)
    return s.run_spared(engine(), a, device, body, context, out);
  if (!found.paths.empty()) {
    if (walk(s, a, &found, out)) return true;
  } else if (found.variant != nullptr && !found.checked) {
    found.variant->replay(a, {}, out);
    return true;
  }
  return s.capture(engine(), a, device, body, context, out, found);
}

CompileCounters Function::counters() const { return state_->now(); }
std::string Function::explain() const { return state_->explain(); }
std::string Function::graph_text() const { return state_->graph_text(); }
void Function::reset() { state_->reset(); }

}  // namespace sy::compiling
