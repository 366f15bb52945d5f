#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aten/tensor.h"
#include "frontend/io/format/output.h"
#include "frontend/io/format/pickle_writer.h"

namespace sy::io {

// Writes an archive of PyTorch: announce() each tensor, write the pickle,
// save().
class TorchWriter {
 public:
  // `op` stands in messages and must outlive the writer.
  explicit TorchWriter(const char* op) : op_(op) {}

  // Tells of a tensor that will be written. Once all are announced it is known
  // which of them share a storage. Throws ValueError "[op] name: ..." for a
  // tensor without elements to read.
  void announce(std::string_view name, const Tensor& t);

  PickleWriter& pickle() { return pickle_; }
  // Appends the tensor to the pickle.
  void tensor(const Tensor& t, bool requires_grad);
  // Appends a string. Throws ValueError "[op] what: ..." unless it is UTF-8.
  void text(const char* what, std::string_view v);

  // Adds a member besides the pickle and the storages, "constants.pkl".
  void member(std::string name, std::string bytes) {
    members_.emplace_back(std::move(name), std::move(bytes));
  }
  // Ends the pickle and writes the file, or its bytes.
  void save(const std::string& path);
  void save(Output& file);

 private:
  // The part of a storage that the file has.
  struct Part {
    Tensor first;  // announced
    bool whole;    // or the elements of `first` alone
    bool written = false;
    uint32_t kept = 0;  // by this number in the pickle
  };

  const char* op_;
  PickleWriter pickle_;
  std::map<std::pair<const StorageImpl*, ScalarType>, Part> parts_;
  std::vector<Tensor> storages_;  // in the order of their keys
  std::vector<std::pair<std::string, std::string>> members_;
};

}  // namespace sy::io
