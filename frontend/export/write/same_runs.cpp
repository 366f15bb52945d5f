#include "frontend/export/write/same_runs.h"

#include <cstring>

#include "aten/operators.h"

namespace sy::exporting {

namespace {

// "batch 2, length 5"
std::string sizes_of(const Recorded& r, size_t run) {
  std::string out;
  for (size_t s = 0; s < r.symbols.size(); ++s) {
    out +=
        str("{}{} {}", s == 0 ? "" : ", ", r.symbols[s].name, r.sizes[s][run]);
  }
  return out;
}

bool same(const TracedArgument& a, const TracedArgument& b) {
  return a.kind == b.kind && a.values == b.values &&
         a.constant.tag() == b.constant.tag();
}

bool same(const TracedNode& a, const TracedNode& b) {
  if (a.op != b.op || a.arguments.size() != b.arguments.size() ||
      a.results.size() != b.results.size()) {
    return false;
  }
  for (size_t i = 0; i < a.arguments.size(); ++i) {
    if (!same(a.arguments[i], b.arguments[i])) return false;
  }
  for (size_t i = 0; i < a.results.size(); ++i) {
    if (a.results[i].values != b.results[i].values) return false;
  }
  return true;
}

std::string call_text(const Trace& t, size_t node) {
  if (node >= t.nodes.size()) return "nothing more";
  const TracedNode& n = t.nodes[node];
  return place_of(n.op->name(), t.stacks[n.stack]);
}

bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes())
    return false;
  if (a.is_alias_of(b) && a.storage_offset() == b.storage_offset()) return true;
  const Tensor x = a.cpu().contiguous(), y = b.cpu().contiguous();
  return x.numel() == 0 ||
         std::memcmp(x.raw_data(), y.raw_data(), x.nbytes()) == 0;
}

void check_constants(const Recorded& r, size_t run) {
  const auto &a = r.runs[0].constants, &b = r.runs[run].constants;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    SY_CHECK(
        a[i].value == b[i].value && same_elements(a[i].tensor, b[i].tensor),
        Value,
        "[export_program] expected constants that do not depend on sizes, "
        "got {} for {} and {} for {}: make it by operators",
        to_string(Value::borrowed(a[i].tensor)), sizes_of(r, 0),
        to_string(Value::borrowed(b[i].tensor)), sizes_of(r, run));
  }
}

}  // namespace

void check_same_calls(const Recorded& r) {
  for (size_t run = 1; run < r.runs.size(); ++run) {
    const Trace &a = r.runs[0], &b = r.runs[run];
    const size_t n = std::max(a.nodes.size(), b.nodes.size());
    for (size_t i = 0; i < n; ++i) {
      const bool there = i < a.nodes.size() && i < b.nodes.size();
      SY_CHECK(there && same(a.nodes[i], b.nodes[i]), Value,
               "[export_program] expected the same calls for all sizes, got {} "
               "for {} and {} for {} (call {})",
               call_text(a, i), sizes_of(r, 0), call_text(b, i),
               sizes_of(r, run), i);
    }
    check_constants(r, run);
    bool outputs = a.outputs.size() == b.outputs.size();
    for (size_t i = 0; outputs && i < a.outputs.size(); ++i) {
      outputs = same(a.outputs[i], b.outputs[i]);
    }
    SY_CHECK(outputs, Value,
             "[export_program] expected the same results for all sizes, got "
             "others for {} and for {}",
             sizes_of(r, 0), sizes_of(r, run));
  }
}

std::string by_size(const Recorded& r, IntArrayRef values) {
  std::string out;
  for (size_t run = 0; run < values.size() && run < 4; ++run) {
    out += str("{}{}: {}", run == 0 ? "" : "; ", sizes_of(r, run), values[run]);
  }
  return out;
}

}  // namespace sy::exporting
