#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "c10/macros.h"
#include "c10/process/error.h"

// Some kernels choose between implementations. They list them here, and tell
// which one runs. SWITCHYARD_TRACE=dispatch prints the choices, `sy explain`
// the lists.

namespace sy {

struct Implementation {
  const char* name;  // "oneDNN"
  const char* when;  // which calls it takes, for people
};

namespace detail {
// Whether choices are recorded: only while calls are traced.
extern SY_API std::atomic<bool> choices_are_told;
}  // namespace detail

// The implementations that some operators choose from, in the order in which
// they are tried. Make it a static object of the library that has the kernels;
// all texts are literals. declines() and takes() are thread-safe, and cost a
// load and a branch while no calls are traced.
class SY_API Implementations {
 public:
  static constexpr size_t kMost = 6;

  // `what` names the computation: "product of matrices". `operators` are names
  // without overload, separated by spaces; those without a namespace are in
  // aten.
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

  // Tells that implementation i does not take the call. `why`, a format with
  // its arguments, is the reason. Always returns false.
  template <class... A>
  bool declines(size_t i, FormatOf<A...> why, const A&... arguments) const {
    if (SY_UNLIKELY(told())) tell(i, str(why, arguments...));
    return false;
  }
  // Tells that implementation i computes the result.
  void takes(size_t i) const {
    if (SY_UNLIKELY(told())) tell_taken(i);
  }

  const char* backend() const noexcept { return backend_; }
  const char* what() const noexcept { return what_; }
  const Implementation* begin() const noexcept { return list_; }
  const Implementation* end() const noexcept { return list_ + size_; }
  // Whether the list is for the operator `name`, "aten::mm.out". All forms of
  // an operator share its list.
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

// All lists for an operator, "aten::mm.out".
SY_API std::vector<const Implementations*> implementations_of(const char* name);

namespace detail {
// In trace.cpp. Records a choice of the call that this thread is in. An empty
// `why` means that the implementation was taken.
void trace_choice(const char* what, const char* name, const std::string& why);
}  // namespace detail

}  // namespace sy
