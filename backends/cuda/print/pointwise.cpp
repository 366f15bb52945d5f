#include "backends/cuda/print/pointwise.h"

#include <bit>

#include "backends/cuda/print/body.h"

namespace sy::cuda::print {

namespace {

using program::ComputeType;
using program::Program;

class Printer {
 public:
  Printer(const PointwiseKernel& k, const std::string& name)
      : k_(k), p_(*k.program), name_(name), scope_(name + "_of") {
    divides_ = may_divide_by_zero(p_, k.type);
  }

  std::string print() {
    includes();
    declarations();
    text_ += "SY_KERNEL(" + name_ + ", " + scope_ + "::Params, 256) {\n";
    line(1, "using namespace " + scope_ + ";");
    numbers();
    if (divides_) line(1, "int divided = 0;");
    switch (k_.index) {
      case IndexClass::kLinear: linear(); break;
      case IndexClass::kStrided: strided(); break;
      case IndexClass::kTransposed: transposed(); break;
      case IndexClass::kWide: wide(); break;
    }
    if (divides_) {
      line(1, "if (divided != 0) {");
      line(2, "report(p.head, Fault::kDivision, -1, 0, 0);");
      line(1, "}");
    }
    text_ += "}\n";
    return std::move(text_);
  }

 private:
  static std::string num(int64_t n) { return std::to_string(n); }
  void line(int depth, std::string_view text) {
    if (!text.starts_with('#'))
      text_.append(static_cast<size_t>(2 * depth), ' ');
    text_ += text;
    text_ += '\n';
  }

  // `begin`, items with commas between them, `end`: in a line, or in lines of
  // at most 80 columns, if an item is not longer.
  void list(int depth, std::string_view begin,
            const std::vector<std::string>& items, std::string_view end) {
    std::string all(begin);
    for (size_t i = 0; i < items.size(); ++i) {
      all += items[i] + (i + 1 < items.size() ? ", " : std::string(end));
    }
    if (static_cast<size_t>(2 * depth) + all.size() <= 80) {
      return line(depth, all);
    }
    line(depth, begin);
    const size_t indent = static_cast<size_t>(2 * depth) + 4;
    std::string now;
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string next =
          items[i] + (i + 1 < items.size() ? "," : std::string(end));
      if (!now.empty() && indent + now.size() + 1 + next.size() > 80) {
        line(depth + 2, now);
        now.clear();
      }
      if (!now.empty()) now += ' ';
      now += next;
    }
    line(depth + 2, now);
  }

  bool is_immediate(int i) const { return (k_.immediate >> i & 1) != 0; }
  bool is_single(int i) const { return (k_.single >> i & 1) != 0; }
  bool is_transposed(int i) const { return (k_.transposed >> i & 1) != 0; }
  // Whether the input's value is the same for all elements.
  bool is_fixed(int i) const { return is_immediate(i) || is_single(i); }

  // Whether the shell has it in a register i0, i1, … before it loops.
  bool has_name(int i) const {
    return is_immediate(i) || (is_single(i) && k_.index == IndexClass::kLinear);
  }

  bool is_bool_register(bool marked) const {
    return marked || k_.type == ComputeType::b8;
  }
  bool is_bool_input(int i) const {
    return is_bool_register(is_bool_operand(p_, i));
  }
  bool is_bool_result(int i) const {
    return is_bool_register(p_.results[i].is_bool);
  }
  std::string register_type(bool is_bool) const {
    return is_bool ? "bool8" : std::string(type_name(k_.type));
  }
  std::string element(int operand) const {
    return std::string(element_name(k_.dtypes[operand]));
  }
  std::string loaded(int input, const std::string& from) const {
    return is_bool_input(input)
               ? "load_bool(" + from + ")"
               : "load_value<" + std::string(type_name(k_.type)) + ">(" + from +
                     ")";
  }
  std::string stored(int result) const {
    return (is_bool_result(result) ? "store_bool<" : "store_value<") +
           element(p_.n_inputs + result) + ">(o" + num(result) + ")";
  }

  void includes() {
    line(0, "#include \"pointwise.cuh\"");
    for (const std::string_view file : needed_files(p_, k_.type)) {
      line(0, "#include \"" + std::string(file) + "\"");
    }
  }

  int numbers_count() const {
    return p_.n_uniforms + std::popcount(k_.immediate);
  }

  void declarations() {
    line(0, "namespace " + scope_ + " {");
    line(0, "struct Params {");
    line(1, "LaunchHead head;");
    line(1, "int64_t n;");
    line(1, k_.index == IndexClass::kLinear ? "int32_t vectors, before;"
                                            : "int32_t vectors, dims;");
    line(1, "void* data[" + num(k_.operands()) + "];");
    if (numbers_count() > 0) {
      line(1, "uint64_t numbers[" + num(numbers_count()) + "];");
    }
    const std::string k = num(k_.operands());
    switch (k_.index) {
      case IndexClass::kLinear: break;
      case IndexClass::kStrided:
        line(1, "Strides<" + num(k_.rank) + ", " + k + "> strides;");
        break;
      case IndexClass::kTransposed:
        line(1, "Squares<" + k + "> squares;");
        break;
      case IndexClass::kWide: line(1, "WideStrides<" + k + "> strides;"); break;
    }
    line(0, "};");

    std::vector<std::string> operands, parameters;
    for (int i = 0; i < p_.n_inputs + p_.n_uniforms; ++i) {
      operands.push_back(i < p_.n_inputs ? "i" + num(i)
                                         : "u" + num(i - p_.n_inputs));
      parameters.push_back(register_type(is_bool_input(i)) + " " +
                           operands.back());
    }
    if (divides_) parameters.push_back("int& divided");
    for (int i = 0; i < p_.n_results; ++i) {
      parameters.push_back(register_type(is_bool_result(i)) + "& o" + num(i));
    }
    list(0, "__device__ __forceinline__ void element(", parameters, ") {");
    const Body body = print_body(p_, k_.type, operands, "t", 2);
    text_ += body.statements;
    for (int i = 0; i < p_.n_results; ++i) {
      line(1,
           "o" + num(i) + " = " + body.results[static_cast<size_t>(i)] + ";");
    }
    line(0, "}");
    line(0, "}  // namespace " + scope_);
  }

  // Prints the numbers that all elements share.
  void numbers() {
    int next = p_.n_uniforms;
    for (int i = 0; i < p_.n_uniforms; ++i) {
      number("u" + num(i), is_bool_input(p_.n_inputs + i), i);
    }
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (is_immediate(i)) number("i" + num(i), is_bool_input(i), next++);
    }
  }
  void number(const std::string& name, bool is_bool, int slot) {
    const std::string type = register_type(is_bool);
    line(1, "const " + type + " " + name + " = uniform_value<" + type +
                ">(p.numbers[" + num(slot) + "]);");
  }

  // The results, then the call: `value(i)` is the register of input i.
  template <class Value>
  void call(int depth, const Value& value) {
    for (int i = 0; i < p_.n_results; ++i) {
      line(depth, register_type(is_bool_result(i)) + " o" + num(i) + ";");
    }
    std::vector<std::string> arguments;
    for (int i = 0; i < p_.n_inputs; ++i) {
      arguments.push_back(has_name(i) ? "i" + num(i) : value(i));
    }
    for (int i = 0; i < p_.n_uniforms; ++i) arguments.push_back("u" + num(i));
    if (divides_) arguments.push_back("divided");
    for (int i = 0; i < p_.n_results; ++i) arguments.push_back("o" + num(i));
    list(depth, "element(", arguments, ");");
  }

  void pointers() {
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (is_immediate(i)) continue;
      line(1, "const auto* const in" + num(i) + " = static_cast<const " +
                  element(i) + "*>(p.data[" + num(i) + "]);");
    }
    for (int i = 0; i < p_.n_results; ++i) {
      const int k = p_.n_inputs + i;
      line(1, "auto* const out" + num(i) + " = static_cast<" + element(k) +
                  "*>(p.data[" + num(k) + "]);");
    }
  }

  void linear() {
    const PointwiseTile tile = tile_of(k_);
    const std::string w = num(tile.width), u = num(tile.unroll);
    pointers();
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (!is_single(i) || is_immediate(i)) continue;
      line(1, "const " + register_type(is_bool_input(i)) + " i" + num(i) +
                  " = " + loaded(i, "in" + num(i) + "[0]") + ";");
    }
    line(1, "const int64_t tile = int64_t{blockDim.x} * " + num(tile.each()) +
                ";");
    line(1, "const int64_t begin = blockIdx.x * tile - p.before;");
    line(1, "if (p.vectors != 0 && begin >= 0 && begin + tile <= p.n) {");
    line(2, "const int64_t first = begin + threadIdx.x * " + w + ";");
    line(2, "const int64_t step = int64_t{blockDim.x} * " + w + ";");
    const auto pack = [&](int k) { return "<" + element(k) + ", " + w + ">"; };
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (!is_fixed(i))
        line(2, "Pack" + pack(i) + " v" + num(i) + "[" + u + "];");
    }
    line(0, "#pragma unroll");
    line(2, "for (int k = 0; k < " + u + "; ++k) {");
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (is_fixed(i)) continue;
      line(3, "v" + num(i) + "[k] = load_pack" + pack(i) + "(in" + num(i) +
                  " + first + k * step);");
    }
    line(2, "}");
    line(0, "#pragma unroll");
    line(2, "for (int k = 0; k < " + u + "; ++k) {");
    for (int i = 0; i < p_.n_results; ++i) {
      line(3, "Pack" + pack(p_.n_inputs + i) + " w" + num(i) + ";");
    }
    line(0, "#pragma unroll");
    line(3, "for (int e = 0; e < " + w + "; ++e) {");
    call(4, [&](int i) { return loaded(i, "v" + num(i) + "[k].at[e]"); });
    for (int i = 0; i < p_.n_results; ++i) {
      line(4, "w" + num(i) + ".at[e] = " + stored(i) + ";");
    }
    line(3, "}");
    for (int i = 0; i < p_.n_results; ++i) {
      line(3, "store_pack" + pack(p_.n_inputs + i) + "(out" + num(i) +
                  " + first + k * step, w" + num(i) + ");");
    }
    line(2, "}");
    line(1, "} else {");
    line(2, "const int64_t end = begin + tile < p.n ? begin + tile : p.n;");
    line(2, "int64_t at = (begin < 0 ? 0 : begin) + threadIdx.x;");
    line(0, "#pragma unroll 1");
    line(2, "for (; at < end; at += blockDim.x) {");
    call(3, [&](int i) { return loaded(i, "in" + num(i) + "[at]"); });
    for (int i = 0; i < p_.n_results; ++i) {
      line(3, "out" + num(i) + "[at] = " + stored(i) + ";");
    }
    line(2, "}");
    line(1, "}");
  }

  // Read and write the elements at the places at[operand].
  std::string read(int i, const std::string& at) const {
    return "read_at<" + element(i) + ">(p.data[" + num(i) + "], " + at + ")";
  }
  void write(int depth, int result, const std::string& at) {
    const int k = p_.n_inputs + result;
    list(depth, "write_at(", {"p.data[" + num(k) + "]", at, stored(result)},
         ");");
  }

  void at_places(int depth, const std::string& find) {
    line(depth, "int64_t at[" + num(k_.operands()) + "];");
    line(depth, find);
    call(depth,
         [&](int i) { return loaded(i, read(i, "at[" + num(i) + "]")); });
    for (int i = 0; i < p_.n_results; ++i) {
      write(depth, i, "at[" + num(p_.n_inputs + i) + "]");
    }
  }

  // Elements of an operand that are read and written at once.
  std::string pack_of(int operand) const {
    return "Pack<" + element(operand) + ", " + num(tile_of(k_).width) + ">";
  }
  bool is_packed(int i) const { return k_.packs && !is_fixed(i); }

  // Reads what place `k` of at[][] says, computes, writes.
  void strided_read(int depth) {
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (is_immediate(i)) continue;
      const std::string from =
          "(p.data[" + num(i) + "], at[k][" + num(i) + "]);";
      std::string text = "v" + num(i) + "[k] = ";
      text += is_packed(i) ? "read_pack<" + element(i) + ", " +
                                 num(tile_of(k_).width) + ">"
                           : "read_at<" + element(i) + ">";
      line(depth, text + from);
    }
  }
  void strided_compute(int depth) {
    if (k_.packs) {
      for (int i = 0; i < p_.n_results; ++i) {
        line(depth, pack_of(p_.n_inputs + i) + " w" + num(i) + ";");
      }
      line(0, "#pragma unroll");
      line(depth, "for (int e = 0; e < " + num(tile_of(k_).width) + "; ++e) {");
    }
    call(depth + k_.packs, [&](int i) {
      return loaded(i, "v" + num(i) + "[k]" + (is_packed(i) ? ".at[e]" : ""));
    });
    for (int i = 0; i < p_.n_results; ++i) {
      const std::string place = "at[k][" + num(p_.n_inputs + i) + "]";
      if (k_.packs) {
        line(depth + 1, "w" + num(i) + ".at[e] = " + stored(i) + ";");
      } else {
        write(depth, i, place);
      }
    }
    if (!k_.packs) return;
    line(depth, "}");
    for (int i = 0; i < p_.n_results; ++i) {
      const int operand = p_.n_inputs + i;
      line(depth, "write_pack(p.data[" + num(operand) + "], at[k][" +
                      num(operand) + "], w" + num(i) + ");");
    }
  }
  // `count` places at a time.
  void strided_places(int depth, const std::string& count) {
    line(depth, "int64_t at[" + count + "][" + num(k_.operands()) + "];");
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (is_immediate(i)) continue;
      line(depth, (is_packed(i) ? pack_of(i) : element(i)) + " v" + num(i) +
                      "[" + count + "];");
    }
  }

  void strided() {
    const std::string u = num(tile_of(k_).unroll);
    line(1, "const unsigned tile = blockDim.x * " + u + ";");
    line(1, "const unsigned n = static_cast<unsigned>(p.n);");
    line(1, "const unsigned first = blockIdx.x * tile + threadIdx.x;");
    line(1, "if ((blockIdx.x + 1) * tile <= n) {");
    strided_places(2, u);
    line(0, "#pragma unroll");
    line(2, "for (int k = 0; k < " + u + "; ++k) {");
    line(3, "find(p.strides, first + k * blockDim.x, at[k]);");
    strided_read(3);
    line(2, "}");
    line(0, "#pragma unroll");
    line(2, "for (int k = 0; k < " + u + "; ++k) {");
    strided_compute(3);
    line(2, "}");
    line(1, "} else {");
    line(0, "#pragma unroll 1");
    line(2, "for (unsigned i = first; i < n; i += blockDim.x) {");
    line(3, "constexpr int k = 0;");
    strided_places(3, "1");
    line(3, "find(p.strides, i, at[k]);");
    strided_read(3);
    strided_compute(3);
    line(2, "}");
    line(1, "}");
  }

  void wide() {
    line(0, "#pragma unroll 1");
    line(1, "for (int64_t i = first_index(); i < p.n; i += index_stride()) {");
    at_places(2, "find(p.strides, p.dims, i, at);");
    line(1, "}");
  }

  void transposed() {
    const std::string k = num(k_.operands());
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (!is_transposed(i)) continue;
      line(1, "__shared__ " + element(i) + " square" + num(i) +
                  "[kSquare][kSquare + 1];");
    }
    line(1, "int64_t at[" + k + "];");
    line(1, "const SquarePlace place = find_square(p.squares, at);");
    line(1, "constexpr int kEach = kSquare / kSquareRows;");
    line(1, "const int x = threadIdx.x, y = threadIdx.y;");
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (!is_fixed(i) && !is_transposed(i)) {
        line(1, element(i) + " v" + num(i) + "[kEach];");
      }
    }
    line(0, "#pragma unroll");
    line(1, "for (int k = 0; k < kEach; ++k) {");
    line(2, "const int z = y + k * kSquareRows;");
    line(2, "if (is_inside(p.squares, place, z, x)) {");
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (!is_transposed(i)) continue;
      list(3, "square" + num(i) + "[x][z] = read_at<" + element(i) + ">(",
           {"p.data[" + num(i) + "]", square_place(i, "z", "x")}, ");");
    }
    line(2, "}");
    line(2, "if (is_inside(p.squares, place, x, z)) {");
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (is_fixed(i) || is_transposed(i)) continue;
      list(3, "v" + num(i) + "[k] = read_at<" + element(i) + ">(",
           {"p.data[" + num(i) + "]", square_place(i, "x", "z")}, ");");
    }
    line(2, "}");
    line(1, "}");
    line(1, "__syncthreads();");
    line(0, "#pragma unroll");
    line(1, "for (int k = 0; k < kEach; ++k) {");
    line(2, "const int z = y + k * kSquareRows;");
    line(2, "if (is_inside(p.squares, place, x, z)) {");
    call(3, [&](int i) {
      return loaded(i, is_transposed(i) ? "square" + num(i) + "[z][x]"
                                        : "v" + num(i) + "[k]");
    });
    for (int i = 0; i < p_.n_results; ++i) {
      write(3, i, square_place(p_.n_inputs + i, "x", "z"));
    }
    line(2, "}");
    line(1, "}");
  }
  std::string square_place(int operand, const std::string& column,
                           const std::string& row) const {
    return "in_square<" + num(operand) + ">(p.squares, at, " + column + ", " +
           row + ")";
  }

  const PointwiseKernel& k_;
  const Program& p_;
  const std::string& name_;
  std::string scope_;
  bool divides_;
  std::string text_;
};

}  // namespace

std::string print_pointwise(const PointwiseKernel& k, const std::string& name) {
  return Printer(k, name).print();
}

}  // namespace sy::cuda::print
