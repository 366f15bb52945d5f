#include "backends/cuda/memory/source.h"

#include <algorithm>

#include "backends/cuda/memory/size_class.h"
#include "backends/cuda/runtime/context.h"

namespace sy::cuda {
namespace {

// Large requests are mapped in pieces of this size: fewer calls, and the pieces
// still go back one by one.
constexpr size_t kLargePiece = size_t{32} << 20;

}  // namespace

Source::Source(int device)
    : device_(device), api_(driver::api()), granule_(kGranule) {
  properties_.location.id = device;
  access_.emplace_back().location.id = device;
}

bool Source::reserve(size_t bytes, uint64_t* address) {
  if (!limits(device_).virtual_memory) return false;
  use_device(device_);
  size_t least = 0;
  if (api_.granularity(&least, &properties_, 0) != driver::kSuccess) {
    return false;
  }
  granule_ = round_up(kGranule, std::max<size_t>(least, 1));
  driver::DevicePointer base = 0;
  if (api_.reserve(&base, round_up(bytes, granule_), granule_, 0, 0) !=
          driver::kSuccess ||
      base % kUnit != 0) {
    return false;
  }
  *address = base;
  return true;
}

driver::Result Source::map_piece(uint64_t address, size_t bytes) {
  driver::MemoryHandle handle = 0;
  driver::Result r = api_.create(&handle, bytes, &properties_, 0);
  if (r != driver::kSuccess) return r;
  r = api_.map(address, bytes, 0, handle, 0);
  if (r != driver::kSuccess) {
    api_.release(handle);
    return r;
  }
  mapped_[address] = {bytes, handle};
  held_ += bytes;
  return r;
}

size_t Source::map(uint64_t address, size_t bytes) {
  use_device(device_);
  size_t done = 0;
  size_t largest = std::max(kLargePiece, granule_);
  driver::Result r = driver::kSuccess;
  while (done < bytes) {
    const size_t left = bytes - done;
    const size_t piece = left >= largest ? largest : granule_;
    r = map_piece(address + done, piece);
    if (r == driver::kSuccess) {
      done += piece;
    } else if (r == driver::kOutOfMemory && piece > granule_) {
      largest = granule_;
    } else {
      break;
    }
  }
  if (done != 0) {
    const driver::Result granted = grant(address, done);
    if (granted != driver::kSuccess) {
      for (auto p = piece_from(address); p && p->address < address + done;
           p = piece_from(address)) {
        if (!unmap(*p)) break;
      }
      done = 0;
      r = granted;
    }
  }
  if (done == 0 && r != driver::kOutOfMemory) {
    driver::check(r, "mapping memory of the device");
  }
  return done;
}

driver::Result Source::grant(uint64_t address, size_t bytes) {
  return api_.set_access(address, bytes, access_.data(), access_.size());
}

void Source::let_reach(int device) {
  for (const driver::Access& a : access_) {
    if (a.location.id == device) return;
  }
  use_device(device_);
  driver::Access more;
  more.location.id = device;
  for (const auto& [address, m] : mapped_) {
    driver::check(api_.set_access(address, m.bytes, &more, 1),
                  "letting another device reach the memory");
  }
  access_.push_back(more);
}

std::optional<Source::Piece> Source::piece_from(uint64_t address) const {
  const auto found = mapped_.lower_bound(address);
  if (found == mapped_.end()) return std::nullopt;
  return Piece{found->first, found->second.bytes};
}

bool Source::unmap(const Piece& piece) noexcept {
  const auto found = mapped_.find(piece.address);
  if (api_.unmap(piece.address, piece.bytes) != driver::kSuccess) return false;
  api_.release(found->second.handle);
  mapped_.erase(found);
  held_ -= piece.bytes;
  return true;
}

std::optional<Source::Piece> Source::allocate(size_t bytes) {
  use_device(device_);
  // A driver that aligns less than we need gets a second request, with room.
  for (const size_t more : {size_t{0}, kUnit}) {
    driver::DevicePointer base = 0;
    const driver::Result r = api_.allocate(&base, bytes + more);
    if (r == driver::kOutOfMemory) return std::nullopt;
    driver::check(r, "allocating memory of the device");
    const uint64_t address = round_up(base, kUnit);
    if (address + bytes <= base + bytes + more) {
      allocated_[address] = {base, bytes + more};
      held_ += bytes + more;
      return Piece{address, bytes};
    }
    api_.free(base);
  }
  return std::nullopt;
}

void Source::free(uint64_t address) noexcept {
  const auto found = allocated_.find(address);
  if (api_.free(found->second.base) != driver::kSuccess) return;
  held_ -= found->second.bytes;
  allocated_.erase(found);
}

}  // namespace sy::cuda
