#pragma once

#include <string>

#include "frontend/distributed/engine.h"
#include "frontend/distributed/nccl/communicator.h"

namespace sy::distributed::nccl {

// Moves the memory of CUDA devices. The device of a rank is its number among
// those of its machine (LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK), else its rank,
// modulo the number of devices.
class NcclEngine final : public Engine {
 public:
  const char* name() const noexcept override { return "nccl"; }
  const char* version() const noexcept override;
  int device_type() const noexcept override;
  // Reads OMPI_COMM_WORLD_RANK and _SIZE, else RANK and WORLD_SIZE, as torchrun
  // sets them.
  bool launched(int* rank, int* size) noexcept override;
  // Throws Error without set_rendezvous(), NCCL or a device. Does not wait:
  // split() does, and the first transfer.
  Communicator* connect(int rank, int size) override;
  void shutdown(bool clean) noexcept override;
  void set_rendezvous(const Rendezvous& r) override;
  int device_index() const noexcept override;

 private:
  Shared shared_;
  mutable std::string version_;
};

}  // namespace sy::distributed::nccl
