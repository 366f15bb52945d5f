#pragma once

#include <cstdint>

#include "c10/plugin/sdk_layout.h"

namespace sy {

// An ELF note that every registration block leaves in its shared object, so
// that a library can be checked before any of its code runs.
struct LibraryNote {
  static constexpr uint32_t kType = 1;
  static constexpr int kTextSize = 48;

  uint32_t name_size = 12;
  uint32_t desc_size = sizeof(LibraryNote) - 24;
  uint32_t type = kType;
  char name[12] = "Switchyard";
  uint32_t sdk_version =
      SY_VERSION_MAJOR * 10000 + SY_VERSION_MINOR * 100 + SY_VERSION_PATCH;
  uint32_t cxx11_abi = _GLIBCXX_USE_CXX11_ABI;
  uint64_t layout = sdk_layout_hash();
  uint32_t kind = 0;  // a LibraryKind
  char ns[kTextSize] = {};
  char key[kTextSize] = {};
  char padding[4] = {};
};

template <int N, int M>
constexpr LibraryNote make_library_note(uint32_t kind, const char (&ns)[N],
                                        const char (&key)[M]) {
  static_assert(N <= LibraryNote::kTextSize && M <= LibraryNote::kTextSize,
                "namespaces and keys have at most 47 letters");
  LibraryNote note;
  note.kind = kind;
  for (int i = 0; i < N; ++i) note.ns[i] = ns[i];
  for (int i = 0; i < M; ++i) note.key[i] = key[i];
  return note;
}

}  // namespace sy
