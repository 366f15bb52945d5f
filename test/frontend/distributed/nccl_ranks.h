#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "frontend/distributed/context.h"
#include "frontend/distributed/nccl/engine.h"

namespace sy::distributed {

// Ranks that are threads, each with an engine of its own on the libraries of
// fake_nccl.cpp, which SWITCHYARD_NCCL and SWITCHYARD_CUDART name.
class NcclRanks {
 public:
  explicit NcclRanks(int size, Milliseconds timeout = Milliseconds(5000))
      : size_(size) {
    options.timeout = timeout;
  }

  // Calls f(rank) on each rank, within its world. Throws the first error, in
  // order of ranks.
  void run(const std::function<void(int rank)>& f) {
    std::vector<std::exception_ptr> errors(static_cast<size_t>(size_));
    std::vector<std::thread> threads;
    for (int r = 0; r < size_; ++r) {
      threads.emplace_back([&, r] {
        try {
          nccl::NcclEngine engine;
          InitOptions mine = options;
          mine.with_engine = &engine;
          mine.rank = r;
          mine.size = size_;
          mine.store = std::make_shared<HashStore>(shared_);
          Context context(mine);
          const ContextGuard guard(context);
          f(r);
        } catch (...) {
          errors[static_cast<size_t>(r)] = std::current_exception();
        }
      });
    }
    for (std::thread& t : threads) t.join();
    for (const std::exception_ptr& e : errors) {
      if (e != nullptr) std::rethrow_exception(e);
    }
  }

  InitOptions options;

 private:
  const int size_;
  const std::shared_ptr<HashStore::Shared> shared_ = HashStore::make_shared();
};

}  // namespace sy::distributed
