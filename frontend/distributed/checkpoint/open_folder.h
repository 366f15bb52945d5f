#pragma once

#include <string>
#include <vector>

#include "c10/macros.h"

// A folder that was opened once: what is done in it is done there, whatever its
// path leads to meanwhile, and no symbolic link is followed. Functions throw
// FileError "[op] path: ...". For one thread.

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
  // Those of all entries, without "." and "..".
  std::vector<std::string> names() const;
  // False if another program has locked it. File systems without locks say
  // true.
  bool lock() const;

  void make_folder(const std::string& name) const;
  void rename(const std::string& from, const std::string& to) const;
  // Removes what has that name, if anything: of a folder all that is in it,
  // of a link the link.
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
