#pragma once

#include <memory>
#include <vector>

#include "frontend/distributed/group/exchange.h"
#include "frontend/distributed/group/operation.h"

namespace sy::distributed {

// Contiguous memory of the host.
struct Part {
  char* data = nullptr;
  int64_t count = 0;  // elements
  ScalarType dtype = ScalarType::Byte;
  int64_t bytes() const noexcept {
    return count * static_cast<int64_t>(element_size(dtype));
  }
};

// The memory that a collective reads and writes.
struct Buffers {
  // The tensors of all_reduce, broadcast and reduce, in place.
  std::vector<Part> segments;
  // The parts of other collectives: `in` has those that go to each rank, `out`
  // the places for those that come from each. A list of one is the same for all
  // ranks; an empty one is nothing.
  std::vector<Part> in, out;

  const Part* in_for(int rank) const noexcept { return at(in, rank); }
  const Part* out_for(int rank) const noexcept { return at(out, rank); }

 private:
  static const Part* at(const std::vector<Part>& parts, int rank) noexcept {
    if (parts.empty()) return nullptr;
    return parts.size() == 1 ? parts.data()
                             : parts.data() + static_cast<size_t>(rank);
  }
};

// Throws ValueError if memory that the rank writes overlaps other memory of the
// call. Only its own part, from and to itself, may be in place.
void check_apart(const Call& call, int rank, const Buffers& buffers);

// The part of a large collective after the ranks have agreed: its transfers.
class DataPhase {
 public:
  virtual ~DataPhase();
  // Starts and tests transfers. Returns whether all are done.
  virtual bool advance(bool* moved) = 0;
  // The engine may go on to use what this object holds.
  virtual void abandon() noexcept = 0;
};

// All but send and recv: the ranks compare what they call, then the data moves,
// unless it came along.
class CollectiveOp final : public Operation {
 public:
  CollectiveOp(std::shared_ptr<Member> member, Call call, Buffers buffers);
  ~CollectiveOp() override;

 protected:
  bool advance(bool* moved) override;
  void abandon() noexcept override;

 private:
  void begin_exchange(uint64_t round);
  Exchange::Part part_for(int rank) const;
  void fill(int rank, char* to) const;
  bool is_small() const;
  // Whether the others send as many bytes as this rank's buffers take.
  bool sizes_agree() const;
  void finish_alone();
  void finish_small();
  void disagree();
  std::unique_ptr<DataPhase> data_phase();

  enum class Phase : uint8_t { kBegin, kExchange, kData };
  Phase phase_ = Phase::kBegin;
  bool small_ = false, confirming_ = false;
  Buffers buffers_;
  Exchange exchange_;
  std::unique_ptr<DataPhase> data_;
};

// All ranks of a group say `about`, and get an Error if they disagree, or if
// one has `refused` (not empty: why). `name` is that of the function called.
void agree(const std::shared_ptr<Member>& member, const char* name,
           std::string about, const std::string& refused);

// An error that is the same on all ranks, with the texts of all their calls
// from the store.
std::exception_ptr disagreement(const Operation& op);

// ---- data phases; `buffers` outlives them

// all_reduce, broadcast and reduce by the engine, in pieces.
std::unique_ptr<DataPhase> engine_pieces(const Operation& op,
                                         const Buffers& buffers);
// all_reduce, reduce and reduce_scatter of small groups, from rank to rank.
std::unique_ptr<DataPhase> halves(const Operation& op, const Buffers& buffers);
// Any collective of memory of the engine's device, whole.
std::unique_ptr<DataPhase> device_transfers(const Operation& op,
                                            const Buffers& buffers);
// all_reduce, reduce and reduce_scatter of large groups by our own additions,
// in the order of ranks.
std::unique_ptr<DataPhase> ordered_reduction(const Operation& op,
                                             const Buffers& buffers);
// Parts between all pairs: all_to_all, gather, scatter, all_gather.
std::unique_ptr<DataPhase> pair_transfers(const Operation& op,
                                          const Buffers& buffers);

}  // namespace sy::distributed
