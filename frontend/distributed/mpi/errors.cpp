#include "frontend/distributed/mpi/errors.h"

#include <string_view>

#include "c10/process/error.h"
#include "frontend/distributed/mpi/api.h"

namespace sy::distributed::mpi {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS || length <= 0) {
    fail(ErrorKind::Error, "[mpi] {}: MPI reports error {}", what, code);
  }
  fail(ErrorKind::Error, "[mpi] {}: {}", what,
       std::string_view(text, static_cast<size_t>(length)));
}

}  // namespace sy::distributed::mpi
