#pragma once

#include <chrono>
#include <thread>

// Whether the condition comes true before a time that means "never".
template <class F>
bool eventually(const F& condition) {
  const auto never =
      std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > never) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}
