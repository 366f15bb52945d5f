#include "backends/lazy/equal_calls.h"

#include <algorithm>
#include <cstring>

namespace sy::lazy {

namespace {

bool same_operand(const Operand& a, const Operand& b) {
  if (a.node != b.node || a.result != b.result) return false;
  if ((a.part == nullptr) != (b.part == nullptr)) return false;
  return a.part == nullptr || *a.part == *b.part;
}

// A program's numbers are compared by their bits: 0.0 is not -0.0.
bool same_call(const LazyNode& a, const LazyNode& b) {
  const auto same_made = [](const Made& x, const Made& y) {
    return x.layout == y.layout;
  };
  return a.kind == b.kind && a.program == b.program && a.reduce == b.reduce &&
         a.compute == b.compute && a.reduced == b.reduced &&
         a.keepdim == b.keepdim && a.uniforms.size() == b.uniforms.size() &&
         std::memcmp(a.uniforms.data(), b.uniforms.data(),
                     a.uniforms.size() * sizeof(program::Uniform)) == 0 &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(),
                    b.operands.end(), same_operand) &&
         std::equal(a.made.begin(), a.made.end(), b.made.begin(), b.made.end(),
                    same_made);
}

size_t hash_of(const LazyNode& n) {
  auto h = reinterpret_cast<uintptr_t>(n.program) ^
           reinterpret_cast<uintptr_t>(n.reduce) * 31;
  for (const Operand& o : n.operands) {
    h = (h ^ reinterpret_cast<uintptr_t>(o.node.get())) * 0x9e3779b97f4a7c15;
    h ^= h >> 29;
  }
  return h;
}

bool is_held(const LazyNode& n) {
  return std::any_of(n.made.begin(), n.made.end(),
                     [](const Made& m) { return m.holders > 0; });
}

}  // namespace

void share_equal_calls(std::vector<intrusive_ptr<LazyNode>>* nodes) {
  size_t size = 16;
  while (size < 2 * nodes->size()) size *= 2;
  std::vector<uint32_t> table(size, 0);  // 1 + place in the list
  std::vector<LazyNode*> instead(nodes->size(), nullptr);
  bool any = false;
  for (size_t i = 0; i < nodes->size(); ++i) {
    LazyNode& n = *(*nodes)[i];
    n.index = static_cast<int>(i);
    for (Operand& o : n.operands) {
      if (!any || o.node->state != LazyNode::kRecorded) continue;
      LazyNode* const other = instead[static_cast<size_t>(o.node->index)];
      if (other == nullptr) continue;
      --o.node->made[o.result].uses;
      ++other->made[o.result].uses;
      o.node = intrusive_ptr<LazyNode>::retain(other);
    }
    if (n.kind != LazyNode::kPointwise && n.kind != LazyNode::kReduce) continue;
    for (size_t at = hash_of(n) & (size - 1);; at = (at + 1) & (size - 1)) {
      if (table[at] == 0) {
        table[at] = static_cast<uint32_t>(i + 1);
        break;
      }
      LazyNode& earlier = *(*nodes)[table[at] - 1];
      if (!same_call(earlier, n)) continue;
      if (is_held(n)) break;
      instead[i] = &earlier;
      any = true;
      break;
    }
  }
  if (!any) return;
  size_t kept = 0;
  for (size_t i = 0; i < nodes->size(); ++i) {
    const LazyNode& n = *(*nodes)[i];
    // A call beyond the list may read it.
    const bool used = std::any_of(n.made.begin(), n.made.end(),
                                  [](const Made& m) { return m.uses > 0; });
    if (instead[i] != nullptr && !used) continue;
    (*nodes)[kept++] = (*nodes)[i];
  }
  nodes->resize(kept);
}

}  // namespace sy::lazy
