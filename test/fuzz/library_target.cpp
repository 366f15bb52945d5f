#include "test/fuzz/library_target.h"

#include <cstring>
#include <vector>

#include "c10/plugin/load_library.h"
#include "c10/process/error.h"
#include "test/fuzz/promise.h"

namespace sy::fuzz {

void library(std::string_view bytes) {
  std::vector<LibraryNote> notes;
  try {
    notes = parse_library_notes(bytes, "f");
  } catch (const RegistrationError& e) {
    const std::string& text = e.message();
    promise(text.starts_with("cannot load library f: "),
            "an error names the file");
    promise(text.find("; ") != text.npos, "an error says what to do");
    promise(text.size() < 300, "an error is short");
  }
  promise(notes.size() <= 100000, "sections over each other end");
  for (const LibraryNote& n : notes) {
    promise(std::memchr(n.ns, 0, sizeof n.ns) != nullptr &&
                std::memchr(n.key, 0, sizeof n.key) != nullptr,
            "a name ends");
  }
}

}  // namespace sy::fuzz
