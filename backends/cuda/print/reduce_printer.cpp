#include "backends/cuda/print/reduce_printer.h"

#include "backends/cuda/print/values.h"

namespace sy::cuda::print {

void ReducePrinter::need_reduction(const ReduceText& r) {
  need(r.map, r.type);
  need(r.combine, r.accumulated);
  need(r.finish, r.type);
}

void ReducePrinter::accumulators(const ReduceText& r) {
  add("  struct Acc {{\n");
  for (int i = 0; i < r.accumulators; ++i) {
    add("    {} a{};\n", type_name(r.accumulator_type(i)), i);
  }
  add("  }};\n");
}

void ReducePrinter::give_accumulators(const ReduceText& r,
                                      std::vector<std::string> values,
                                      ComputeType from) {
  for (int i = 0; i < r.accumulators; ++i) {
    if (r.is_bool(i) || r.accumulated == from) continue;
    std::string& v = values[static_cast<size_t>(i)];
    v = str("static_cast<{}>({})", type_name(r.accumulated), v);
  }
  give(values);
}

void ReducePrinter::combine(const ReduceText& r, ComputeType given) {
  add("  __device__ Acc combine(const Acc& a, const Acc& b) const {{\n");
  std::vector<std::string> both;
  for (const char side : {'a', 'b'}) {
    for (int i = 0; i < r.accumulators; ++i) {
      both.push_back(str("{}.a{}", side, i));
    }
  }
  give_accumulators(r,
                    run(*r.combine, r.accumulated, std::move(both), "c", given),
                    r.accumulated);
}

std::vector<std::string> ReducePrinter::finished(const ReduceText& r) {
  std::vector<std::string> values;
  for (int i = 0; i < r.accumulators; ++i) {
    const std::string_view type =
        type_name(r.is_bool(i) ? ComputeType::b8 : r.type);
    add("    [[maybe_unused]] const {} s{} = static_cast<{}>(a.a{});\n", type,
        i, type, i);
    values.push_back(str("s{}", i));
  }
  const Program& last = r.finish == nullptr ? *r.map : *r.finish;
  if (r.finish != nullptr) values = run(last, r.type, std::move(values), "f");
  report();
  for (int i = 0; i < r.results; ++i) {
    std::string& v = values[static_cast<size_t>(i)];
    v = stored(v, r.type, last.results[i].is_bool, r.stored[i]);
  }
  return values;
}

void ReducePrinter::nothing(const ReduceText& r, int first) {
  add("  __device__ Acc nothing() const {{\n");
  std::vector<std::string> values;
  for (int i = 0; i < r.accumulators; ++i) {
    values.push_back(
        str("p.numbers[{}].{}", first + i, member_of(r.accumulator_type(i))));
  }
  give(values);
}

void ReducePrinter::planes(const ReduceText& r) {
  add("  __device__ void keep(const Acc& a, int64_t at) const {{\n");
  std::vector<std::string> values;
  for (int i = 0; i < r.accumulators; ++i) {
    const std::string_view type = type_name(r.accumulator_type(i));
    add("    static_cast<{}*>(p.planes[{}])[at] = a.a{};\n", type, i, i);
    values.push_back(str("static_cast<const {}*>(p.planes[{}])[at]", type, i));
  }
  add("  }}\n  __device__ Acc kept(int64_t at) const {{\n");
  give(values);
}

std::string ReducePrinter::shell_text(ReduceShell shell,
                                      std::string_view source) {
  switch (shell) {
    case ReduceShell::kRows: return str("reduce_rows<{}>", source);
    case ReduceShell::kColumns: return str("reduce_columns<{}>", source);
    case ReduceShell::kPieces: break;
  }
  return "reduce_pieces";
}

}  // namespace sy::cuda::print
