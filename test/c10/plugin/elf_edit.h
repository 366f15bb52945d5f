#pragma once

#include <elf.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "c10/plugin/library_note.h"

namespace sy::test {

// A shared object whose headers and notes can be written.
class Elf {
 public:
  explicit Elf(std::string bytes) : bytes_(std::move(bytes)) {
    const Elf64_Ehdr& h = header();
    const Elf64_Shdr names = section(h.e_shstrndx);
    for (int i = 0; i < h.e_shnum; ++i) {
      if (bytes_.c_str() + names.sh_offset + section(i).sh_name ==
          std::string_view(".note.switchyard")) {
        notes_ = i;
      }
    }
    if (notes_ < 0) throw std::runtime_error("no note in the good library");
  }

  Elf64_Ehdr& header() { return at<Elf64_Ehdr>(0); }
  Elf64_Shdr& section(int i) {
    return at<Elf64_Shdr>(header().e_shoff + header().e_shentsize * i);
  }
  Elf64_Phdr& segment(int i) {
    return at<Elf64_Phdr>(header().e_phoff + header().e_phentsize * i);
  }
  // The nth that is loaded.
  Elf64_Phdr& load(int n) {
    for (int i = 0;; ++i) {
      if (segment(i).p_type == PT_LOAD && n-- == 0) return segment(i);
    }
  }
  Elf64_Shdr& note_section() { return section(notes_); }
  LibraryNote& note(size_t i = 0) {
    return at<LibraryNote>(note_section().sh_offset + sizeof(LibraryNote) * i);
  }
  // Every text of symbols and of needed libraries that begins so.
  void rename(std::string_view from, std::string_view to) {
    if (from.size() != to.size()) throw std::logic_error("another size");
    bool found = false;
    for (size_t at = 0; (at = bytes_.find(from, at)) != bytes_.npos; ++at) {
      bytes_.replace(at, to.size(), to);
      found = true;
    }
    if (!found) throw std::runtime_error("no such text in the good library");
  }
  Elf64_Dyn& dynamic(int64_t tag) {
    for (Elf64_Dyn* d : dynamics()) {
      if (d->d_tag == tag) return *d;
    }
    throw std::runtime_error("no such dynamic entry");
  }
  // All, with the end.
  std::vector<Elf64_Dyn*> dynamics() {
    int i = 0;
    while (segment(i).p_type != PT_DYNAMIC) ++i;
    std::vector<Elf64_Dyn*> out;
    do {
      out.push_back(
          &at<Elf64_Dyn>(segment(i).p_offset + sizeof(Elf64_Dyn) * out.size()));
    } while (out.back()->d_tag != DT_NULL);
    return out;
  }
  // The first relocation; where it lies in the file is where it is loaded.
  Elf64_Rela& relocation() {
    return at<Elf64_Rela>(dynamic(DT_RELA).d_un.d_ptr);
  }
  // Entries of .dynsym, .gnu.version and .gnu.version_r.
  Elf64_Sym& symbol(size_t i) {
    return at<Elf64_Sym>(dynamic(DT_SYMTAB).d_un.d_ptr + sizeof(Elf64_Sym) * i);
  }
  uint16_t& version(size_t i) {
    return at<uint16_t>(dynamic(DT_VERSYM).d_un.d_ptr + sizeof(uint16_t) * i);
  }
  Elf64_Verneed& needed_version() {
    return at<Elf64_Verneed>(dynamic(DT_VERNEED).d_un.d_ptr);
  }
  // The words of DT_GNU_HASH.
  uint32_t& hash(size_t i) {
    return at<uint32_t>(dynamic(DT_GNU_HASH).d_un.d_ptr + sizeof(uint32_t) * i);
  }
  // The nth call by a slot.
  Elf64_Rela& call(size_t n) {
    return at<Elf64_Rela>(dynamic(DT_JMPREL).d_un.d_ptr +
                          sizeof(Elf64_Rela) * n);
  }
  // The one that writes the first function that runs first.
  Elf64_Rela& first_function() {
    const uint64_t slot = dynamic(DT_INIT_ARRAY).d_un.d_ptr;
    for (Elf64_Rela* r = &relocation();; ++r) {
      if (r->r_offset == slot) return *r;
    }
  }
  Elf64_Phdr& segment_of(uint32_t type) {
    for (int i = 0; i < header().e_phnum; ++i) {
      if (segment(i).p_type == type) return segment(i);
    }
    throw std::runtime_error("no such segment");
  }
  char& last_of_names() {
    return at<char>(dynamic(DT_STRTAB).d_un.d_ptr +
                    dynamic(DT_STRSZ).d_un.d_val - 1);
  }
  std::string& bytes() { return bytes_; }

 private:
  template <class T>
  T& at(size_t offset) {
    return *reinterpret_cast<T*>(bytes_.data() + offset);
  }
  std::string bytes_;
  int notes_ = -1;
};

}  // namespace sy::test
