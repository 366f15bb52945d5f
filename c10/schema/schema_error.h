#pragma once

#include <cstddef>
#include <exception>
#include <string>

#include "c10/macros.h"

namespace sy {

// An error in the text of a signature, and its byte. The message names no
// position: the caller knows the file and the line.
class SY_API SchemaError : public std::exception {
 public:
  SchemaError(std::string message, std::size_t offset);
  SchemaError(const SchemaError&) = default;
  SchemaError& operator=(const SchemaError&) = default;
  ~SchemaError() override;

  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& message() const noexcept { return message_; }
  std::size_t offset() const noexcept { return offset_; }

 private:
  std::string message_;
  std::size_t offset_;
};

}  // namespace sy
