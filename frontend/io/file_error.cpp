#include "frontend/io/file_error.h"

namespace sy {

FileError::~FileError() = default;

}  // namespace sy
