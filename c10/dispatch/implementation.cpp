#include "c10/dispatch/implementation.h"

#include <algorithm>
#include <mutex>
#include <string_view>

#include "c10/process/fork.h"

namespace sy {

namespace detail {
constinit std::atomic<bool> choices_are_told{false};
}

namespace {

// Lists are made by static initialisers, in any order.
constinit ForkMutex mutex;
constinit Implementations* first = nullptr;

// "aten::addmm" of "aten::addmm_.out".
std::string_view base_of(std::string_view name) {
  name = name.substr(0, name.find('.'));
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

}  // namespace

void Implementations::enlist() noexcept {
  const std::lock_guard lock(mutex);
  next_ = first;
  first = this;
}

Implementations::~Implementations() {
  const std::lock_guard lock(mutex);
  Implementations** at = &first;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

bool Implementations::is_for(const char* name) const {
  const std::string_view wanted = base_of(name);
  std::string_view rest = operators_;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view one = rest.substr(0, end);
    if (one == wanted ||
        (wanted.starts_with("aten::") && one == wanted.substr(6))) {
      return true;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::vector<const Implementations*> implementations_of(const char* name) {
  std::vector<const Implementations*> out;
  const std::lock_guard lock(mutex);
  for (const Implementations* i = first; i != nullptr; i = i->next_) {
    if (i->is_for(name)) out.push_back(i);
  }
  return out;
}

void Implementations::tell(size_t i, const std::string& why) const {
  detail::trace_choice(what_, list_[i].name, why);
}

void Implementations::tell_taken(size_t i) const { tell(i, {}); }

}  // namespace sy
