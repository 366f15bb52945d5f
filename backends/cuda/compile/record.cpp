#include "backends/cuda/compile/record.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <utility>

#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::cuda {

namespace {

constexpr std::string_view kSuffix = ".unit";
constexpr std::string_view kCarried = "carried ", kPrinted = "printed ";

// "" for none.
const std::string& folder() {
  static const auto& path = *[] {
    const char* const set = environment("SWITCHYARD_CUDA_RECORD");
    auto* const text = new std::string(set == nullptr ? "" : set);
    if (!text->empty()) mkdir(text->c_str(), 0755);
    return text;
  }();
  return path;
}

void write(const Hash& key, const std::string& text) {
  const std::string name = folder() + "/" + hex(key) + std::string(kSuffix);
  if (access(name.c_str(), F_OK) == 0) return;
  static std::atomic<int> n = 0;
  const std::string fresh = str("{}.{}.{}", name, getpid(), ++n);
  std::ofstream out(fresh, std::ios::binary);
  out << text;
  out.close();
  if (!out || std::rename(fresh.c_str(), name.c_str()) != 0) {
    unlink(fresh.c_str());
  }
}

// Takes the text up to the character, and the character too; all that is left
// if it is missing.
std::string_view take(std::string_view* text, char end) {
  const size_t at = std::min(text->find(end), text->size());
  const std::string_view out = text->substr(0, at);
  text->remove_prefix(std::min(at + 1, text->size()));
  return out;
}

void make_carried(std::string_view source, std::vector<Define> defines,
                  RecordedUnit* out) {
  std::sort(defines.begin(), defines.end(),
            [](const Define& x, const Define& y) { return x.name < y.name; });
  out->unit = carried_unit(source, defines);
  out->key = key_of(out->unit);
  out->instance = source;
  for (const Define& d : defines) {
    out->instance += str(" {}={}", d.name, d.value);
  }
}

// False for a source that is not carried any more.
bool read(const std::string& path, RecordedUnit* out) {
  std::ifstream in(path, std::ios::binary);
  const std::string owned(std::istreambuf_iterator<char>(in), {});
  std::string_view text = owned;
  if (text.starts_with(kPrinted)) {
    text.remove_prefix(kPrinted.size());
    const std::string_view label = take(&text, '\n');
    out->kernel = text;
    out->unit = printed_unit(std::string(label), text);
  } else {
    SY_CHECK(text.starts_with(kCarried), Error,
             "[cuda] {}: is no record of a unit", path);
    text.remove_prefix(kCarried.size());
    const std::string_view source = take(&text, '\n');
    if (find_source(source) == nullptr) return false;
    std::vector<Define> defines;
    while (!text.empty()) {
      std::string_view line = take(&text, '\n');
      const std::string_view name = take(&line, ' ');
      defines.push_back({name, line});
    }
    make_carried(source, std::move(defines), out);
    return true;
  }
  out->key = key_of(out->unit);
  return true;
}

}  // namespace

void record_carried(const Hash& key, std::string_view source,
                    ArrayRef<Define> defines) noexcept {
  if (folder().empty()) return;
  try {
    std::string text = str("{}{}\n", kCarried, source);
    for (const Define& d : defines) text += str("{} {}\n", d.name, d.value);
    write(key, text);
  } catch (const std::exception&) {  // no memory
  }
}

void record_printed(const Hash& key, std::string_view label,
                    std::string_view kernel) noexcept {
  if (folder().empty()) return;
  try {
    write(key, str("{}{}\n{}", kPrinted, label, kernel));
  } catch (const std::exception&) {
  }
}

std::vector<RecordedUnit> read_instances(const std::string& file) {
  std::ifstream in(file);
  SY_CHECK(in.is_open(), Error, "[cuda] cannot read {}", file);
  std::vector<RecordedUnit> out;
  std::string line;
  while (std::getline(in, line)) {
    std::string_view text = std::string_view(line).substr(0, line.find('#'));
    const std::string_view source = take(&text, ' ');
    if (source.empty()) continue;
    std::vector<Define> defines;
    while (!text.empty()) {
      std::string_view word = take(&text, ' ');
      if (word.empty()) continue;
      const std::string_view name = take(&word, '=');
      defines.push_back({name, word});
    }
    make_carried(source, std::move(defines), &out.emplace_back());
  }
  return out;
}

std::vector<RecordedUnit> read_records(const std::string& folder) {
  DIR* const d = opendir(folder.c_str());
  SY_CHECK(d != nullptr, Error, "[cuda] {}: is no folder of records", folder);
  std::vector<std::string> names;
  while (const dirent* const e = readdir(d)) {
    if (std::string_view(e->d_name).ends_with(kSuffix)) {
      names.push_back(folder + "/" + e->d_name);
    }
  }
  closedir(d);
  std::vector<RecordedUnit> out;
  for (const std::string& name : names) {
    RecordedUnit u;
    if (read(name, &u)) out.push_back(std::move(u));
  }
  const auto by_key = [](const RecordedUnit& x, const RecordedUnit& y) {
    return x.key < y.key;
  };
  std::sort(out.begin(), out.end(), by_key);
  const auto same = [](const RecordedUnit& x, const RecordedUnit& y) {
    return x.key == y.key;
  };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

}  // namespace sy::cuda
