#include "codegen/tools/site.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <system_error>

#include "codegen/describe/describe.h"
#include "codegen/files.h"
#include "codegen/tools/schema_files.h"
#include "lang/format.h"

namespace sy::codegen {
namespace {

namespace fs = std::filesystem;

// The packages that the program of the site imports belong to this one.
constexpr const char* kPython = "/usr/bin/python3";

// The model has these files first.
std::span<const Family> families_of(const std::vector<std::string>& files,
                                    const Model& model) {
  const auto all = model.families();
  std::size_t n = 0;
  const auto is_next = [&](const std::string& file) {
    return short_path(file) == all[n].path;
  };
  while (n < all.size() && std::any_of(files.begin(), files.end(), is_next)) {
    ++n;
  }
  return n == 0 ? all : all.first(n);
}

std::optional<std::string> description_of(const std::vector<std::string>& with,
                                          std::ostream& err) {
  const auto schemas = schemas_with(with, err);
  if (!schemas) return std::nullopt;
  lang::Diagnostics diagnostics;
  const Model model = Model::load(schemas->files(), diagnostics);
  if (!diagnostics.empty()) {
    err << diagnostics.str_with_sources() << '\n';
    return std::nullopt;
  }
  return describe(model, families_of(schemas->own, model))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The folder site/ of the installation or, by ./sy, of the checkout.
std::string program_folder() {
  if (const char* folder = std::getenv("SWITCHYARD_SITE")) return folder;
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return program.parent_path().parent_path() / "share/switchyard/site";
}

// Makes `text` the standard input. False if there is no memory for it.
bool give_input(const std::string& text) {
  const int file = memfd_create("description", 0);
  if (file < 0) return false;
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = write(file, text.data() + at, text.size() - at);
    if (n < 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return lseek(file, 0, SEEK_SET) == 0 && dup2(file, STDIN_FILENO) >= 0;
}

}  // namespace

int describe_schemas(const std::vector<std::string>& with,
                     const std::string& file, std::ostream& out,
                     std::ostream& err) {
  const auto text = description_of(with, err);
  if (!text) return 1;
  if (!file.empty()) return write_file({file, *text + '\n'}, err) ? 0 : 1;
  out << *text << '\n';
  return 0;
}

int make_site(const SiteOptions& options, std::ostream& err) {
  const auto text = description_of(options.with, err);
  if (!text) return 1;
  const std::string program = program_folder();
  if (!fs::exists(program)) {
    err << fmt::format("sygen: error: {} does not exist, which makes sites\n",
                       program);
    return 1;
  }
  std::vector<std::string> words = {kPython, program};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  if (give_input(*text)) execv(kPython, argv.data());
  err << fmt::format("sygen: error: {}: {}\n", kPython, std::strerror(errno));
  return 1;
}

}  // namespace sy::codegen
