#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "frontend/distributed/group/member.h"

namespace sy::distributed {

// The exchange before a call: every rank of a group tells every other its
// fingerprint, and the data itself if there is little. Groups of up to kDirect
// ranks send it to each other; in larger ones an all_reduce tells whether all
// are alike.
class Exchange {
 public:
  static constexpr int kDirect = 8;
  static constexpr size_t kSmall = 8192;  // bytes of data for one rank

  // The data that goes along to one rank.
  struct Part {
    int64_t announced = 0;  // bytes that it will get in all
    size_t bytes = 0;       // sent along
  };

  Exchange() = default;
  Exchange(Exchange&&) = default;
  // `part` says what goes along to a rank, `fill` writes it; only small parts,
  // and only in groups that tell each other directly, or if `direct`.
  void begin(Member& member, uint64_t hash, bool direct,
             const std::function<Part(int rank)>& part,
             const std::function<void(int rank, char* to)>& fill);
  // Whether all ranks have been heard.
  bool test();
  // Whether the fingerprints of all ranks are equal: they make the same call.
  bool agreed() const noexcept { return agreed_; }
  // The data that came along from a rank: valid until the next exchange of the
  // group.
  const char* from(int rank) const;
  int64_t announced_by(int rank) const;
  void abandon() noexcept;
  // For the benchmark of the fingerprint: SWITCHYARD_DISTRIBUTED_UNCHECKED.
  static bool is_unchecked() noexcept;

 private:
  Member* member_ = nullptr;
  uint64_t hash_ = 0;
  bool direct_ = false;
  bool agreed_ = true;
  std::unique_ptr<int64_t[]> least_;  // of large groups
  std::vector<Request> requests_;
};

}  // namespace sy::distributed
