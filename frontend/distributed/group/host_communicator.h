#pragma once

#include <map>
#include <memory>
#include <vector>

#include "frontend/distributed/engine.h"
#include "frontend/distributed/group/host_mesh.h"

namespace sy::distributed {

// Moves memory of the host beside an engine that moves a device's: the check of
// every call, and tensors that the engine does not move. It does what an engine
// must, barrier, broadcast, and the least of int64; the layer above makes the
// rest of these.
class HostCommunicator final : public Communicator {
 public:
  // The communicator of some ranks of the world, in that order, with a number
  // of their own.
  HostCommunicator(std::shared_ptr<HostMesh> mesh, std::vector<int> ranks,
                   uint64_t number);
  // The communicator of all ranks.
  explicit HostCommunicator(std::shared_ptr<HostMesh> mesh);

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return static_cast<int>(ranks_.size()); }
  bool supports(Collective what, ScalarType dtype,
                ReduceOp op) const noexcept override;
  void* begin(const Transfer& t) override;
  bool test(void* request, size_t* received) override;
  void abandon(void* request) noexcept override;
  // Waits for nobody.
  Communicator* split(const int* ranks, int n, int tag) override;

 private:
  struct Request;
  class Spread;
  class Least;

  HostMesh::Handle send(int to, const HostMesh::Line& line, const void* data,
                        int64_t bytes);
  HostMesh::Handle receive(int from, const HostMesh::Line& line, void* data,
                           int64_t bytes);
  void begin_all(const Transfer& t, Request& r);
  // A line that no other transfer has.
  HostMesh::Line next_line();

  const std::shared_ptr<HostMesh> mesh_;
  const std::vector<int> ranks_;
  const uint64_t number_;
  int rank_ = 0;
  uint64_t collectives_ = 0;
  std::map<uint64_t, int> splits_;
};

}  // namespace sy::distributed
