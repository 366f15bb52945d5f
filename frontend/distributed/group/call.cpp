#include "frontend/distributed/group/call.h"

#include <string>
#include <string_view>

namespace sy::distributed {

uint64_t mixed(uint64_t hash, uint64_t value) noexcept {
  uint64_t x = (hash ^ value) * 0x9e3779b97f4a7c15;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93;
  return x ^ (x >> 29);
}

uint64_t mixed(uint64_t hash, std::string_view text) noexcept {
  hash = mixed(hash, text.size());
  for (const char c : text) hash = mixed(hash, static_cast<uint8_t>(c));
  return hash;
}

void Call::add(const Tensor& t, bool any_rows) {
  const IntArrayRef sizes = t.sizes();
  TensorShape shape{t.scalar_type(), static_cast<uint8_t>(sizes.size()), {}};
  uint64_t h = mixed(tensors_hash, static_cast<uint64_t>(shape.dtype));
  h = mixed(h, sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t n = any_rows && d == 0 ? -1 : sizes[d];
    if (d < TensorShape::kKept) shape.sizes[d] = n;
    h = mixed(h, static_cast<uint64_t>(n));
  }
  tensors_hash = h;
  tensors.push_back(shape);
}

bool Call::reduces() const noexcept {
  return what == Collective::kAllReduce || what == Collective::kReduce ||
         what == Collective::kReduceScatter;
}

uint64_t Call::hash() const noexcept {
  uint64_t h = mixed(0x5377697463687964, static_cast<uint64_t>(what));
  h = mixed(h, static_cast<uint64_t>(op));
  h = mixed(h, static_cast<uint64_t>(root + 1));
  h = mixed(h, static_cast<uint64_t>(tag + 1));
  h = mixed(h, tensors_hash);
  if (device != kCPU) h = mixed(h, static_cast<uint64_t>(device));
  if (!label.empty()) h = mixed(h, label);
  // No call of another rank is like one that was refused.
  if (!refused.empty()) h = ~h;
  return h;
}

std::string Call::text() const {
  constexpr size_t kShown = 4;
  std::string s(name);
  s += "(";
  const char* between = "";
  for (size_t i = 0; i < tensors.size() && i < kShown; ++i) {
    const TensorShape& t = tensors[i];
    s += between;
    s += dtype_name(t.dtype);
    s += "[";
    for (size_t d = 0; d < t.dims && d < TensorShape::kKept; ++d) {
      if (d > 0) s += ", ";
      s += t.sizes[d] < 0 ? "*" : std::to_string(t.sizes[d]);
    }
    if (t.dims > TensorShape::kKept) s += ", …";
    s += "]";
    between = ", ";
  }
  if (tensors.size() > kShown) {
    s += ", … ";
    s += std::to_string(tensors.size());
    s += " tensors";
  }
  if (reduces()) {
    s += between;
    s += name_of(op);
    between = ", ";
  }
  if (root >= 0) {
    s += between;
    s += tag < 0                     ? "root "
         : what == Collective::kSend ? "to rank "
                                     : "from rank ";
    s += std::to_string(root);
    between = ", ";
  }
  if (tag > 0) {
    s += between;
    s += "tag ";
    s += std::to_string(tag);
  }
  s += ")";
  if (device != kCPU) s += " of " + to_string(device) + " memory";
  return s;
}

std::string Call::full_text() const {
  std::string s = text();
  if (!label.empty()) {
    s += ", ";
    s += label;
  }
  if (!refused.empty()) {
    s += ": refused: ";
    s += refused;
  }
  return s;
}

}  // namespace sy::distributed
