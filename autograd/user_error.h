#pragma once

#include <exception>
#include <new>
#include <string>

#include "c10/process/error.h"

namespace sy::autograd {

// Runs a function of the user. Its exceptions leave as sy::Error with
// `context()` as the first line. An exception that is not an sy::Error is
// nested in one. std::bad_alloc, and objects that are no std::exception, pass
// unchanged.
template <class F, class Context>
void call_user(F&& f, Context&& context) {
  try {
    f();
  } catch (Error& e) {
    e.add_context(context());
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    std::throw_with_nested(Error(str("{}\n{}", context(), e.what())));
  }
}

}  // namespace sy::autograd
