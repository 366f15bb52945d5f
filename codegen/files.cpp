#include "codegen/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>

#include "lang/format.h"

namespace sy::codegen {

bool write_file(const OutputFile& file, std::ostream& err) {
  namespace fs = std::filesystem;
  {
    std::ifstream in(file.path, std::ios::binary);
    std::ostringstream old;
    if (in && old << in.rdbuf() && old.str() == file.text) return true;
  }
  std::error_code failed;
  const fs::path folder = fs::path(file.path).parent_path();
  if (!folder.empty()) fs::create_directories(folder, failed);
  // A pipe or a terminal has no other name.
  const bool special =
      fs::exists(file.path, failed) && !fs::is_regular_file(file.path, failed);
  const std::string unfinished =
      special ? file.path : file.path + ".unfinished";
  if (!special && fs::exists(file.path, failed)) {
    // Nobody opens it before it has the rights of the file that it replaces.
    fs::remove(unfinished, failed);
    ::close(::open(unfinished.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    fs::permissions(unfinished, fs::status(file.path, failed).permissions(),
                    failed);
  }
  std::ofstream out(unfinished, std::ios::binary);
  out << file.text;
  out.close();
  bool good = static_cast<bool>(out);
  if (good && !special) {
    fs::rename(unfinished, file.path, failed);
    good = !failed;
  }
  if (!good) {
    if (!special) fs::remove(unfinished, failed);
    err << fmt::format("{}: error: the file cannot be written\n", file.path);
  }
  return good;
}

bool write_files(const std::vector<OutputFile>& files, std::ostream& err) {
  bool good = true;
  for (const OutputFile& file : files) good &= write_file(file, err);
  return good;
}

}  // namespace sy::codegen
