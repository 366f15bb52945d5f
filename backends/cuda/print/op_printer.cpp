#include "backends/cuda/print/op_printer.h"

#include <algorithm>
#include <utility>

namespace sy::cuda::print {

void OpPrinter::need(const Program* p, ComputeType type) {
  if (p == nullptr) return;
  divides_ |= may_divide_by_zero(*p, type);
  for (const std::string_view f : needed_files(*p, type)) {
    if (std::find(files_.begin(), files_.end(), f) == files_.end()) {
      files_.push_back(f);
    }
  }
}

void OpPrinter::begin(std::string_view file, std::string_view params,
                      std::string at, const std::vector<Shared>& shared) {
  at_ = std::move(at);
  files_.push_back(file);
  for (const std::string_view f : files_) add("#include \"{}\"\n", f);
  add("\nnamespace {}_parts {{\n\nusing Params = {};\n\nstruct Op {{\n  const "
      "Params& p;\n",
      name_, params);
  for (const Shared& s : shared) add("  const {} {};\n", s.type, s.name);
  if (divides_) add("  mutable int divided = 0;\n");
  add("  __device__ explicit Op(const Params& q) : p(q)");
  for (const Shared& s : shared) add(", {}({})", s.name, s.value);
  add(" {{}}\n");
  if (divides_) {
    add("  __device__ ~Op() {{\n    if (divided != 0) report(p.head, "
        "Fault::kDivision, -1, 0, 0);\n  }}\n");
  }
  add("\n");
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
  add("  __device__ {} {}({}{}) const {{\n    return {{", result, function,
      inputs.empty() ? "[[maybe_unused]] " : "", at_);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Operand& o = inputs[i];
    const bool is_pack = width > 0 && !o.fixed;
    add("{}{}(p.{}[{}], at[{}])", i == 0 ? "" : ",\n            ",
        is_pack ? str("read_pack<{}, {}>", o.element, width)
                : str("read_at<{}>", o.element),
        data, o.number, o.number);
  }
  add("}};\n  }}\n");
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
  add("  __device__ void store(const Out& out, {}) const {{\n", at_);
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
      "{{\n    return {{",
      inputs.empty() ? "[[maybe_unused]] " : "");
  for (size_t i = 0; i < inputs.size(); ++i) {
    add("{}{}{}", i == 0 ? "in." : ", in.", inputs[i].name,
        inputs[i].fixed ? "" : ".at[e]");
  }
  add("}};\n  }}\n");
  members("Outs", outputs, width);
  add("  __device__ void put(Outs& outs, int e, const Out& out) const {{\n");
  for (const Operand& o : outputs) {
    add("    outs.{}.at[e] = out.{};\n", o.name, o.name);
  }
  add("  }}\n  __device__ void store_packs(const Outs& outs, {}) const {{\n",
      at_);
  for (const Operand& o : outputs) {
    add("    write_pack(p.data[{}], at[{}], outs.{});\n", o.number, o.number,
        o.name);
  }
  add("  }}\n");
}

}  // namespace sy::cuda::print
