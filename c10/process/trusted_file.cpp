#include "c10/process/trusted_file.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "c10/process/error.h"

namespace sy {

std::string why_untrusted(const std::string& name) {
  char resolved[PATH_MAX];
  if (realpath(name.c_str(), resolved) == nullptr) return {};
  const std::string path = resolved;
  struct stat below {};
  if (stat(path.c_str(), &below) != 0) return {};
  if (S_ISREG(below.st_mode) && (below.st_mode & S_IWOTH) != 0) {
    return "every user may write it, and so choose what this program runs; "
           "chmod o-w it";
  }
  for (size_t end = path.rfind('/'); end != path.npos;) {
    const std::string folder = end == 0 ? "/" : path.substr(0, end);
    struct stat info {};
    if (stat(folder.c_str(), &info) != 0) return {};
    const bool all = (info.st_mode & S_IWOTH) != 0;
    if (all && (info.st_mode & S_ISVTX) == 0) {
      return str(
          "every user may write its folder {}, and so choose what this program "
          "runs; chmod o-w it",
          folder);
    }
    if (all && below.st_uid != 0 && below.st_uid != geteuid()) {
      return str(
          "another user has put it into {}, where everybody may; copy it to a "
          "folder of your own",
          folder);
    }
    below = info;
    end = end == 0 ? path.npos : path.rfind('/', end - 1);
  }
  return {};
}

}  // namespace sy
