#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "c10/plugin/load_library.h"
#include "c10/process/error.h"
#include "test/fuzz/library_target.h"

// Shared objects whose headers and notes were corrupted: some 100,000 of them,
// or as many as SY_FUZZ_RUNS says. The test changes fields, to the values at
// which readers go wrong, whole parts, and bytes.

namespace sy::fuzz {
namespace {

// The least that a library has, and where its fields lie.
class Small {
 public:
  Small() {
    // Offsets of the parts.
    const size_t segments = sizeof(Elf64_Ehdr);
    const size_t dynamic = segments + 2 * sizeof(Elf64_Phdr);
    const size_t symbols = dynamic + kEntries * sizeof(Elf64_Dyn);
    const size_t moved = symbols + sizeof(Elf64_Sym);
    const size_t notes = moved + sizeof(Elf64_Rela);
    const size_t names = notes + 3 * sizeof(LibraryNote);
    const std::string_view text("\0.note.switchyard\0.dynstr\0libc.so\0", 34);
    const size_t sections = names + 40;
    bytes.resize(sections + 6 * sizeof(Elf64_Shdr));

    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_phoff = segments;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    header.e_shoff = sections;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 6;
    header.e_shstrndx = 2;
    put(0, header);

    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_flags = PF_R | PF_W;
    segment.p_filesz = segment.p_memsz = bytes.size();
    segment.p_align = 4096;
    put(segments, segment);
    segment.p_type = PT_DYNAMIC;
    segment.p_offset = segment.p_vaddr = dynamic;
    segment.p_filesz = segment.p_memsz = kEntries * sizeof(Elf64_Dyn);
    put(segments + sizeof segment, segment);
    const Elf64_Dyn entries[kEntries] = {{DT_NEEDED, {26}},
                                         {DT_STRTAB, {names}},
                                         {DT_STRSZ, {text.size()}},
                                         {DT_SYMTAB, {symbols}},
                                         {DT_SYMENT, {sizeof(Elf64_Sym)}},
                                         {DT_RELA, {moved}},
                                         {DT_RELASZ, {sizeof(Elf64_Rela)}},
                                         {DT_RELAENT, {sizeof(Elf64_Rela)}},
                                         {DT_RELACOUNT, {1}},
                                         {DT_FLAGS_1, {DF_1_NOW}},
                                         {DT_NULL, {0}}};
    put(dynamic, entries);
    put(moved, Elf64_Rela{symbols, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0});

    put(notes, make_library_note(0, "small", ""));
    put(notes + sizeof(LibraryNote), make_library_note(3, "_", "Small"));
    put(notes + 2 * sizeof(LibraryNote), make_library_note(2, "aten", "Small"));
    bytes.replace(names, text.size(), text);

    Elf64_Shdr section{};
    section.sh_name = 1;
    section.sh_type = SHT_NOTE;
    section.sh_flags = SHF_ALLOC;
    section.sh_offset = section.sh_addr = notes;
    section.sh_size = 3 * sizeof(LibraryNote);
    put(sections + sizeof section, section);
    section.sh_name = 18;
    section.sh_type = SHT_STRTAB;
    section.sh_offset = section.sh_addr = names;
    section.sh_size = text.size();
    put(sections + 2 * sizeof section, section);
    section.sh_type = SHT_DYNSYM;
    section.sh_offset = section.sh_addr = symbols;
    section.sh_size = sizeof(Elf64_Sym);
    put(sections + 3 * sizeof section, section);
    section.sh_type = SHT_RELA;
    section.sh_offset = section.sh_addr = moved;
    section.sh_size = sizeof(Elf64_Rela);
    put(sections + 4 * sizeof section, section);
    section.sh_type = SHT_DYNAMIC;
    section.sh_offset = section.sh_addr = dynamic;
    section.sh_size = sizeof entries;
    put(sections + 5 * sizeof section, section);

    for (const auto& [at, size] :
         {std::pair{size_t{0}, notes}, {sections, bytes.size() - sections}}) {
      for (size_t k = at; k < at + size; k += 2) fields.push_back(k);
    }
    for (size_t n = 0; n < 3; ++n) {
      for (size_t k = 0; k < offsetof(LibraryNote, ns); k += 4) {
        fields.push_back(notes + n * sizeof(LibraryNote) + k);
      }
    }
  }

  std::string bytes;
  std::vector<size_t> fields;

 private:
  static constexpr size_t kEntries = 11;

  template <class T>
  void put(size_t at, const T& value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
};

class Changes {
 public:
  explicit Changes(uint32_t seed) : random_(seed) {}

  std::string make(const Small& small) {
    std::string out = small.bytes;
    for (size_t n = 1 + below(4); n > 0; --n) change(small, out);
    return out;
  }

 private:
  size_t below(size_t n) { return random_() % std::max<size_t>(n, 1); }

  uint64_t value(size_t size) {
    const uint64_t s = size;
    const uint64_t kValues[] = {0,
                                1,
                                7,
                                s - 1,
                                s,
                                s + 1,
                                0x7f,
                                0xff,
                                0x7fff,
                                0xffff,
                                0x7fffffff,
                                0x80000000,
                                0xffffffff,
                                0xfffffff8,
                                uint64_t{1} << 32,
                                uint64_t{1} << 63,
                                ~uint64_t{0},
                                ~uint64_t{0} - s,
                                ~uint64_t{0} - 63,
                                below(2 * size)};
    return kValues[below(std::size(kValues))];
  }

  void change(const Small& small, std::string& out) {
    switch (below(8)) {
      case 0: out.resize(below(out.size() + 1)); break;
      case 1:
        if (!out.empty()) out[below(out.size())] ^= char(1 << below(8));
        break;
      case 2: {  // a part becomes a copy of another
        const std::string part = out.substr(below(out.size() + 1), below(200));
        if (part.size() < out.size()) {
          out.replace(below(out.size() - part.size()), part.size(), part);
        }
        break;
      }
      case 3: out.insert(below(out.size() + 1), 1 + below(64), '\0'); break;
      default: {  // a field
        const size_t at = small.fields[below(small.fields.size())];
        const size_t size = size_t{2} << below(3);
        const uint64_t v = value(out.size());
        if (at + size <= out.size()) std::memcpy(out.data() + at, &v, size);
      }
    }
  }

  std::mt19937 random_;
};

TEST(LibraryFuzz, SmallLibraryIsReadAsItStands) {
  const auto notes = parse_library_notes(Small().bytes, "small");
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_STREQ(notes[0].ns, "small");
  EXPECT_STREQ(notes[1].key, "Small");
}

TEST(LibraryFuzz, CutAnywhere) {
  const Small small;
  for (size_t n = 0; n < small.bytes.size(); ++n) {
    EXPECT_THROW(parse_library_notes(small.bytes.substr(0, n), "cut"),
                 RegistrationError)
        << n;
    library(std::string_view(small.bytes).substr(0, n));
  }
}

TEST(LibraryFuzz, CorruptedHeadersAndNotes) {
  const char* const runs = std::getenv("SY_FUZZ_RUNS");
  const long count = runs != nullptr ? std::atol(runs) : 100000;
  const Small small;
  Changes changes(20240613);
  long refused = 0;
  for (long i = 0; i < count; ++i) {
    const std::string bytes = changes.make(small);
    library(bytes);
    try {
      parse_library_notes(bytes, "f");
    } catch (const RegistrationError&) {
      ++refused;
    }
  }
  std::printf("%ld files, %ld refused\n", count, refused);
  // Neither all nor none: the changes reach beyond the first check.
  EXPECT_GT(refused, count / 10);
  EXPECT_LT(refused, count - count / 10);
}

// Sections that all lie over one big note section must not multiply it.
TEST(LibraryFuzz, SectionsOverEachOtherEnd) {
  const Small small;
  std::string bytes = small.bytes;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  Elf64_Shdr section;
  std::memcpy(&section, bytes.data() + header.e_shoff + sizeof section,
              sizeof section);
  section.sh_offset = bytes.size();
  section.sh_flags = 0;
  for (int i = 0; i < 1000; ++i) {
    const LibraryNote note = make_library_note(0, "small", "");
    bytes.append(reinterpret_cast<const char*>(&note), sizeof note);
  }
  section.sh_size = bytes.size() - section.sh_offset;
  Elf64_Shdr kept[2];  // the names and the symbols
  std::memcpy(kept, bytes.data() + header.e_shoff + 2 * sizeof section,
              sizeof kept);
  header.e_shoff = bytes.size();
  header.e_shnum = 60000;
  header.e_shstrndx = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  for (int i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr& s = i < 2 ? kept[i] : section;
    bytes.append(reinterpret_cast<const char*>(&s), sizeof s);
  }
  library(bytes);
  EXPECT_THROW(parse_library_notes(bytes, "many"), RegistrationError);
}

}  // namespace
}  // namespace sy::fuzz
