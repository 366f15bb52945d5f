#include "runtime/loader/index_program.h"

#include <algorithm>
#include <cmath>

#include "aten/engine/geometry.h"
#include "codegen/lang/cpp_text.h"

namespace sy::runtime {

using lang::NodeKind;
using lang::Op;
using Slot = IndexSlot;

namespace {

enum class Method : uint8_t {
  kDim,
  kDtype,
  kIsContiguous,
  kIsFloatingPoint,
  kNumel,
  kSize,
  kSizes,
  kStorageOffset,
  kStride,
  kStrides,
};
constexpr std::pair<std::string_view, Method> kMethods[] = {
    {"dim", Method::kDim},
    {"dtype", Method::kDtype},
    {"is_contiguous", Method::kIsContiguous},
    {"is_floating_point", Method::kIsFloatingPoint},
    {"numel", Method::kNumel},
    {"scalar_type", Method::kDtype},
    {"size", Method::kSize},
    {"sizes", Method::kSizes},
    {"storage_offset", Method::kStorageOffset},
    {"stride", Method::kStride},
    {"strides", Method::kStrides},
};

Method method_of(std::string_view name) {
  for (const auto& [known, method] : kMethods) {
    if (known == name) return method;
  }
  SY_INTERNAL_ASSERT(false, "method {}", name);
  return Method::kDim;
}

}  // namespace

// A lang::Node with its names looked up.
struct IndexProgram::Node {
  enum class Name : uint8_t { kArgument, kLocal };

  const lang::Node* e = nullptr;  // kept by the program's expr_
  Name name = Name::kArgument;
  size_t index = 0;  // of an argument, or of what a let binds
  Type type = TypeKind::kTensor;
  Slot constant;
  bool is_constant = false;
  std::span<const IndexFunction> functions;  // of a call
  Method method = Method::kDim;
  std::vector<std::unique_ptr<Node>> children;
};

namespace {

using Node = IndexProgram::Node;

class Compiler {
 public:
  explicit Compiler(const FunctionSchema& schema) : schema_(schema) {}

  std::unique_ptr<Node> node(const lang::Expr& e) {
    auto n = std::make_unique<Node>();
    n->e = e.get();
    switch (e->kind) {
      case NodeKind::kNumber:
        if (e->number.is_int) {
          n->constant.set(e->number.i);
        } else {
          n->constant.set(e->number.d);
        }
        n->is_constant = true;
        break;
      case NodeKind::kBool:
        n->constant.set_bool(e->number.i != 0);
        n->is_constant = true;
        break;
      case NodeKind::kNone: n->is_constant = true; break;
      case NodeKind::kString:
        n->constant.set(std::string_view(e->name));
        n->is_constant = true;
        break;
      case NodeKind::kName: name(*n); break;
      case NodeKind::kLet:
        n->children.push_back(node(e->children[0]));
        n->index = open(e->name);
        n->children.push_back(node(e->children[1]));
        scope_.pop_back();
        break;
      case NodeKind::kComprehension:
        n->children.resize(2);
        n->children[1] = node(e->children[1]);
        n->index = open(e->name);
        n->children[0] = node(e->children[0]);
        if (e->children.size() > 2) {
          n->children.push_back(node(e->children[2]));
        }
        scope_.pop_back();
        break;
      default:
        if (e->kind == NodeKind::kCall) {
          n->functions = find_index_function(e->name);
        }
        if (e->kind == NodeKind::kMethod || e->kind == NodeKind::kAttribute) {
          n->method = method_of(e->name);
        }
        for (const lang::Expr& c : e->children) n->children.push_back(node(c));
    }
    return n;
  }

  size_t locals() const { return locals_; }

 private:
  size_t open(const std::string& name) {
    scope_.emplace_back(name, locals_);
    return locals_++;
  }

  void name(Node& n) {
    for (auto it = scope_.rbegin(); it != scope_.rend(); ++it) {
      if (it->first != n.e->name) continue;
      n.name = Node::Name::kLocal;
      n.index = it->second;
      return;
    }
    const int i = schema_.argument_index(n.e->name);
    if (i >= 0) {
      n.index = static_cast<size_t>(i);
      n.type = schema_.arguments()[n.index].type;
      return;
    }
    n.constant.set(std::string_view(n.e->name));  // of a dtype
    n.is_constant = true;
  }

  const FunctionSchema& schema_;
  std::vector<std::pair<std::string, size_t>> scope_;
  size_t locals_ = 0;
};

class Evaluator {
 public:
  Evaluator(const char* op, const Value* args,
            const std::vector<int>& positions, size_t locals)
      : op_(op), args_(args), positions_(positions), locals_(locals) {}

  void run(const Node& n, Slot* out) {
    if (n.is_constant) {
      *out = n.constant;
      return;
    }
    switch (n.e->kind) {
      case NodeKind::kName:
        if (n.name == Node::Name::kLocal) {
          *out = locals_[n.index];
        } else {
          out->set(args_[positions_[n.index]], n.type);
        }
        return;
      case NodeKind::kUnary: return unary(n, out);
      case NodeKind::kBinary: return binary(n, out);
      case NodeKind::kCall: return call(n, out);
      case NodeKind::kMethod:
      case NodeKind::kAttribute: return method(n, out);
      case NodeKind::kIf:
        return run(*n.children[truth(*n.children[0]) ? 1 : 2], out);
      case NodeKind::kLet:
        run(*n.children[0], &locals_[n.index]);
        return run(*n.children[1], out);
      case NodeKind::kList: {
        Dims list;
        for (const auto& c : n.children) list.push_back(integer(*c));
        return out->set(IntArrayRef(list));
      }
      case NodeKind::kComprehension: return comprehension(n, out);
      case NodeKind::kIndex: return index(n, out);
      case NodeKind::kSlice: {
        const std::vector<int64_t> list = this->list(*n.children[0]);
        const int64_t begin = bound(*n.children[1], 0);
        const int64_t end = bound(*n.children[2], INT64_MAX);
        return out->set(IntArrayRef(geometry::slice(list, begin, end)));
      }
      default: SY_INTERNAL_ASSERT(false, "an index expression");
    }
  }

  bool truth(const Node& n) {
    Slot s;
    run(n, &s);
    if (s.kind != Slot::kBool) missing(n);
    return s.i != 0;
  }
  int64_t integer(const Node& n) {
    Slot s;
    run(n, &s);
    if (s.kind != Slot::kInt && s.kind != Slot::kBool) missing(n);
    return s.i;
  }
  std::vector<int64_t> list(const Node& n) {
    Slot s;
    run(n, &s);
    if (s.kind != Slot::kList) missing(n);
    return std::move(s.list);
  }

 private:
  [[noreturn]] void missing(const Node& n) const {
    fail(ErrorKind::Value, "[{}] {}: expected a value, got None", op_,
         n.e->name.empty() ? "an expression" : n.e->name.c_str());
  }

  int64_t bound(const Node& n, int64_t open) {
    Slot s;
    run(n, &s);
    return s.kind == Slot::kNone ? open : s.i;
  }

  static double number(const Slot& s) {
    return s.kind == Slot::kNumber ? s.d : static_cast<double>(s.i);
  }
  static bool is_number(const Slot& s) {
    return s.kind == Slot::kInt || s.kind == Slot::kBool ||
           s.kind == Slot::kNumber;
  }

  void unary(const Node& n, Slot* out) {
    if (n.e->op == Op::kNot) return out->set_bool(!truth(*n.children[0]));
    run(*n.children[0], out);
    if (!is_number(*out)) missing(*n.children[0]);
    if (out->kind == Slot::kNumber) return out->set(-out->d);
    out->set(static_cast<int64_t>(0 - static_cast<uint64_t>(out->i)));
  }

  static bool same(const Slot& a, const Slot& b) {
    if (is_number(a) && is_number(b)) {
      const bool whole = a.kind != Slot::kNumber && b.kind != Slot::kNumber;
      return whole ? a.i == b.i : number(a) == number(b);
    }
    if (a.kind != b.kind) return false;
    if (a.kind == Slot::kList)
      return IntArrayRef(a.list) == IntArrayRef(b.list);
    if (a.kind == Slot::kString) return a.text == b.text;
    return true;  // None
  }

  void binary(const Node& n, Slot* out) {
    const Op op = n.e->op;
    if (op == Op::kAnd || op == Op::kOr) {
      const bool first = truth(*n.children[0]);
      const bool decided = first == (op == Op::kOr);
      return out->set_bool(decided ? first : truth(*n.children[1]));
    }
    Slot a, b;
    run(*n.children[0], &a);
    run(*n.children[1], &b);
    if (op == Op::kEq) return out->set_bool(same(a, b));
    if (op == Op::kNe) return out->set_bool(!same(a, b));
    if (a.kind == Slot::kList && b.kind == Slot::kList) {
      return out->set(IntArrayRef(geometry::concat(a.list, b.list)));
    }
    if (!is_number(a)) missing(*n.children[0]);
    if (!is_number(b)) missing(*n.children[1]);
    const bool whole = a.kind != Slot::kNumber && b.kind != Slot::kNumber;
    if (lang::is_comparison(op)) {
      return out->set_bool(whole ? compare(op, a.i, b.i)
                                 : compare(op, number(a), number(b)));
    }
    if (whole) return arithmetic(op, a.i, b.i, out);
    return arithmetic(op, number(a), number(b), out);
  }

  template <class T>
  static bool compare(Op op, T a, T b) {
    switch (op) {
      case Op::kLt: return a < b;
      case Op::kLe: return a <= b;
      case Op::kGt: return a > b;
      default: return a >= b;
    }
  }

  void arithmetic(Op op, int64_t a, int64_t b, Slot* out) const {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    switch (op) {
      case Op::kAdd: return out->set(static_cast<int64_t>(x + y));
      case Op::kSub: return out->set(static_cast<int64_t>(x - y));
      case Op::kMul: return out->set(static_cast<int64_t>(x * y));
      case Op::kFloorDiv: return out->set(geometry::floor_div(op_, a, b));
      case Op::kMod: return out->set(geometry::mod(op_, a, b));
      default:
        arithmetic(op, static_cast<double>(a), static_cast<double>(b), out);
    }
  }
  static void arithmetic(Op op, double a, double b, Slot* out) {
    switch (op) {
      case Op::kAdd: return out->set(a + b);
      case Op::kSub: return out->set(a - b);
      case Op::kMul: return out->set(a * b);
      case Op::kDiv: return out->set(a / b);
      case Op::kPow: return out->set(std::pow(a, b));
      case Op::kFloorDiv: return out->set(std::floor(a / b));
      default: return out->set(a - b * std::floor(a / b));
    }
  }

  void call(const Node& n, Slot* out) {
    Slot args[kMaxIndexParameters];
    SY_INTERNAL_ASSERT(n.children.size() <= std::size(args));
    for (size_t i = 0; i < n.children.size(); ++i) {
      run(*n.children[i], &args[i]);
    }
    call_index_function(n.functions, op_, args, n.children.size(), out);
  }

  void method(const Node& n, Slot* out) {
    Slot self;
    run(*n.children[0], &self);
    if (n.method == Method::kDtype && is_number(self)) {
      return out->set(std::string_view(self.kind == Slot::kBool  ? "bool"
                                       : self.kind == Slot::kInt ? "int64"
                                                                 : "float64"));
    }
    if (self.kind != Slot::kTensor) missing(*n.children[0]);
    const TensorBase& t = *self.tensor;
    switch (n.method) {
      case Method::kDim: return out->set(t.dim());
      case Method::kDtype:
        return out->set(std::string_view(dtype_name(t.scalar_type())));
      case Method::kIsContiguous: return out->set_bool(t.is_contiguous());
      case Method::kIsFloatingPoint:
        return out->set_bool(t.is_floating_point());
      case Method::kNumel: return out->set(t.numel());
      case Method::kSize: return out->set(t.size(integer(*n.children[1])));
      case Method::kSizes: return out->set(t.sizes());
      case Method::kStorageOffset: return out->set(t.storage_offset());
      case Method::kStride: return out->set(t.stride(integer(*n.children[1])));
      case Method::kStrides: return out->set(t.strides());
    }
  }

  void comprehension(const Node& n, Slot* out) {
    Slot source;
    run(*n.children[1], &source);
    std::vector<int64_t> list;
    const auto add = [&] {
      if (n.children.size() > 2 && !truth(*n.children[2])) return;
      list.push_back(integer(*n.children[0]));
    };
    if (source.kind == Slot::kTensors) {
      for (const TensorBase& t : source.tensors) {
        locals_[n.index].set(t);
        add();
      }
    } else {
      if (source.kind != Slot::kList) missing(*n.children[1]);
      for (const int64_t i : source.list) {
        locals_[n.index].set(i);
        add();
      }
    }
    out->set(IntArrayRef(list));
  }

  void index(const Node& n, Slot* out) {
    Slot source;
    run(*n.children[0], &source);
    const int64_t i = integer(*n.children[1]);
    if (source.kind == Slot::kTensors) {
      return out->set(geometry::at(op_, source.tensors, i));
    }
    if (source.kind != Slot::kList) missing(*n.children[0]);
    out->set(geometry::at(op_, IntArrayRef(source.list), i));
  }

  const char* op_;
  const Value* args_;
  const std::vector<int>& positions_;
  std::vector<Slot> locals_;
};

}  // namespace

IndexProgram::IndexProgram(const lang::Expr& e, const FunctionSchema& schema,
                           const char* op)
    : expr_(e), op_(op) {
  Compiler compiler(schema);
  root_ = compiler.node(expr_);
  locals_ = compiler.locals();
}

IndexProgram::~IndexProgram() = default;
IndexProgram::IndexProgram(IndexProgram&&) noexcept = default;
IndexProgram& IndexProgram::operator=(IndexProgram&&) noexcept = default;

void IndexProgram::run(const Value* args, const std::vector<int>& positions,
                       IndexSlot* out) const {
  Evaluator(op_, args, positions, locals_).run(*root_, out);
}
bool IndexProgram::truth(const Value* args,
                         const std::vector<int>& positions) const {
  return Evaluator(op_, args, positions, locals_).truth(*root_);
}
Dims IndexProgram::list(const Value* args,
                        const std::vector<int>& positions) const {
  return Dims(Evaluator(op_, args, positions, locals_).list(*root_));
}
int64_t IndexProgram::integer(const Value* args,
                              const std::vector<int>& positions) const {
  return Evaluator(op_, args, positions, locals_).integer(*root_);
}

}  // namespace sy::runtime
