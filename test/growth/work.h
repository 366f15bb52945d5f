#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// How the work of a piece of code grows with its size, by a count that is the
// same on a busy machine: instructions of this thread in user mode, or where
// the kernel does not let a process count them, allocations and their bytes.

namespace sy::test {

// "instructions" or "allocations".
const char* unit_of_work();
uint64_t work_of(const std::function<void()>& f);

// Runs `f(n)` and `f(2 * n)`, each on what `prepare` made for it, which is not
// counted. Returns how much more the second takes. A first run with `n` warms
// what is made once.
double growth(const std::function<std::function<void()>(int64_t)>& prepare,
              int64_t n);

// The growth beyond which doubled work is not linear any more.
inline constexpr double kMostGrowth = 3;

}  // namespace sy::test
