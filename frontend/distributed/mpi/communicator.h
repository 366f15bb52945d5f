#pragma once

#include "frontend/distributed/engine.h"
#include "frontend/distributed/mpi/api.h"

namespace sy::distributed::mpi {

// MPI's communicator, which it never frees: ranks that are gone could make that
// wait. Its error handler must be MPI_ERRORS_RETURN.
class MpiCommunicator final : public Communicator {
 public:
  // Throws Error if MPI does.
  explicit MpiCommunicator(MPI_Comm comm);

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  // No reductions of half, bfloat16 and bool, which MPI does not know, nor MIN
  // and MAX of floating dtypes, for which it does not say what becomes of NaN.
  bool supports(Collective what, ScalarType dtype,
                ReduceOp op) const noexcept override;
  // Throws Error for counts that are beyond `int`.
  void* begin(const Transfer& t) override;
  bool test(void* request, size_t* received) override;
  void abandon(void* request) noexcept override;
  // Waits for the others.
  Communicator* split(const int* ranks, int n, int tag) override;

 private:
  MPI_Comm comm_;
  int rank_ = 0, size_ = 0;
};

}  // namespace sy::distributed::mpi
