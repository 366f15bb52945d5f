#pragma once

#include <memory>
#include <vector>

#include "frontend/distributed/group/collective_op.h"

namespace sy::distributed {

// send or recv. The two ranks tell each other what they call; small data comes
// along with the sender's word, other data follows when both agree. So a send
// ends when the other rank has begun to receive.
class PairOp final : public Operation {
 public:
  // Call::root is the other rank.
  PairOp(std::shared_ptr<Member> member, Call call, Part part);

 protected:
  bool advance(bool* moved) override;
  void abandon() noexcept override;

 private:
  bool sends() const noexcept { return call().what == Collective::kSend; }
  bool is_small() const noexcept;
  void begin();
  // Null if the other rank calls the counterpart of this.
  std::exception_ptr compare() const;

  enum class Phase : uint8_t { kBegin, kCompare, kData };
  Phase phase_ = Phase::kBegin;
  Part part_;
  int64_t moved_ = 0;  // bytes that are begun
  std::unique_ptr<char[]> out_, in_;
  std::vector<Request> requests_;
};

}  // namespace sy::distributed
