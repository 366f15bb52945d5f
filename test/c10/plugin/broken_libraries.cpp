#include "test/c10/plugin/broken_libraries.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <vector>

#include "c10/plugin/load_library.h"
#include "c10/process/error.h"
#include "test/c10/plugin/elf_edit.h"

namespace sy::test {

namespace {

struct Edit {
  const char* name;
  void (*change)(Elf&);
  const char* why;
};

constexpr char kTruncated[] = "build or copy it again";
constexpr char kNoRelocation[] =
    "its headers contradict each other: relocation 0 is none; build or copy it "
    "again";
constexpr char kNoSymbol[] =
    "its headers contradict each other: symbol 1 is none; build or copy it "
    "again";
constexpr char kNotFound[] =
    "its headers contradict each other: its symbols are not found by their "
    "names; build or copy it again";

const Edit kEdits[] = {
    {"no_library", [](Elf& e) { e.bytes() = "#!/bin/sh\nexit 0\n"; },
     "it is no ELF shared object; name the .so of the library"},
    {"three_bytes", [](Elf& e) { e.bytes().resize(3); },
     "it is no ELF shared object; name the .so of the library"},
    {"empty", [](Elf& e) { e.bytes().clear(); },
     "the file is empty; build or copy it again"},
    {"header_only", [](Elf& e) { e.bytes().resize(sizeof(Elf64_Ehdr)); },
     "the file is truncated: it has 64 bytes and its headers speak of more; "
     "build or copy it again"},
    {"half", [](Elf& e) { e.bytes().resize(e.bytes().size() / 2); },
     kTruncated},
    {"sections_far_away",
     [](Elf& e) { e.header().e_shoff = ~uint64_t{0} - 64; }, kTruncated},
    {"segments_far_away",
     [](Elf& e) { e.header().e_phoff = uint64_t{1} << 60; }, kTruncated},
    {"bits_32", [](Elf& e) { e.header().e_ident[EI_CLASS] = ELFCLASS32; },
     "it was built for 32 bit; build it for x86-64"},
    {"other_machine", [](Elf& e) { e.header().e_machine = EM_AARCH64; },
     "it was built for another machine; build it for x86-64"},
    {"other_byte_order",
     [](Elf& e) { e.header().e_ident[EI_DATA] = ELFDATA2MSB; },
     "it was built for another machine; build it for x86-64"},
    {"object_file", [](Elf& e) { e.header().e_type = ET_REL; },
     "it is no shared object; link it with -shared"},
    {"program",
     [](Elf& e) {
       Elf64_Dyn& d = e.dynamic(DT_RELACOUNT);
       d.d_tag = DT_FLAGS_1;
       d.d_un.d_val = DF_1_PIE;
     },
     "it is a program; link it with -shared"},
    {"nothing_loaded",
     [](Elf& e) {
       for (int i = 0; i < e.header().e_phnum; ++i) {
         if (e.segment(i).p_type == PT_LOAD) e.segment(i).p_type = PT_NULL;
       }
     },
     "its headers contradict each other: nothing of it is loaded; build or "
     "copy "
     "it again"},
    {"segment_elsewhere", [](Elf& e) { e.load(1).p_vaddr = uint64_t{1} << 60; },
     "its headers contradict each other: segment 1 that is loaded has no "
     "address that there is; build or copy it again"},
    {"segments_over_each_other",
     [](Elf& e) { e.load(1).p_vaddr = e.load(0).p_vaddr + 1; }, kTruncated},
    {"segment_too_small", [](Elf& e) { e.load(1).p_memsz = 1; },
     "its headers contradict each other: segment 1 that is loaded is smaller "
     "in "
     "memory than in the file; build or copy it again"},
    {"segment_that_no_one_reads", [](Elf& e) { e.load(0).p_flags = PF_X; },
     "its headers contradict each other: segment 0 that is loaded cannot be "
     "read; build or copy it again"},
    {"headers_of_another_size", [](Elf& e) { e.header().e_phentsize = 32; },
     "its headers contradict each other: they have another size; build or copy "
     "it again"},
    {"names_elsewhere", [](Elf& e) { e.dynamic(DT_STRTAB).d_un.d_ptr += 8; },
     "its headers contradict each other: dynamic entry 5 names no section of "
     "its "
     "kind; build or copy it again"},
    {"name_beyond_names",
     [](Elf& e) { e.dynamic(DT_NEEDED).d_un.d_val = 1 << 30; },
     "its headers contradict each other: dynamic entry 1 names nothing; build "
     "or copy it again"},
    {"entry_twice", [](Elf& e) { e.dynamic(DT_FLAGS).d_tag = DT_RELA; },
     "its headers contradict each other: dynamic entry 7 is there twice; build "
     "or copy it again"},
    {"table_without_an_entry",
     [](Elf& e) { e.dynamic(DT_INIT_ARRAY).d_tag = DT_DEBUG; }, kTruncated},
    {"relocations_of_another_size",
     [](Elf& e) { e.dynamic(DT_RELAENT).d_un.d_val = 16; },
     "its headers contradict each other: dynamic entry 9 is not 24; build or "
     "copy it again"},
    {"more_relocations_than_there_are",
     [](Elf& e) { e.dynamic(DT_RELACOUNT).d_un.d_val = 1 << 20; },
     "its headers contradict each other: more relocations are counted than "
     "there are; build or copy it again"},
    {"relocation_elsewhere",
     [](Elf& e) { e.relocation().r_offset = uint64_t{1} << 40; },
     kNoRelocation},
    {"relocation_of_no_symbol",
     [](Elf& e) {
       e.relocation().r_info = ELF64_R_INFO(1 << 20, R_X86_64_RELATIVE);
     },
     kNoRelocation},
    {"names_without_an_end", [](Elf& e) { e.last_of_names() = 'x'; },
     "its headers contradict each other: the table of names has no end; build "
     "or copy it again"},
    {"symbol_without_a_name", [](Elf& e) { e.symbol(1).st_name = 1 << 30; },
     kNoSymbol},
    {"symbol_of_no_kind", [](Elf& e) { e.symbol(1).st_info = 0x1f; },
     kNoSymbol},
    {"local_symbol_among_others", [](Elf& e) { e.symbol(1).st_info &= 0xf; },
     kNoSymbol},
    {"no_buckets", [](Elf& e) { e.hash(0) = 0; }, kNotFound},
    {"filter_of_another_size", [](Elf& e) { e.hash(2) = 3; }, kNotFound},
    {"symbols_not_in_the_table", [](Elf& e) { e.hash(1) += 1; }, kNotFound},
    {"symbol_without_a_version", [](Elf& e) { e.version(1) = 0x7abc; },
     "its headers contradict each other: symbol 1 has no version; build or "
     "copy it again"},
    {"version_of_no_library", [](Elf& e) { e.needed_version().vn_file = 0; },
     "its headers contradict each other: its versions are damaged; build or "
     "copy it again"},
    {"relocation_writes_code",
     [](Elf& e) { e.relocation().r_offset = e.dynamic(DT_INIT).d_un.d_ptr; },
     kNoRelocation},
    {"relocation_leads_out",
     [](Elf& e) { e.relocation().r_addend = int64_t{1} << 40; }, kNoRelocation},
    {"call_of_a_variable",
     [](Elf& e) { e.call(0).r_info ^= R_X86_64_JUMP_SLOT ^ R_X86_64_TPOFF64; },
     "its headers contradict each other: relocation 0 of a call is none; build "
     "or copy it again"},
    {"slot_without_an_address",
     [](Elf& e) { e.dynamic(DT_PLTGOT).d_un.d_ptr -= 8; }, kTruncated},
    {"two_writes",
     [](Elf& e) {
       (&e.relocation())[1].r_offset = e.relocation().r_offset + 4;
     },
     "its headers contradict each other: two relocations write the same place; "
     "build or copy it again"},
    {"begins_inside_a_function",
     [](Elf& e) { e.first_function().r_addend += 1; },
     "its headers contradict each other: an entry that runs first or last is "
     "no function; build or copy it again"},
    {"begins_elsewhere", [](Elf& e) { e.dynamic(DT_INIT).d_un.d_ptr += 1; },
     "its headers contradict each other: dynamic entry 12 is no function; "
     "build or copy it again"},
    {"variables_that_are_protected",
     [](Elf& e) { e.segment_of(PT_GNU_RELRO).p_memsz += 0x1000; }, kTruncated},
    {"no_note", [](Elf& e) { e.note_section().sh_type = SHT_PROGBITS; },
     "it registers nothing: there is no Switchyard note in it (no SY_LIBRARY "
     "block, or section .note.switchyard was stripped); is it the library that "
     "you mean?"},
    {"other_layout",
     [](Elf& e) {
       e.note().layout ^= 1;
       e.note().sdk_version = 2;
     },
     "; rebuild it against this SDK"},
    {"second_note_of_another_layout", [](Elf& e) { e.note(1).layout ^= 1; },
     "; rebuild it against this SDK"},
    {"other_abi", [](Elf& e) { e.note().cxx11_abi = 0; },
     "it was built with _GLIBCXX_USE_CXX11_ABI=0, this library with 1; rebuild "
     "it with the same"},
    {"other_abi_and_so_another_layout",
     [](Elf& e) {
       e.note().cxx11_abi = 0;
       e.note().layout ^= 1;
     },
     "it was built with _GLIBCXX_USE_CXX11_ABI=0, this library with 1; rebuild "
     "it with the same"},
    {"note_says_too_much", [](Elf& e) { e.note().desc_size = 0xfffffff0; },
     "its Switchyard note is damaged: it says that it has 4294967280 bytes, "
     "of 264 that are there; build it again"},
    {"note_says_too_little", [](Elf& e) { e.note().desc_size = 1; },
     "its Switchyard note is damaged: it says that it has 1 bytes, of 264 that "
     "are there; build it again"},
    {"note_of_another_size", [](Elf& e) { e.note().desc_size += 8; },
     "its Switchyard note is damaged: it says that it has 128 bytes, ours have "
     "120; build it again"},
    {"note_of_another_name", [](Elf& e) { e.note().name[0] = 's'; },
     "its Switchyard note is damaged: it has another name or type than ours; "
     "build it again"},
    {"note_with_a_long_name", [](Elf& e) { e.note().name_size = 1 << 30; },
     "its Switchyard note is damaged: it has another name or type than ours; "
     "build it again"},
    {"note_cut_off", [](Elf& e) { e.note_section().sh_size -= 130; },
     "its Switchyard note is damaged: 14 bytes are left over; build it again"},
    {"note_outside_the_file",
     [](Elf& e) { e.note_section().sh_size = uint64_t{1} << 40; }, kTruncated},
    {"block_of_no_kind", [](Elf& e) { e.note().kind = 9; },
     "its Switchyard note is damaged: there is no block of kind 9; build it "
     "again"},
    {"namespace_without_end",
     [](Elf& e) { std::memset(e.note().ns, 'a', sizeof e.note().ns); },
     "its Switchyard note is damaged: a namespace or key in it is no name; "
     "build it again"},
    {"namespace_that_is_no_name", [](Elf& e) { e.note().ns[0] = '\x1b'; },
     "its Switchyard note is damaged: a namespace or key in it is no name; "
     "build it again"},
    {"missing_library",
     [](Elf& e) { e.rename("libstdc++.so.6", "libmissin.so.6"); },
     "it needs libmissin.so.6, which is not found; install it, or name its "
     "folder in LD_LIBRARY_PATH or in the library's rpath"},
    {"missing_symbol",
     [](Elf& e) { e.rename("_ZN2sy7Library3def", "_ZN2sy7Library3dof"); },
     "nothing defines sy::Library::dof(std::basic_string_view<char, "
     "std::char_traits<char> >); link it to the library that does, and build "
     "it against this SDK"},
};

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void expect_made(bool made, const std::string& path) {
  if (!made) throw std::runtime_error("cannot make " + path);
}

}  // namespace

int try_apart(const std::string& path, const std::string& bytes,
              bool (*loads_and_runs)(const std::string& path)) {
  ::unlink(path.c_str());
  write(path, bytes);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(loads_and_runs(path) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

std::string corrupt_segments(const std::string& good, unsigned number) {
  std::string out = good;
  Elf64_Ehdr header;
  std::memcpy(&header, out.data(), sizeof header);
  std::vector<uint64_t> values(kEdges.begin(), kEdges.end());
  values.insert(values.end(), {out.size(), out.size() - 1});
  const size_t words = header.e_phnum * sizeof(Elf64_Phdr) / 4;
  const size_t size = number % 2 == 0 ? 4 : 8;
  number /= 2;
  const uint64_t value = values[number % values.size()];
  number /= static_cast<unsigned>(values.size());
  const size_t at = header.e_phoff + number % words * 4;
  std::memcpy(out.data() + at, &value, size);
  return out;
}

std::string corrupt_dynamic(const std::string& good, unsigned number) {
  Elf elf(good);
  std::mt19937 draw(number);
  const std::vector<Elf64_Dyn*> entries = elf.dynamics();
  Elf64_Dyn& one = *entries[draw() % entries.size()];
  const Elf64_Dyn& other = *entries[draw() % entries.size()];
  const int64_t tags[] = {
      DT_NULL,     DT_NEEDED,        DT_HASH,           DT_REL,    DT_RELSZ,
      DT_TEXTREL,  DT_DEBUG,         DT_RELR,           DT_RELRSZ, DT_RELRENT,
      DT_SYMBOLIC, DT_RUNPATH,       DT_AUDIT,          DT_FILTER, DT_AUXILIARY,
      DT_SYMENT,   DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ};
  const uint64_t values[] = {0,
                             1,
                             8,
                             0xfff,
                             0x1000,
                             0x7fffffff,
                             0xffffffff,
                             ~uint64_t{0},
                             uint64_t{1} << 63,
                             good.size(),
                             draw(),
                             draw() % 0x4000};
  switch (draw() % 6) {
    case 0: one.d_un.d_val = values[draw() % std::size(values)]; break;
    case 1: one.d_un.d_val += 8 * (draw() % 33) - 128; break;
    case 2: one.d_un.d_val ^= uint64_t{1} << draw() % 64; break;
    case 3: one.d_un = other.d_un; break;
    case 4: one.d_tag = tags[draw() % std::size(tags)]; break;
    default: one.d_tag = other.d_tag; break;
  }
  return elf.bytes();
}

std::string problem(const std::string& path) {
  try {
    load_library(path);
  } catch (const RegistrationError& e) {
    return e.message();
  }
  return "(loaded)";
}

std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<BrokenLibrary> break_library(const std::string& good,
                                         const std::string& folder) {
  const std::string bytes = read_bytes(good);
  std::vector<BrokenLibrary> out;
  const auto add = [&](const std::string& name, const char* why) {
    out.push_back({name, folder + "/" + name + ".so", why});
    ::unlink(out.back().path.c_str());
    ::rmdir(out.back().path.c_str());
    return out.back().path;
  };
  for (const Edit& edit : kEdits) {
    Elf elf(bytes);
    edit.change(elf);
    write(add(edit.name, edit.why), elf.bytes());
  }
  add("absent", "no such file; check the path");
  std::string path = add("folder", "it is a folder; name the library in it");
  expect_made(::mkdir(path.c_str(), 0700) == 0, path);
  path =
      add("pipe", "it is a pipe, a socket or a device; name a shared object");
  expect_made(::mkfifo(path.c_str(), 0600) == 0, path);
  path = add("link_to_itself", "the link leads back to itself; make it anew");
  expect_made(::symlink(path.c_str(), path.c_str()) == 0, path);
  path = add("world_writable",
             "every user may write it, and so choose what this program runs; "
             "chmod o-w it");
  write(path, bytes);
  expect_made(::chmod(path.c_str(), 0777) == 0, path);
  if (::geteuid() != 0) {  // who may read everything
    path = add("unreadable",
               "this user may not read it; chmod +r it, and +x its folders");
    write(path, bytes);
    expect_made(::chmod(path.c_str(), 0) == 0, path);
  }
  return out;
}

}  // namespace sy::test
