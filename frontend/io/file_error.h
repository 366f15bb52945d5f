#pragma once

#include "c10/process/error.h"

namespace sy {

// A file cannot be read or written, or its contents are damaged, hostile or not
// supported. The message has the operation, the path, and the byte or the key
// where it went wrong.
class SY_API FileError : public Error {
 public:
  using Error::Error;
  ~FileError() override;
};

}  // namespace sy
