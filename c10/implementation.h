#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "c10/error.h"
#include "c10/macros.h"

// For kernels that choose between implementations: which there are, and which
// one ran. SWITCHYARD_TRACE=dispatch shows what they tell, `sy explain` the
// lists.

namespace sy {

struct Implementation {
  const char* name;  // "oneDNN"
  const char* when;  // what it takes, for people
};

namespace detail {
// Whether anybody listens to what kernels tell.
extern SY_API std::atomic<bool> choices_are_told;
}  // namespace detail

// The implementations of what some operators compute, in the order in which
// they are asked. A static object of the library that has the kernels; all
// texts are literals. Telling is thread-safe, and costs a load and a branch
// while no calls are traced.
class SY_API Implementations {
 public:
  static constexpr size_t kMost = 6;

  // `what` is computed: "product of matrices". `operators` are names without
  // overload, parted by spaces, in namespace aten where they name none.
  template <size_t N>
  Implementations(const char* backend, const char* what, const char* operators,
                  const Implementation (&list)[N])
      : backend_(backend), what_(what), operators_(operators), size_(N) {
    static_assert(N <= kMost);
    for (size_t i = 0; i < N; ++i) list_[i] = list[i];
    enlist();
  }
  ~Implementations();
  Implementations(const Implementations&) = delete;
  Implementations& operator=(const Implementations&) = delete;

  // Implementation i does not take the call, and `why`, a format with its
  // arguments, says the reason. Always false.
  template <class... A>
  bool declines(size_t i, FormatOf<A...> why, const A&... arguments) const {
    if (SY_UNLIKELY(told())) tell(i, str(why, arguments...));
    return false;
  }
  // Implementation i computes the result.
  void takes(size_t i) const {
    if (SY_UNLIKELY(told())) tell_taken(i);
  }

  const char* backend() const noexcept { return backend_; }
  const char* what() const noexcept { return what_; }
  const Implementation* begin() const noexcept { return list_; }
  const Implementation* end() const noexcept { return list_ + size_; }
  // `name`: "aten::mm.out"; forms of an operator share its list.
  bool is_for(const char* name) const;

 private:
  friend SY_API std::vector<const Implementations*> implementations_of(
      const char* name);
  void enlist() noexcept;
  static bool told() noexcept {
    return detail::choices_are_told.load(std::memory_order_relaxed);
  }
  SY_COLD void tell(size_t i, const std::string& why) const;
  SY_COLD void tell_taken(size_t i) const;

  const char *backend_, *what_, *operators_;
  Implementation list_[kMost];
  size_t size_;
  Implementations* next_ = nullptr;
};

// The lists for an operator, "aten::mm.out".
SY_API std::vector<const Implementations*> implementations_of(const char* name);

namespace detail {
// trace.cpp: for the call that this thread is in. An empty `why` says that the
// implementation was taken.
void trace_choice(const char* what, const char* name, const std::string& why);
}  // namespace detail

}  // namespace sy
