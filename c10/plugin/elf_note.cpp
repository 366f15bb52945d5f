#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "c10/plugin/elf_dynamic.h"
#include "c10/plugin/elf_segments.h"
#include "c10/plugin/library.h"
#include "c10/plugin/library_file.h"
#include "c10/plugin/load_library.h"
#include "c10/process/error.h"

namespace sy {

namespace {

// The head of a note in every version of the SDK.
struct NoteHead {
  uint32_t name_size, desc_size, type;
  char name[12];
  uint32_t sdk_version, cxx11_abi;
  uint64_t layout;
};
constexpr uint64_t kNoteStart = 24;  // before what desc_size counts
static_assert(offsetof(NoteHead, sdk_version) == kNoteStart &&
              offsetof(LibraryNote, layout) == offsetof(NoteHead, layout) &&
              offsetof(LibraryNote, kind) == sizeof(NoteHead));

constexpr std::string_view kSection = ".note.switchyard";
// One block is one note; sections that lie over each other end here.
constexpr size_t kMostNotes = 100000;

class File {
 public:
  explicit File(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) reject_library(path, why_not_opened(errno));
    struct stat info {};
    if (fstat(fd_, &info) != 0) {
      close(fd_);
      reject_library(path, std::strerror(errno));
    }
    const bool folder = S_ISDIR(info.st_mode);
    if (!S_ISREG(info.st_mode)) {
      close(fd_);
      reject_library(path, folder
                               ? "it is a folder; name the library in it"
                               : "it is a pipe, a socket or a device; name a "
                                 "shared object");
    }
    size_ = static_cast<uint64_t>(info.st_size);
  }
  ~File() { close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  uint64_t size() const { return size_; }
  bool read(uint64_t offset, void* to, size_t n) const {
    return pread(fd_, to, n, static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(n);
  }

 private:
  int fd_;
  uint64_t size_ = 0;
};

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  uint64_t size() const { return bytes_.size(); }
  bool read(uint64_t offset, void* to, size_t n) const {
    std::memcpy(to, bytes_.data() + offset, n);
    return true;
  }

 private:
  std::string_view bytes_;
};

// Bounds-checked reads of headers out of the file.
template <class Source>
class Image {
 public:
  Image(const std::string& path, const Source& source)
      : path_(path), source_(source) {}

  [[noreturn]] void reject(const std::string& why) const {
    reject_library(path_, why);
  }
  void need(uint64_t offset, uint64_t size) const {
    if (offset > source_.size() || size > source_.size() - offset) {
      reject(
          str("the file is truncated: it has {} bytes and its headers speak of "
              "more; build or copy it again",
              source_.size()));
    }
  }
  void read(uint64_t offset, void* to, size_t n) const {
    need(offset, n);
    if (!source_.read(offset, to, n)) {
      reject("it cannot be read, or became shorter just now; try again");
    }
  }
  template <class T>
  T at(uint64_t offset) const {
    T out;
    read(offset, &out, sizeof(T));
    return out;
  }
  // A table of `n` headers of one kind.
  template <class T>
  std::vector<T> table(uint64_t offset, uint64_t n, uint64_t entry_size) const {
    if (n == 0) return {};
    if (entry_size != sizeof(T)) contradict("they have another size");
    need(offset, n * sizeof(T));
    std::vector<T> out(n);
    read(offset, out.data(), n * sizeof(T));
    return out;
  }
  bool has_text(uint64_t offset, std::string_view text) const {
    std::string there(text.size() + 1, '\0');
    if (offset > source_.size() || there.size() > source_.size() - offset) {
      return false;
    }
    read(offset, there.data(), there.size());
    return std::string_view(there.c_str()) == text && there.back() == '\0';
  }

  void check_header(const Elf64_Ehdr& header) const {
    if (header.e_ident[EI_CLASS] == ELFCLASS32) {
      reject("it was built for 32 bit; build it for x86-64");
    }
    if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != EM_X86_64) {
      reject("it was built for another machine; build it for x86-64");
    }
    if (header.e_type != ET_DYN) {
      reject("it is no shared object; link it with -shared");
    }
  }

  std::vector<LibraryNote> notes(const Elf64_Ehdr& header) const {
    const auto segments =
        table<Elf64_Phdr>(header.e_phoff, header.e_phnum, header.e_phentsize);
    const auto sections =
        table<Elf64_Shdr>(header.e_shoff, header.e_shnum, header.e_shentsize);
    for (const Elf64_Phdr& s : segments) {
      if (s.p_type == PT_LOAD) need(s.p_offset, s.p_filesz);
    }
    const std::string problem = segment_problem(segments, sections);
    if (!problem.empty()) contradict(problem);
    for (const Elf64_Phdr& s : segments) {
      if (s.p_type == PT_DYNAMIC) check_dynamic(header, s, segments, sections);
    }
    std::vector<LibraryNote> out;
    if (header.e_shstrndx >= sections.size()) return out;
    const Elf64_Shdr& names = sections[header.e_shstrndx];
    need(names.sh_offset, 0);
    for (const Elf64_Shdr& s : sections) {
      if (s.sh_type == SHT_NOTE &&
          has_text(names.sh_offset + s.sh_name, kSection)) {
        need(s.sh_offset, s.sh_size);
        read_section(s.sh_offset, s.sh_size, out);
      }
    }
    return out;
  }

 private:
  [[noreturn]] void contradict(const std::string& how) const {
    reject(str("its headers contradict each other: {}; build or copy it again",
               how));
  }
  [[noreturn]] void damaged(const std::string& how) const {
    reject(str("its Switchyard note is damaged: {}; build it again", how));
  }

  void check_dynamic(const Elf64_Ehdr& header, const Elf64_Phdr& s,
                     const std::vector<Elf64_Phdr>& segments,
                     const std::vector<Elf64_Shdr>& sections) const {
    std::vector<Elf64_Dyn> entries = table<Elf64_Dyn>(
        s.p_offset, s.p_filesz / sizeof(Elf64_Dyn), sizeof(Elf64_Dyn));
    const auto end =
        std::find_if(entries.begin(), entries.end(),
                     [](const auto& d) { return d.d_tag == DT_NULL; });
    if (end == entries.end()) contradict("the dynamic segment has no end");
    entries.erase(end, entries.end());
    // dlopen would say no more of a program than that it cannot load it.
    for (const Elf64_Dyn& d : entries) {
      if (d.d_tag == DT_FLAGS_1 && (d.d_un.d_val & DF_1_PIE) != 0) {
        reject("it is a program; link it with -shared");
      }
    }
    const std::string problem = dynamic_problem(entries, sections);
    if (!problem.empty()) contradict(problem);
    const ElfTables tables = tables_of(header, entries, segments, sections);
    if (tables.names.back() != '\0') {
      contradict("the table of names has no end");
    }
    for (const auto check : {part_problem, symbol_problem, hash_problem,
                             version_problem, relocation_problem}) {
      const std::string why = check(tables);
      if (!why.empty()) contradict(why);
    }
  }

  // The tables of a file whose entries are known to be sections.
  ElfTables tables_of(const Elf64_Ehdr& header,
                      const std::vector<Elf64_Dyn>& entries,
                      const std::vector<Elf64_Phdr>& segments,
                      const std::vector<Elf64_Shdr>& sections) const {
    ElfTables t;
    t.headers_at = header.e_phoff;
    if (header.e_shstrndx < sections.size()) {
      const Elf64_Shdr& names = sections[header.e_shstrndx];
      t.section_names = bytes(names.sh_offset, names.sh_size);
    }
    t.segments = segments;
    t.sections = sections;
    t.entries = entries;
    const auto section = [&](int64_t tag) -> const Elf64_Shdr* {
      const Elf64_Dyn* const e = find_entry(entries, tag);
      const auto at =
          std::find_if(sections.begin(), sections.end(), [&](const auto& s) {
            return e != nullptr && s.sh_addr == e->d_un.d_ptr &&
                   s.sh_size != 0 && (s.sh_flags & SHF_ALLOC) != 0;
          });
      return at == sections.end() ? nullptr : &*at;
    };
    const auto text = [&](int64_t tag) {
      const Elf64_Shdr* const s = section(tag);
      return s == nullptr ? std::string() : bytes(s->sh_offset, s->sh_size);
    };
    t.names = text(DT_STRTAB);
    if (t.names.empty()) contradict("the table of names is empty");
    fill(t.symbols, section(DT_SYMTAB));
    if (const Elf64_Shdr* const s = section(DT_SYMTAB)) {
      t.first_global = s->sh_info;
    }
    t.hash = text(DT_HASH);
    t.gnu_hash = text(DT_GNU_HASH);
    fill(t.versions, section(DT_VERSYM));
    t.needed_versions = text(DT_VERNEED);
    t.defined_versions = text(DT_VERDEF);
    // The sections of one table all have the kind of the first.
    const auto whole = [&](int64_t tag, int64_t size_tag, auto& out) {
      const Elf64_Shdr* const first = section(tag);
      const Elf64_Dyn* const size = find_entry(entries, size_tag);
      if (first == nullptr || size == nullptr) return;
      Elf64_Shdr s = *first;
      s.sh_size = size->d_un.d_val;
      fill(out, &s);
    };
    whole(DT_RELA, DT_RELASZ, t.relocations);
    whole(DT_JMPREL, DT_PLTRELSZ, t.calls);
    whole(DT_RELR, DT_RELRSZ, t.packed);
    for (const Elf64_Shdr& s : sections) {
      if (s.sh_type == SHT_SYMTAB) fill(t.all_symbols, &s);
      if (s.sh_type == SHT_INIT_ARRAY || s.sh_type == SHT_FINI_ARRAY) {
        t.first_and_last.push_back({s.sh_addr, {}});
        fill(t.first_and_last.back().slots, &s);
      }
    }
    add_frames(t);
    return t;
  }

  template <class T>
  void fill(std::vector<T>& out, const Elf64_Shdr* s) const {
    if (s == nullptr) return;
    if (s->sh_size % sizeof(T) != 0) contradict("a table has a part of a line");
    out = table<T>(s->sh_offset, s->sh_size / sizeof(T), sizeof(T));
  }

  std::string bytes(uint64_t offset, uint64_t size) const {
    need(offset, size);
    std::string out(size, '\0');
    read(offset, out.data(), size);
    return out;
  }

  void add_frames(ElfTables& t) const {
    for (const Elf64_Phdr& s : t.segments) {
      if (s.p_type != PT_GNU_EH_FRAME) continue;
      t.frame_index = bytes(s.p_offset, s.p_filesz);
      t.frame_index_at = s.p_vaddr;
    }
    int32_t distance = 0;  // of .eh_frame, from this field
    if (!read_at(t.frame_index, 4, distance)) return;
    const uint64_t at =
        t.frame_index_at + 4 + static_cast<uint64_t>(int64_t{distance});
    for (const Elf64_Shdr& s : t.sections) {
      if (s.sh_addr != at || (s.sh_flags & SHF_ALLOC) == 0 ||
          s.sh_type == SHT_NOBITS || s.sh_size == 0) {
        continue;
      }
      t.frames = bytes(s.sh_offset, s.sh_size);
      t.frames_at = at;
    }
  }

  void read_section(uint64_t begin, uint64_t size,
                    std::vector<LibraryNote>& out) const {
    for (uint64_t at = 0; at < size;) {
      const uint64_t left = size - at;
      if (left < sizeof(NoteHead)) {
        damaged(str("{} bytes are left over", left));
      }
      const auto head = this->at<NoteHead>(begin + at);
      if (head.name_size != sizeof head.name ||
          head.type != LibraryNote::kType ||
          std::memcmp(head.name, LibraryNote{}.name, sizeof head.name) != 0) {
        damaged("it has another name or type than ours");
      }
      if (head.desc_size < sizeof(NoteHead) - kNoteStart ||
          head.desc_size > left - kNoteStart) {
        damaged(str("it says that it has {} bytes, of {} that are there",
                    head.desc_size, left - kNoteStart));
      }
      if (out.size() == kMostNotes) {
        damaged(str("there are more than {}", kMostNotes));
      }
      out.push_back(read_note(begin + at, head));
      at += kNoteStart + head.desc_size;
    }
  }

  // Reads only what all versions have in common if the layout is another one.
  LibraryNote read_note(uint64_t at, const NoteHead& head) const {
    LibraryNote note;
    note.desc_size = head.desc_size;
    note.sdk_version = head.sdk_version;
    note.cxx11_abi = head.cxx11_abi;
    note.layout = head.layout;
    if (head.layout != LibraryNote{}.layout) return note;
    if (head.desc_size != LibraryNote{}.desc_size) {
      damaged(str("it says that it has {} bytes, ours have {}", head.desc_size,
                  LibraryNote{}.desc_size));
    }
    note = this->at<LibraryNote>(at);
    if (note.kind > static_cast<uint32_t>(LibraryKind::Backend)) {
      damaged(str("there is no block of kind {}", note.kind));
    }
    if (!is_name(note.ns) || !is_name(note.key)) {
      damaged("a namespace or key in it is no name");
    }
    return note;
  }

  static bool is_name(const char (&text)[LibraryNote::kTextSize]) {
    const auto* const end = std::find(std::begin(text), std::end(text), '\0');
    return end != std::end(text) && std::all_of(text, end, [](char c) {
             return ('0' <= c && c <= '9') || ('a' <= c && c <= 'z') ||
                    ('A' <= c && c <= 'Z') || c == '_';
           });
  }

  const std::string& path_;
  const Source& source_;
};

template <class Source>
std::vector<LibraryNote> notes_of(const std::string& path,
                                  const Source& source) {
  const Image image(path, source);
  if (source.size() == 0) {
    image.reject("the file is empty; build or copy it again");
  }
  char magic[SELFMAG] = {};
  if (source.size() >= SELFMAG) image.read(0, magic, SELFMAG);
  if (std::memcmp(magic, ELFMAG, SELFMAG) != 0) {
    image.reject("it is no ELF shared object; name the .so of the library");
  }
  const auto header = image.template at<Elf64_Ehdr>(0);
  image.check_header(header);
  return image.notes(header);
}

}  // namespace

std::vector<LibraryNote> read_library_notes(const std::string& path) {
  const std::string file = find_library(path);
  return notes_of(file, File(file));
}

std::vector<LibraryNote> parse_library_notes(std::string_view bytes,
                                             const std::string& path) {
  return notes_of(path, Bytes(bytes));
}

}  // namespace sy
