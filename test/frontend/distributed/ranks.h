#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "frontend/distributed/context.h"
#include "test/frontend/distributed/thread_engine.h"

namespace sy::distributed {

// Ranks that are threads, each with its Context.
class Ranks {
 public:
  explicit Ranks(int size, Milliseconds timeout = Milliseconds(5000))
      : threads(size), timeout_(timeout) {}

  // Calls f(rank) on each rank, within its world. Throws the first error, in
  // order of ranks.
  void run(const std::function<void(int rank)>& f) {
    const auto shared = HashStore::make_shared();
    threads.run([&](int rank) {
      InitOptions options = this->options;
      options.with_engine = &threads.engine(rank);
      options.store = std::make_shared<HashStore>(shared);
      options.timeout = timeout_;
      Context context(options);
      const ContextGuard guard(context);
      f(rank);
    });
  }

  ThreadWorld threads;
  InitOptions options;

 private:
  Milliseconds timeout_;
};

// The message of the Error that f throws; "" if it throws none.
inline std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

}  // namespace sy::distributed
