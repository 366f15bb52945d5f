#pragma once

namespace sy::distributed::mpi {

// Throws Error with MPI's text unless `code` is MPI_SUCCESS. `what` is the
// collective or function that the message begins with.
void check(int code, const char* what);

}  // namespace sy::distributed::mpi
