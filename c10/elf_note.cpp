#include <elf.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "c10/error.h"
#include "c10/plugin.h"

namespace sy {

namespace {

[[noreturn]] void reject(const std::string& path, const std::string& why) {
  throw RegistrationError(str("cannot load library ", path, ": ", why));
}

std::vector<char> read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) reject(path, std::strerror(errno));
  std::vector<char> bytes((std::istreambuf_iterator<char>(in)),
                          std::istreambuf_iterator<char>());
  if (in.bad()) reject(path, "it cannot be read (is it a folder?)");
  return bytes;
}

// Bounds-checked reads of headers out of the file.
class Image {
 public:
  Image(const std::string& path, const std::vector<char>& bytes)
      : path_(path), bytes_(bytes) {}

  template <class T>
  T at(uint64_t offset) const {
    need(offset, sizeof(T));
    T out;
    std::memcpy(&out, bytes_.data() + offset, sizeof(T));
    return out;
  }
  void need(uint64_t offset, uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      reject(path_, str("the file is truncated: it has ", bytes_.size(),
                        " bytes and its headers speak of ", offset + size,
                        "; build or copy it again"));
    }
  }
  std::string_view text(uint64_t offset) const {
    need(offset, 1);
    const char* begin = bytes_.data() + offset;
    return {begin, strnlen(begin, bytes_.size() - offset)};
  }

 private:
  const std::string& path_;
  const std::vector<char>& bytes_;
};

}  // namespace

std::vector<LibraryNote> read_library_notes(const std::string& path) {
  const std::vector<char> bytes = read_all(path);
  if (bytes.size() < SELFMAG ||
      std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    reject(path, "it is no ELF shared object");
  }
  const Image image(path, bytes);
  const auto header = image.at<Elf64_Ehdr>(0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) {
    reject(path, "it was built for another machine than x86-64");
  }
  if (header.e_type != ET_DYN) {
    reject(path, "it is no shared object; link it with -shared");
  }
  for (int i = 0; i < header.e_phnum; ++i) {
    const auto segment =
        image.at<Elf64_Phdr>(header.e_phoff + uint64_t{header.e_phentsize} * i);
    if (segment.p_type == PT_LOAD) {
      image.need(segment.p_offset, segment.p_filesz);
    }
  }
  std::vector<LibraryNote> notes;
  const auto section = [&](uint32_t i) {
    return image.at<Elf64_Shdr>(header.e_shoff +
                                uint64_t{header.e_shentsize} * i);
  };
  if (header.e_shnum > 0 && header.e_shstrndx < header.e_shnum) {
    const Elf64_Shdr names = section(header.e_shstrndx);
    for (uint32_t i = 0; i < header.e_shnum; ++i) {
      const Elf64_Shdr s = section(i);
      if (image.text(names.sh_offset + s.sh_name) != ".note.switchyard") {
        continue;
      }
      // The fixed head is the same in every version: what follows it is only
      // read if the layout says so, which load_library checks first.
      for (uint64_t at = 0; at + sizeof(LibraryNote) <= s.sh_size;
           at += sizeof(LibraryNote)) {
        auto note = image.at<LibraryNote>(s.sh_offset + at);
        if (std::strncmp(note.name, "Switchyard", sizeof note.name) != 0) {
          break;
        }
        note.ns[LibraryNote::kTextSize - 1] = 0;
        note.key[LibraryNote::kTextSize - 1] = 0;
        notes.push_back(note);
      }
    }
  }
  return notes;
}

}  // namespace sy
