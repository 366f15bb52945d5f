#include "frontend/compile/window.h"

#include "c10/dispatch/capture.h"

namespace sy::compiling {

Window::Window(const void* at, size_t bytes)
    : at_(static_cast<const char*>(at)), units_(bytes / sizeof(uint32_t)) {
  const char* from = at_;
  for (Unit& u : units_) {
    WatchedBytes::take(from, &u.was, sizeof u.was);
    from += sizeof u.was;
  }
}

bool Window::holds() noexcept {
  uint32_t differ = 0;
  const char* from = at_;
  for (const Unit& u : units_) {
    uint32_t now;
    WatchedBytes::take(from, &now, sizeof now);
    from += sizeof now;
    differ |= (now ^ u.was) & u.mask;
  }
  held_ = differ == 0;
  if (!held_) note_difference();
  return held_;
}

void Window::note_difference() noexcept {
  const char* from = at_;
  for (Unit& u : units_) {
    uint32_t now;
    WatchedBytes::take(from, &now, sizeof now);
    from += sizeof now;
    u.differed = ((now ^ u.was) & u.mask) != 0;
  }
}

void Window::follow(const Window& before) noexcept {
  if (at_ != before.at_ || size() != before.size()) return;
  for (size_t i = 0; i < units_.size(); ++i) {
    const Unit& was = before.units_[i];
    Unit& u = units_[i];
    const bool differed = was.was != u.was || (!before.held_ && was.differed);
    u.changes = was.changes + int{differed};
    u.mask = u.changes >= kRestless ? 0 : was.mask;
  }
}

void Window::rest() noexcept {
  for (Unit& u : units_) u.changes = 0;
}

}  // namespace sy::compiling
