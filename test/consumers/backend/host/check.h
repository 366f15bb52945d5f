#pragma once

#include <sy/sy.h>

#include <functional>
#include <string>
#include <string_view>

// Checks that print a line each and are counted.

namespace host {

// Prints "PASS what" or "FAIL what".
void check(bool holds, std::string_view what);
// Passes if `body` throws an E whose message has every one of `parts`.
template <class E>
void check_throws(std::string_view what, const std::function<void()>& body,
                  std::initializer_list<std::string_view> parts);
// Passes if the tensors, brought to the CPU, differ by at most 1e-5.
void check_close(const sy::Tensor& got, const sy::Tensor& expected,
                 std::string_view what);
// Runs checks; an exception that leaves them is a failure.
void section(std::string_view name, const std::function<void()>& checks);

int passed();
int failed();

namespace detail {
void check_message(std::string_view what, const std::string& message,
                   std::initializer_list<std::string_view> parts);
}

template <class E>
void check_throws(std::string_view what, const std::function<void()>& body,
                  std::initializer_list<std::string_view> parts) {
  std::string message;
  try {
    body();
    message = "(nothing was thrown)";
  } catch (const E& e) {
    detail::check_message(what, e.what(), parts);
    return;
  } catch (const std::exception& e) {
    message = std::string("(another kind) ") + e.what();
  }
  check(false, std::string(what) + ": " + message);
}

}  // namespace host
