#include "frontend/distributed/group/abandoned.h"

#include <mutex>
#include <vector>

namespace sy::distributed {

void keep_for_ever(const void* memory) noexcept {
  struct List {
    std::mutex mutex;
    std::vector<const void*> memory;
  };
  if (memory == nullptr) return;
  try {
    static List& list = *new List;
    const std::lock_guard lock(list.mutex);
    list.memory.push_back(memory);
  } catch (...) {
    // It stays all the same.
  }
}

}  // namespace sy::distributed
