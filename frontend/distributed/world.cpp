#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "c10/dispatch/dispatcher.h"
#include "c10/process/error.h"
#include "frontend/distributed/context.h"
#include "frontend/distributed/group/launch.h"
#include "frontend/distributed/group/state.h"

// The functions of the world of this process, or of a thread that is a rank.

namespace sy::distributed {

namespace {

// Never destroyed: late threads may still ask for their rank.
std::atomic<Context*> process{nullptr};
std::mutex changing;

thread_local Context* of_thread = nullptr;

Context& need(const char* op) {
  Context* const c = Context::current();
  SY_CHECK(c != nullptr, Error,
           "[{}] there are no groups yet: call sy::distributed::init() first",
           op);
  SY_CHECK(!c->state()->destroyed, Error,
           "[{}] there are no groups any more: destroy_process_group() was "
           "called",
           op);
  return *c;
}

}  // namespace

Context* Context::current() noexcept {
  return of_thread != nullptr ? of_thread
                              : process.load(std::memory_order_acquire);
}

ContextGuard::ContextGuard(Context& context) noexcept
    : before_(std::exchange(of_thread, &context)) {}
ContextGuard::~ContextGuard() { of_thread = before_; }

void init_process_group(const InitOptions& options) {
  sy::init();  // begins a trace if SWITCHYARD_TRACE asks for one
  const std::lock_guard guard(changing);
  Context* const before = process.load(std::memory_order_acquire);
  SY_CHECK(
      before == nullptr || before->state()->destroyed, Error,
      "[init] init was called before; destroy_process_group() ends what it "
      "began");
  process.store(new Context(options), std::memory_order_release);
  if (before != nullptr) return;
  std::atexit([] {
    if (Context* const c = process.load()) c->destroy();
  });
}

bool is_initialized() noexcept {
  const Context* const c = Context::current();
  return c != nullptr && !c->state()->destroyed;
}

void destroy_process_group() { need("destroy_process_group").destroy(); }

int get_rank() noexcept {
  return is_initialized() ? Context::current()->rank() : 0;
}

int get_world_size() noexcept {
  return is_initialized() ? Context::current()->size() : 1;
}

int get_local_rank() noexcept { return local_rank(); }
int get_local_world_size() noexcept { return local_size(); }

Store& store() { return need("store").store(); }

std::shared_ptr<ProcessGroup> world() { return need("world").world(); }

std::shared_ptr<ProcessGroup> group_of(std::string_view name) {
  return need("group_of").group(name);
}

std::shared_ptr<ProcessGroup> new_group(std::vector<int> ranks,
                                        std::string name,
                                        std::optional<Milliseconds> timeout) {
  return need("new_group")
      .new_group(std::move(ranks), std::move(name),
                 timeout.value_or(Milliseconds(0)));
}

void barrier(const std::shared_ptr<ProcessGroup>& group) {
  (group != nullptr ? group : world())->barrier();
}

}  // namespace sy::distributed
