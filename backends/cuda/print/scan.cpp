#include "backends/cuda/print/scan.h"

#include <algorithm>
#include <vector>

#include "backends/cuda/print/body.h"
#include "backends/cuda/print/values.h"
#include "c10/process/error.h"

namespace sy::cuda::print {

namespace {

using program::ComputeType;
using program::Program;

// Statements that end with the result of combining a.v and b.v.
std::string combination(const ScanText& s) {
  const Program& p = *s.combine;
  std::vector<std::string> operands = {"a.v", "b.v"};
  for (int i = 0; i < p.n_uniforms; ++i) {
    const bool is_bool = (p.bool_uniforms >> i & 1) != 0;
    operands.push_back(str("p.numbers[{}].{}", i,
                           member_of(is_bool ? ComputeType::b8 : s.type)));
  }
  const bool divides = may_divide_by_zero(p, s.type);
  const Body body = print_body(p, s.type, operands, "c", 4);
  std::string text = divides ? "    int divided = 0;\n" : "";
  text += body.statements;
  if (divides) {
    text +=
        "    if (divided != 0) report(p.head, Fault::kDivision, -1, 0, 0);\n";
  }
  const std::string& result = body.results[0];
  return text + (s.chooses ? str("    return {} != 0 ? b : a;\n", result)
                           : str("    return {}{}{};\n", "{", result, "}"));
}

}  // namespace

std::string print_scan(const std::string& name, const ScanText& s,
                       ScanShell shell) {
  std::string text = "#include \"element.cuh\"\n";
  for (const std::string_view f : needed_files(*s.combine, s.type)) {
    text += str("#include \"{}\"\n", f);
  }
  text += "#include \"scan.cuh\"\n\n";
  text += str("namespace {}_parts {}\n\n", name, "{");
  text += str("using Params = ScanParams<{}>;\n\n", std::max(s.numbers(), 1));
  text += str("struct Op : ScanElements<{}, {}> {}\n", element_name(s.self),
              element_name(s.stored), "{");
  text += str("  using State = ScanState<{}, {}>;\n\n", type_name(s.type),
              s.chooses ? "true" : "false");
  text +=
      "  const Params& p;\n"
      "  __device__ explicit Op(const Params& q) : p(q) {}\n\n"
      "  __device__ State load(const Element& x, [[maybe_unused]] int64_t k) "
      "const {\n";
  text += str("    return {}{}{}{};\n  {}\n", "{", loaded("x", s.type, false),
              s.chooses ? ", k" : "", "}", "}");
  text +=
      "  __device__ State combine(const State& a, const State& b) const {\n";
  text += combination(s);
  text += "  }\n";
  text += "  __device__ Stored stored(const State& s) const {\n";
  text += str("    return {};\n  {}\n{};\n\n",
              stored("s.v", s.type, false, s.stored), "}", "}");
  text += str("{}  // namespace {}_parts\n\n", "}", name);
  constexpr std::string_view kShells[] = {"rows", "short_rows", "columns"};
  text += str("SY_KERNEL({}, {}_parts::Params, kScanThreads) {}\n", name, name,
              "{");
  text += str("  scan_{}({}_parts::Op(p));\n{}\n",
              kShells[static_cast<int>(shell)], name, "}");
  return text;
}

}  // namespace sy::cuda::print
