#pragma once

// MPI's C interface without its old one for C++, which warns and needs a
// library of its own.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
