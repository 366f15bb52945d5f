#pragma once

#include <exception>
#include <new>
#include <string>

#include "c10/error.h"

namespace sy::autograd {

// Runs a function of the user. What it throws leaves as sy::Error with
// `context()` as its first line; exceptions that are no sy::Error are nested in
// one. std::bad_alloc and what is no std::exception pass as they are.
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
