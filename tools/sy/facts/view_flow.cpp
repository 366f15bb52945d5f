#include "tools/sy/facts/view_flow.h"

#include "aten/print.h"
#include "aten/tensor.h"
#include "c10/process/error.h"
#include "tools/sy/calls/words.h"
#include "tools/sy/cases/arguments.h"
#include "tools/sy/facts/text.h"

namespace sy::tools {

namespace {

constexpr int64_t kMostCells = 1000;

// The place of each element in the storage, row by row.
std::vector<int64_t> places(const TensorBase& t) {
  std::vector<int64_t> out;
  for (int64_t k = 0; k < t.numel(); ++k) {
    int64_t rest = k, at = t.storage_offset();
    for (int64_t d = t.dim(); d-- > 0;) {
      at += rest % t.size(d) * t.stride(d);
      rest /= t.size(d);
    }
    out.push_back(at);
  }
  return out;
}

Json grid(const std::string& name, const TensorBase& t,
          const std::vector<int64_t>& places) {
  std::vector<std::string> texts;
  for (const int64_t at : places) texts.push_back(std::to_string(at));
  std::string note = str("strides {}", t.strides());
  if (t.storage_offset() != 0) note += str(", offset {}", t.storage_offset());
  return {{"name", name},
          {"sizes", t.sizes().vec()},
          {"texts", texts},
          {"note", note}};
}

// Tensors without a word have the sizes in `tensors`.
Json try_flow(OperatorHandle op, const std::string& words,
              std::string_view tensors) {
  Arguments in;
  std::vector<Value> results;
  try {
    in.values = parse_arguments(op, words, tensors);
    const auto same = [](const Tensor& t) { return t; };
    change_tensors(op.schema(), same, in);
    results = call_with(op, in.values);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return {};  // the view needs other sizes
  }
  if (in.tensors.empty() || results.size() != 1 || !results[0].is_tensor()) {
    return {};
  }
  const TensorBase base = in.tensors[0].tensor, made = results[0].to_tensor();
  if (!base.defined() || !made.defined() || !made.is_alias_of(base) ||
      made.scalar_type() != base.scalar_type() ||
      base.numel() + made.numel() > kMostCells ||
      (made.sizes() == base.sizes() && made.strides() == base.strides())) {
    return {};
  }
  const std::vector<int64_t> from = places(made);
  Json sources = Json::array();
  for (const int64_t at : from) sources.push_back({at});
  return {
      {"call", call_words(op, words)},
      {"moves", true},
      {"inputs", {grid(in.tensors[0].name, base, places(base))}},
      {"outputs", {grid("result", made, from)}},
      {"from", sources},
  };
}

}  // namespace

Json view_flow_of(OperatorHandle op, const std::string& words) {
  // Rows and columns of 3x4 are told apart more easily than those of 2x3.
  const char* const tensors = "3x4";
  Json flow = try_flow(op, words, tensors);
  if (!flow.is_null() || !words.empty()) return flow;
  for (const Argument& a : op.schema().arguments()) {
    const Type t = a.type.without_optional();
    if (t != TypeKind::kInt && t != TypeKind::kSymInt) continue;
    for (const int v : {1, 2}) {
      flow = try_flow(op, str("{}={}", a.name.view(), v), tensors);
      if (!flow.is_null()) return flow;
    }
  }
  return try_flow(op, words, "2x1x3");
}

}  // namespace sy::tools
