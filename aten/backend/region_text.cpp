#include <string>

#include "aten/backend/region_builder.h"

namespace sy {

namespace {

using program::Program;

std::string number(int64_t v) { return v == kOpen ? "?" : std::to_string(v); }

class Printer {
 public:
  explicit Printer(const Region& r) : r_(r), values_(r) {}

  std::string run() {
    out_ = "region";
    for (size_t d = 0; d < r_.sizes.size(); ++d) {
      out_ += (d == 0 ? " " : " x ") + number(r_.sizes[d]);
    }
    out_ += "\n";
    int value = 0;
    for (const RegionOperand& o : r_.inputs) {
      out_ += str("  v{} = input {}\n", value++, layout(o));
    }
    for (const RegionNode& n : r_.nodes) {
      out_ += "  ";
      for (size_t i = 0; i < n.results.size(); ++i) {
        out_ += str("{}v{}", i == 0 ? "" : ", ", value++);
      }
      node(n);
    }
    for (size_t i = 0; i < r_.outputs.size(); ++i) {
      const RegionOutput& o = r_.outputs[i];
      out_ += str("  output v{} {}", o.value, layout(o.memory));
      if (o.donor >= 0) out_ += str(" in the memory of v{}", o.donor);
      out_ += "\n";
    }
    return std::move(out_);
  }

 private:
  static std::string layout(const RegionOperand& o) {
    std::string out = str("{} [", o.dtype);
    for (size_t d = 0; d < o.strides.size(); ++d) {
      out += (d == 0 ? "" : ", ") + number(o.strides[d]);
    }
    return out + "]";
  }

  std::string dims(uint64_t bits) const {
    std::string out;
    for (size_t d = 0; d < r_.sizes.size(); ++d) {
      if (bits >> d & 1) out += str("{}{}", out.empty() ? "" : ", ", d);
    }
    return out;
  }

  void node(const RegionNode& n) {
    static constexpr const char* kKinds[] = {"pointwise", "reduce", "product",
                                             "convolution"};
    out_ += str(" = {}(", n.name == nullptr ? kKinds[n.kind] : n.name);
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      out_ += str("{}v{}", i == 0 ? "" : ", ", n.inputs[i]);
    }
    out_ += ")";
    if (n.reduced != 0) out_ += " over dims " + dims(n.reduced);
    out_ += str(" in {} ->", n.compute);
    for (const ScalarType t : n.results) out_ += str(" {}", t);
    out_ += "\n";
    if (n.kind == RegionNode::kPointwise || n.kind == RegionNode::kReduce) {
      program(n.kind == RegionNode::kReduce ? "map" : "do", n.body);
    }
    if (n.combine != nullptr) program("combine", *n.combine);
    if (n.finish != nullptr) program("finish", *n.finish);
    for (const RegionWindow& w : n.windows) {
      out_ += str("      dim {} read at dim {} * {} + dim {} * {} - {}\n",
                  w.input, w.place, w.stride, w.kernel, w.dilation, w.padding);
    }
  }

  void program(const char* part, const Program& p) {
    out_ += str("      {}: {}\n", part, program_text(p));
  }

  const Region& r_;
  RegionValues values_;
  std::string out_;
};

}  // namespace

std::string region_text(const Region& region) { return Printer(region).run(); }

}  // namespace sy
