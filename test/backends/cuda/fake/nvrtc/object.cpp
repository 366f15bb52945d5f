#include "test/backends/cuda/fake/nvrtc/object.h"

#include <elf.h>

#include <cstring>
#include <string_view>

namespace fake_nvrtc {
namespace {

constexpr std::string_view kKernel = "sy_kernel_";
constexpr std::string_view kKernelInfo = "sy_kernel_info_";

class Object {
 public:
  explicit Object(const std::string& bytes) : bytes_(bytes) {
    Elf64_Ehdr head;
    std::memcpy(&head, bytes.data(), sizeof head);
    sections_ = table<Elf64_Shdr>(head.e_shoff, head.e_shnum);
    refers_to_.resize(sections_.size());
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type != SHT_SYMTAB) continue;
      symbols_ = table<Elf64_Sym>(s.sh_offset, s.sh_size / sizeof(Elf64_Sym));
      names_ = bytes.data() + sections_[s.sh_link].sh_offset;
    }
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type != SHT_RELA) continue;
      for (const auto& r :
           table<Elf64_Rela>(s.sh_offset, s.sh_size / sizeof(Elf64_Rela))) {
        const Elf64_Sym& to = symbols_[ELF64_R_SYM(r.r_info)];
        if (is_here(to)) refers_to_[s.sh_info].push_back(to.st_shndx);
      }
    }
  }

  ObjectFacts facts() const {
    ObjectFacts found;
    for (const Elf64_Sym& s : symbols_) {
      const std::string name = names_ + s.st_name;
      if (name.empty()) continue;
      if (s.st_shndx == SHN_UNDEF) found.imports.push_back(name);
      if (is_here(s)) found.symbols.push_back(name);
      if (is_here(s) && ELF64_ST_TYPE(s.st_info) == STT_FUNC &&
          name.starts_with(kKernel) && !name.starts_with(kKernelInfo)) {
        found.shared[name.substr(kKernel.size())] = shared_from(s.st_shndx);
      }
    }
    for (const Elf64_Shdr& s : sections_) {
      if ((s.sh_flags & SHF_TLS) != 0 && s.sh_type != SHT_NOBITS) {
        found.has_initialized_shared |= s.sh_size != 0;
      }
    }
    return found;
  }

 private:
  template <class T>
  std::vector<T> table(size_t offset, size_t n) const {
    std::vector<T> out(n);
    std::memcpy(out.data(), bytes_.data() + offset, n * sizeof(T));
    return out;
  }
  bool is_here(const Elf64_Sym& s) const {
    return s.st_shndx != SHN_UNDEF && s.st_shndx < sections_.size();
  }

  // The thread-local variables that a section reaches.
  size_t shared_from(size_t section) const {
    std::vector<bool> seen(sections_.size());
    std::vector<size_t> left{section};
    size_t bytes = 0;
    while (!left.empty()) {
      const size_t at = left.back();
      left.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      const Elf64_Shdr& s = sections_[at];
      if ((s.sh_flags & SHF_TLS) != 0) {
        const size_t align = s.sh_addralign == 0 ? 1 : s.sh_addralign;
        bytes = (bytes + align - 1) / align * align + s.sh_size;
      }
      left.insert(left.end(), refers_to_[at].begin(), refers_to_[at].end());
    }
    return bytes;
  }

  const std::string& bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  const char* names_ = "";
  std::vector<std::vector<size_t>> refers_to_;  // by section
};

}  // namespace

ObjectFacts facts_of(const std::string& bytes) { return Object(bytes).facts(); }

}  // namespace fake_nvrtc
