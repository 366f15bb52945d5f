#pragma once

#include <string>
#include <vector>

#include "c10/macros.h"

// A folder that was opened once. Functions work in that folder, whatever its
// path leads to meanwhile, and follow no symbolic link. They throw FileError
// "[op] path: ...". For one thread.

namespace sy::distributed {

class SY_API OpenFolder {
 public:
  // Makes the folder, with those above it, if there is none.
  OpenFolder(const char* op, const std::string& path);
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;
  ~OpenFolder();

  const std::string& path() const noexcept { return path_; }
  std::string path_of(const std::string& name) const;
  // The names of all entries, without "." and "..".
  std::vector<std::string> names() const;
  // False if another program has locked it. File systems without locks say
  // true.
  bool lock() const;

  void make_folder(const std::string& name) const;
  void rename(const std::string& from, const std::string& to) const;
  // Removes the entry of that name, if there is one: a folder with all that is
  // in it, or a link without its target.
  void remove(const std::string& name) const;
  // Returns once the names in it, or in a folder of it, are on the disk. Some
  // file systems cannot do this and need not.
  void sync() const;
  void sync(const std::string& name) const;

 private:
  const char* op_;
  std::string path_;
  int fd_ = -1;
};

}  // namespace sy::distributed
