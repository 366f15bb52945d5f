#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/export/format/program_text.h"
#include "frontend/io/format/mapped_file.h"
#include "frontend/io/format/zip.h"

namespace sy::exporting {

// An archive of torch.export.save. Only its directory and the descriptions are
// read: the bytes of tensors stay in the file until they are used.
class ProgramFile {
 public:
  // Throws FileError for a file that is no such archive, and says what it is.
  ProgramFile(std::string_view op, const std::string& path);

  // The names of its models, in order: "model", if it has one.
  const std::vector<std::string>& models() const { return models_; }
  // The description of a model. Throws FileError if there is none of the name.
  ProgramText program(const std::string& model) const;

  // A tensor, and where its storage is in the file.
  struct Payload {
    PayloadText text;
    uint64_t begin = 0, size = 0;
  };
  using Payloads = std::map<std::string, Payload, std::less<>>;
  // Those of parameters and buffers, and of constants, by name in the module.
  // Throws FileError for one whose member is not there.
  Payloads weights(const std::string& model) const;
  Payloads constants(const std::string& model) const;

  const std::shared_ptr<io::MappedFile>& file() const { return file_; }
  io::FileView view() const { return file_->view(op_); }

 private:
  struct Bytes {
    io::FileView view;
    uint64_t begin, end;
    std::shared_ptr<std::string> inflated;
  };
  const io::ZipMember* find(const std::string& name) const;
  Bytes bytes(const io::ZipMember& member) const;
  Payloads payloads(const std::string& config, const std::string& folder) const;
  void check_kind() const;

  std::string op_;
  std::shared_ptr<io::MappedFile> file_;
  std::string folder_;  // "bert/"
  std::map<std::string, io::ZipMember, std::less<>> members_;
  std::vector<std::string> models_;
};

}  // namespace sy::exporting
