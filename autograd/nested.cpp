#include "autograd/nested.h"

#include <exception>
#include <system_error>
#include <thread>

#include "c10/dispatch/thread_state.h"
#include "c10/process/error.h"

namespace sy::autograd {

void on_another_stack(const std::function<void()>& f) {
  const ThreadModes modes = thread_state;
  detail::Thread state = detail::thread;
  state.dead = nullptr;
  state.destroying = false;
  state.nested = 0;
  std::exception_ptr error;
  const auto body = [&] {
    const ThreadModesGuard guard(modes);
    detail::thread = state;
    try {
      f();
    } catch (...) {
      error = std::current_exception();
    }
    state.sequence_nr = detail::thread.sequence_nr;
  };
  try {
    std::thread(body).join();
  } catch (const std::system_error& e) {
    fail(ErrorKind::Error,
         "[backward] no thread for a run within {} others: {}",
         Nested::kOnAStack, e.what());
  }
  detail::thread.sequence_nr = state.sequence_nr;
  if (error) std::rethrow_exception(error);
}

}  // namespace sy::autograd
