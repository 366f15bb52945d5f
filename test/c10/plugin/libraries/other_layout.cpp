#include "c10/plugin/library_note.h"

// The note that a library built against another SDK would carry.

namespace {
constexpr sy::LibraryNote other() {
  sy::LibraryNote note = sy::make_library_note(0, "old", "");
  note.layout ^= 1;
  note.sdk_version = 2;
  return note;
}
__attribute__((section(".note.switchyard"), used)) const sy::LibraryNote note =
    other();
}  // namespace
