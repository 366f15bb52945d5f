#include "frontend/distributed/checkpoint/checkpoint_folder.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "c10/process/error.h"
#include "frontend/distributed/checkpoint/checkpoint_manifest.h"
#include "frontend/io/file_error.h"

namespace sy::distributed {

namespace {

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kSaving = ".saving-", kRemoving = ".removing-";

std::string in(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.ends_with('/')) path += '/';
  path += name;
  return path;
}

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

std::string checkpoint_name(int64_t number) {
  char name[64];
  std::snprintf(name, sizeof name, "checkpoint-%08lld",
                static_cast<long long>(number));
  return name;
}

// Empty if there is no such folder.
std::vector<std::string> names_in(const char* op, const std::string& folder) {
  std::vector<std::string> names;
  DIR* const dir = ::opendir(folder.c_str());
  if (dir == nullptr) {
    if (errno == ENOENT) return names;
    throw FileError(
        str("[{}] {}: cannot list: {}", op, folder, std::strerror(errno)));
  }
  while (const dirent* const entry = ::readdir(dir)) {
    names.emplace_back(entry->d_name);
  }
  ::closedir(dir);
  return names;
}

}  // namespace

std::string checkpoint_path(const std::string& folder, int64_t number) {
  return in(folder, checkpoint_name(number));
}

std::vector<int64_t> checkpoint_numbers(const char* op,
                                        const std::string& folder) {
  std::vector<int64_t> numbers;
  for (const std::string& name : names_in(op, folder)) {
    if (!name.starts_with(kPrefix)) continue;
    int64_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [at, error] =
        std::from_chars(name.data() + kPrefix.size(), end, number);
    if (error != std::errc() || at != end || number <= 0) continue;
    if (name == checkpoint_name(number) &&
        exists(in(in(folder, name), kManifestName))) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string CheckpointFolder::hidden_path(const std::string& folder,
                                          const std::string& id) {
  return in(folder, str("{}{}", kSaving, id));
}

CheckpointFolder::CheckpointFolder(const char* op, const std::string& folder,
                                   const std::string& id)
    : op_(op), folder_(op, folder) {
  if (!folder_.lock()) {
    throw FileError(
        str("[{}] {}: expected one program to save there, another does as well",
            op, folder));
  }
  for (const std::string& name : folder_.names()) {
    if (name.starts_with(kSaving) || name.starts_with(kRemoving)) {
      folder_.remove(name);
    }
  }
  const std::vector<int64_t> there = checkpoint_numbers(op, folder);
  number_ = there.empty() ? 1 : there.back() + 1;
  const std::string name = str("{}{}", kSaving, id);
  folder_.make_folder(name);
  hidden_ = name;
}

CheckpointFolder::~CheckpointFolder() {
  if (hidden_.empty()) return;
  try {
    folder_.remove(hidden_);
  } catch (const Error&) {
    // The next attempt removes it.
  }
}

void CheckpointFolder::commit() {
  folder_.sync(hidden_);
  folder_.rename(hidden_, checkpoint_name(number_));
  hidden_.clear();
  folder_.sync();
}

void CheckpointFolder::remove_older(int64_t keep) const {
  std::vector<int64_t> there = checkpoint_numbers(op_, folder_.path());
  const auto count = static_cast<int64_t>(there.size());
  there.resize(static_cast<size_t>(std::max<int64_t>(count - keep, 0)));
  for (const int64_t number : there) {
    // Renames it first: a folder that is half removed is no checkpoint.
    const std::string gone = str("{}{}", kRemoving, number);
    folder_.rename(checkpoint_name(number), gone);
    folder_.remove(gone);
  }
}

}  // namespace sy::distributed
