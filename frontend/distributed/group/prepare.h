#pragma once

#include <span>
#include <utility>
#include <vector>

#include "frontend/distributed/group/collective_op.h"

namespace sy::distributed {

// Tensors of a call as memory that moves: themselves, or copies, which are
// copied back when the call is done. The memory is the host's, or that of
// Call::device if the engine moves that. Throws ValueError for tensors that
// cannot be sent; `argument` names them.
class Prepared {
 public:
  // `call` stays where it is until give_to().
  Prepared(const Member& member, const Call& call)
      : member_(member), call_(call), op_(call.name) {}
  // The device whose memory such calls of the group move, unless their tensors
  // say otherwise.
  static DeviceType device_of(const Member& member, const Call& call) noexcept;

  Part read(const Tensor& t, const char* argument);
  Part write(const Tensor& t, const char* argument);
  Part update(const Tensor& t, const char* argument);  // read and written
  // Tensors of one size and dtype, as one part for each.
  std::vector<Part> read_all(std::span<const Tensor> tensors,
                             const char* argument);
  std::vector<Part> write_all(std::span<const Tensor> tensors,
                              const char* argument);
  // Whether the engine moves all of them from and to Call::device. If not, the
  // parts are of no use.
  bool fits() const noexcept { return fits_; }
  // The memory of a tensor as one part for each rank.
  static std::vector<Part> cut(const Part& whole, int parts);

  // The tensor that was prepared last.
  const Tensor& last() const { return keep_.back(); }
  // Gives an operation what it keeps, and what it copies back.
  void give_to(Operation& op);

 private:
  void check(const Tensor& t, const char* argument) const;
  bool is_direct(const Tensor& t) const;
  // Whether the device's engine moves it, if that is to.
  bool moves(const Tensor& t, const char* argument);
  Part memory(const Tensor& t);
  Part changed(const Tensor& t, const char* argument, bool reads);
  void record(Operation& op) const;
  Tensor beside(const Tensor& t) const;  // contiguous, with its elements
  Tensor room_for(const Tensor& t, std::vector<int64_t> sizes) const;

  const Member& member_;
  const Call& call_;
  const char* const op_;
  bool fits_ = true;
  std::vector<Tensor> keep_;
  std::vector<Tensor> written_;                  // by the engine
  std::vector<std::pair<Tensor, Tensor>> back_;  // to, from
};

}  // namespace sy::distributed
