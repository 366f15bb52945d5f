#include "test/backends/cuda/fake/nvrtc/compile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <thread>

#include "test/backends/cuda/fake/nvrtc/device_rules.h"
#include "test/backends/cuda/fake/nvrtc/object.h"

extern char** environ;

namespace fake_nvrtc {
namespace {

namespace fs = std::filesystem;

// Floats are computed as the kernels of the CPU do it: an fma only where the
// source has one. Aliasing is as lax as NVRTC's.
constexpr const char* kFlags[] = {
    "-x",
    "c++",
    "-std=c++20",
    "-O1",
    "-c",
    "-H",
    "-fPIC",
    "-ffunction-sections",
    "-fdata-sections",
    "-w",
    "-fvisibility=hidden",
    "-mavx2",
    "-mfma",
    "-fno-strict-aliasing",
    "-fno-gnu-unique",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-DSY_CUDA_ON_HOST",
#ifdef __SANITIZE_ADDRESS__
    "-fsanitize=address",
    "-g1",
#endif
};

// Races are looked for (on_host/checked.h). AddressSanitizer excludes it.
constexpr const char* kCheckedFlags[] = {
    "-fsanitize=thread",
    "--param=tsan-distinguish-volatile=1",
    "--param=tsan-instrument-func-entry-exit=0",
};

bool races_are_checked() {
#ifdef __SANITIZE_ADDRESS__
  return false;
#else
  const char* v = std::getenv("FAKE_CUDA_RACES");
  return v == nullptr || std::strcmp(v, "0") != 0;
#endif
}

std::string from_environment(const char* name, const std::string& otherwise) {
  const char* v = std::getenv(name);
  return v == nullptr || *v == 0 ? otherwise : v;
}

std::string temporary_folder() { return from_environment("TMPDIR", "/tmp"); }

// The folder of cuda_on_host.h: $FAKE_CUDA_INCLUDE, or that of this library.
std::string include_folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&include_folder), &info);
  const std::string library = info.dli_fname == nullptr ? "" : info.dli_fname;
  return from_environment("FAKE_CUDA_INCLUDE",
                          fs::path(library).parent_path().string());
}

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool write_file(const fs::path& path, const std::string& text) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  return static_cast<bool>(out);
}

// Two different 64-bit hashes, each part with its length.
class Hash {
 public:
  void add(const std::string& part) {
    add_number(part.size());
    for (const char c : part) mix(static_cast<unsigned char>(c));
  }
  // The files of a folder that a source may include.
  void add_folder(const std::string& folder) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::recursive_directory_iterator
             it(folder, fs::directory_options::follow_directory_symlink, error),
         end;
         !error && it != end; it.increment(error)) {
      const std::string kind = it->path().extension().string();
      if (kind == ".h" || kind == ".cuh" || kind == ".cu") {
        files.push_back(it->path());
      }
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& f : files) {
      add(f.string());
      add(read_file(f).value_or(""));
    }
  }
  std::string text() const {
    char t[40];
    std::snprintf(t, sizeof t, "%016llx%016llx",
                  static_cast<unsigned long long>(a_),
                  static_cast<unsigned long long>(b_));
    return t;
  }

 private:
  void add_number(uint64_t n) {
    for (int i = 0; i < 8; ++i) mix(static_cast<unsigned char>(n >> (8 * i)));
  }
  void mix(unsigned char c) {
    a_ = (a_ ^ c) * 0x100000001b3;
    b_ = (b_ + c) * 0x9e3779b97f4a7c15;
    b_ ^= b_ >> 29;
  }
  uint64_t a_ = 0xcbf29ce484222325, b_ = 0x2545f4914f6cdd1d;
};

// Runs a command. Returns how it ended, "" if it was good. Its stderr goes to a
// file.
std::string run(const std::vector<std::string>& command,
                const std::string& log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  std::vector<char*> arguments;
  for (const std::string& c : command) {
    arguments.push_back(const_cast<char*>(c.c_str()));
  }
  arguments.push_back(nullptr);
  // A busy machine may have no process left for a while, and a file that was
  // written by a process that forks may be taken for busy.
  constexpr int kTries = 20;
  pid_t child = 0;
  int failed = 0;
  for (int i = 0; i < kTries; ++i) {
    failed = posix_spawnp(&child, arguments[0], &actions, nullptr,
                          arguments.data(), environ);
    if (failed != EAGAIN && failed != EINTR && failed != ENOMEM &&
        failed != ETXTBSY) {
      break;
    }
    std::this_thread::sleep_for(
        std::chrono::milliseconds(50 << std::min(i, 4)));
  }
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return std::string("it does not start: ") + std::strerror(failed);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno == EINTR) continue;
    return std::string("waitpid: ") + std::strerror(errno);
  }
  if (WIFSIGNALED(status)) {
    return "it was killed by signal " + std::to_string(WTERMSIG(status));
  }
  return WEXITSTATUS(status) == 0
             ? ""
             : "exit status " + std::to_string(WEXITSTATUS(status));
}

std::string compiler() { return from_environment("FAKE_CUDA_CXX", "g++"); }

// Ends the translation unit: the target that it was compiled for, and the
// function that makes a thread's copy of the shared variables
// (driver/launch.h).
std::string image_trailer(const Options& options) {
  const char* const checked = races_are_checked()
                                  ? "\n#include \"on_host/checked.h\"\n"
                                    "SY_ON_HOST_CHECKED(sy_on_host::touch)\n"
                                  : "";
  return checked +
         std::string(
             "\nextern \"C\" {\n"
             "__attribute__((visibility(\"default\"))) extern const int "
             "sy_on_host_target;\n"
             "const int sy_on_host_target = ") +
         std::to_string(options.target) +
         ";\n"
         "__attribute__((visibility(\"default\"))) "
         "__attribute__((no_sanitize(\"thread\"))) "
         "void sy_on_host_touch_shared() {\n"
         "  static thread_local volatile char touched;\n"
         "  touched = 1;\n"
         "}\n"
         "}\n";
}

std::vector<std::string> command_for(const Options& options) {
  std::vector<std::string> command = {compiler()};
  command.insert(command.end(), std::begin(kFlags), std::end(kFlags));
  if (races_are_checked()) {
    command.insert(command.end(), std::begin(kCheckedFlags),
                   std::end(kCheckedFlags));
  } else {
    command.push_back("-DSY_ON_HOST_UNCHECKED");
  }
  command.insert(command.end(), options.arguments.begin(),
                 options.arguments.end());
  command.push_back("-I" + include_folder());
  return command;
}

// A folder for one compilation, removed at the end.
class WorkFolder {
 public:
  WorkFolder() {
    std::string pattern = temporary_folder() + "/fake_nvrtc_XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string without(std::string text, const std::string& part) {
  for (size_t at; (at = text.find(part)) != std::string::npos;) {
    text.erase(at, part.size());
  }
  return text;
}

// Runs a command of g++ that writes `out`. Returns why it did not, or "".
std::string run_compiler(const std::vector<std::string>& command,
                         const std::string& log, const std::string& out) {
  const std::string ending = run(command, log);
  if (ending.empty() && fs::exists(out)) return "";
  return "fake_nvrtc: cannot run " + compiler() + ": " +
         (ending.empty() ? "it wrote no " + out : ending);
}

// The shared object of an object file. Its own functions are called, whatever
// the program has of the same name. The driver reads how much each kernel has
// of shared memory.
std::vector<std::string> link_command(const std::string& object,
                                      const std::string& out,
                                      const ObjectFacts& facts) {
  std::vector<std::string> command = {
      compiler(),
      "-shared",
      object,
      "-o",
      out,
      "-Wl,-Bsymbolic-functions",
#ifdef __SANITIZE_ADDRESS__
      "-fsanitize=address",
#endif
  };
  for (const auto& [kernel, bytes] : facts.shared) {
    command.push_back("-Wl,--defsym=sy_kernel_shared_" + kernel + "=" +
                      std::to_string(bytes));
  }
  return command;
}

// Builds out.so of the folder from its sy_unit.cpp.
Compiled build(std::vector<std::string> command, const Options& options,
               const std::string& base) {
  Compiled result;
  const std::string object = base + "/unit.o", out = base + "/out.so";
  const std::string log = base + "/log";
  for (const std::string& c :
       {"-I" + base, base + "/sy_unit.cpp", std::string("-o"), object}) {
    command.push_back(c);
  }
  const std::string failure = run_compiler(command, log, object);
  const HeaderTree headers = split_headers(read_file(log).value_or(""));
  std::vector<std::string> folders = options.include_paths;
  folders.push_back(base);
  std::string errors = check_headers(headers, folders) + headers.rest;
  ObjectFacts facts;
  if (failure.empty()) {
    facts = facts_of(read_file(object).value_or(""));
    errors += check_object(facts);
  }
  result.log = without(errors, base + "/");
  if (result.log.empty()) result.log = failure;
  if (!result.log.empty() || !failure.empty()) return result;
  result.log = run_compiler(link_command(object, out, facts), log, out);
  if (!result.log.empty()) {
    result.log += "\n" + read_file(log).value_or("");
    return result;
  }
  result.image = read_file(out).value_or("");
  result.good = true;
  return result;
}

}  // namespace

Compiled compile(const Source& source, const Options& options) {
  std::vector<std::string> command = command_for(options);
  const std::string trailer = image_trailer(options);
  Hash hash;
  for (const std::string& c : command) hash.add(c);
  hash.add(source.name);
  hash.add(source.text);
  hash.add(trailer);
  for (const auto& [name, text] : source.headers) {
    hash.add(name);
    hash.add(text);
  }
  const std::string here = include_folder();
  hash.add(read_file(here + "/cuda_on_host.h").value_or(""));
  hash.add_folder(here + "/on_host");
  for (const std::string& path : options.include_paths) hash.add_folder(path);
  const fs::path cache = from_environment(
      "FAKE_CUDA_CACHE",
      temporary_folder() + "/fake_cuda_cache_" + std::to_string(getuid()));
  const fs::path kept = cache / (hash.text() + ".so");
  Compiled result;
  if (auto image = read_file(kept)) {
    result.good = true;
    result.image = std::move(*image);
    return result;
  }

  const WorkFolder folder;
  const std::string base = folder.path().string();
  bool written = !base.empty();
  for (const auto& [name, text] : source.headers) {
    written = written && write_file(folder.path() / name, text);
  }
  const std::string main = fs::path(source.name).filename().string();
  written = written && write_file(folder.path() / main, source.text) &&
            write_file(folder.path() / "sy_unit.cpp",
                       "#include \"" + main + "\"\n" + trailer);
  if (!written) {
    result.log = "fake_nvrtc: cannot write to " + temporary_folder();
    return result;
  }
  result = build(std::move(command), options, base);
  if (!result.good) return result;
  // Others may compile the same at the same time.
  static std::atomic<int> next{0};
  const fs::path unfinished =
      cache / ("." + std::to_string(getpid()) + "_" + std::to_string(next++));
  std::error_code ignored;
  if (write_file(unfinished, result.image)) {
    fs::rename(unfinished, kept, ignored);
  }
  return result;
}

}  // namespace fake_nvrtc
