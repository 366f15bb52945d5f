#include "backends/cuda/print/op_printer.h"

#include <algorithm>
#include <utility>

#include "backends/cuda/print/values.h"

namespace sy::cuda::print {

namespace {

constexpr std::string_view kReport =
    "    if (divided != 0) report(p.head, Fault::kDivision, -1, 0, 0);\n";

}  // namespace

void OpPrinter::need(const Program* p, ComputeType type) {
  if (p == nullptr) return;
  divides_ |= may_divide_by_zero(*p, type);
  for (const std::string_view f : needed_files(*p, type)) {
    if (std::find(files_.begin(), files_.end(), f) == files_.end()) {
      files_.push_back(f);
    }
  }
}

void OpPrinter::begin(Head head) {
  head_ = std::move(head);
  files_.push_back(head_.file);
  for (const std::string_view f : files_) add("#include \"{}\"\n", f);
  add("\nnamespace {}_parts {{\n\nusing Params = {};\n\n", name_, head_.params);
  add("struct Op{}{} {{\n  const Params& p;\n", head_.base.empty() ? "" : " : ",
      head_.base);
  for (const Shared& s : head_.shared) add("  const {} {};\n", s.type, s.name);
  const bool at_end = divides_ && !head_.reports_at_once;
  if (at_end) add("  mutable int divided = 0;\n");
  add("  __device__ explicit Op(const Params& q) : p(q)");
  for (const Shared& s : head_.shared) add(", {}({})", s.name, s.value);
  add(" {{}}\n");
  if (at_end) add("  __device__ ~Op() {{\n{}  }}\n", kReport);
  add("\n");
}

std::vector<std::string> OpPrinter::run(const Program& p, ComputeType type,
                                        std::vector<std::string> operands,
                                        std::string_view prefix,
                                        ComputeType given) {
  for (int i = 0; i < p.n_uniforms; ++i) {
    const bool is_bool = (p.bool_uniforms >> i & 1) != 0;
    std::string n = str("p.numbers[{}].{}", number_++,
                        member_of(is_bool ? ComputeType::b8 : given));
    // A number of 64 bits is a long long, which is no int64_t for some hosts.
    if (!is_bool && (given != type || type == ComputeType::i64)) {
      n = str("static_cast<{}>({})", type_name(type), n);
    }
    operands.push_back(std::move(n));
  }
  if (head_.reports_at_once && !has_divided_ && may_divide_by_zero(p, type)) {
    has_divided_ = true;
    add("    int divided = 0;\n");
  }
  Body b = print_body(p, type, operands, prefix, 4);
  out_ += b.statements;
  return std::move(b.results);
}

void OpPrinter::report() {
  if (has_divided_) out_ += kReport;
  has_divided_ = false;
}

void OpPrinter::give(const std::vector<std::string>& values) {
  report();
  add("    return {{");
  for (size_t i = 0; i < values.size(); ++i) {
    add("{}{}", i == 0 ? "" : ",\n            ", values[i]);
  }
  add("}};\n  }}\n");
}

void OpPrinter::end(std::string_view threads, std::string_view shell) {
  add("}};\n\n}}  // namespace {}_parts\n\nSY_KERNEL({}, {}_parts::Params, {}) "
      "{{\n  {}({}_parts::Op(p));\n}}\n",
      name_, name_, name_, threads, shell, name_);
}

void OpPrinter::members(std::string_view name, const Operands& list,
                        int width) {
  add("  struct {} {{\n", name);
  for (const Operand& o : list) {
    const bool is_pack = width > 0 && !o.fixed;
    add("    {} {};\n",
        is_pack ? str("Pack<{}, {}>", o.element, width)
                : std::string(o.element),
        o.name);
  }
  add("  }};\n");
}

void OpPrinter::reads(std::string_view result, std::string_view function,
                      const Operands& inputs, std::string_view data,
                      int width) {
  add("  __device__ {} {}({}{}) const {{\n", result, function,
      inputs.empty() ? "[[maybe_unused]] " : "", head_.at);
  std::vector<std::string> values;
  for (const Operand& o : inputs) {
    const bool is_pack = width > 0 && !o.fixed;
    values.push_back(str("{}(p.{}[{}], at[{}])",
                         is_pack ? str("read_pack<{}, {}>", o.element, width)
                                 : str("read_at<{}>", o.element),
                         data, o.number, o.number));
  }
  give(values);
}

void OpPrinter::load(const Operands& inputs, std::string_view data,
                     const Operands& later) {
  Operands all = inputs;
  all.insert(all.end(), later.begin(), later.end());
  members("In", all, 0);
  reads("In", "load", inputs, data, 0);
}

void OpPrinter::outputs(const Operands& outputs) {
  members("Out", outputs, 0);
  add("  __device__ void store(const Out& out, {}) const {{\n", head_.at);
  for (const Operand& o : outputs) {
    add("    write_at(p.data[{}], at[{}], out.{});\n", o.number, o.number,
        o.name);
  }
  add("  }}\n");
}

void OpPrinter::packs(const Operands& inputs, const Operands& outputs,
                      int width) {
  members("Ins", inputs, width);
  reads("Ins", "load_packs", inputs, "data", width);
  add("  __device__ In element({}const Ins& in, [[maybe_unused]] int e) const "
      "{{\n",
      inputs.empty() ? "[[maybe_unused]] " : "");
  std::vector<std::string> elements;
  for (const Operand& o : inputs) {
    elements.push_back(str("in.{}{}", o.name, o.fixed ? "" : ".at[e]"));
  }
  give(elements);
  members("Outs", outputs, width);
  add("  __device__ void put(Outs& outs, int e, const Out& out) const {{\n");
  for (const Operand& o : outputs) {
    add("    outs.{}.at[e] = out.{};\n", o.name, o.name);
  }
  add("  }}\n  __device__ void store_packs(const Outs& outs, {}) const {{\n",
      head_.at);
  for (const Operand& o : outputs) {
    add("    write_pack(p.data[{}], at[{}], outs.{});\n", o.number, o.number,
        o.name);
  }
  add("  }}\n");
}

}  // namespace sy::cuda::print
