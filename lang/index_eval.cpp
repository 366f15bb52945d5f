#include "lang/index_eval.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>

#include "lang/cpp_text.h"
#include "lang/index_geometry.h"

namespace sy::lang {
namespace {

class Evaluator : private IndexGeometry {
 public:
  Evaluator(const IndexValues& values, std::string_view op)
      : IndexGeometry(op), values_(values) {}

  IndexValue run(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kNumber:
        if (e->number.is_int) return e->number.i;
        return e->number.d;
      case ExprKind::kBool: return e->number.i != 0;
      case ExprKind::kNone: return std::monostate{};
      case ExprKind::kString: return e->name;
      case ExprKind::kName: return name(e->name);
      case ExprKind::kUnary: return unary(*e);
      case ExprKind::kBinary: return binary(*e);
      case ExprKind::kCall: return call(*e);
      case ExprKind::kMethod:
      case ExprKind::kAttribute: return method(*e);
      case ExprKind::kIf:
        return run(e->children[truth(e->children[0]) ? 1 : 2]);
      case ExprKind::kLet: {
        locals_.emplace_back(e->name, run(e->children[0]));
        IndexValue v = run(e->children[1]);
        locals_.pop_back();
        return v;
      }
      case ExprKind::kList: {
        List out;
        for (const Expr& c : e->children) out.push_back(integer(c));
        return out;
      }
      case ExprKind::kComprehension: return comprehension(*e);
      case ExprKind::kIndex: return index(*e);
      case ExprKind::kSlice: return slice(*e);
    }
    return {};
  }

 private:
  IndexValue name(const std::string& n) const {
    for (auto it = locals_.rbegin(); it != locals_.rend(); ++it) {
      if (it->first == n) return it->second;
    }
    const auto it = values_.find(n);
    if (it != values_.end()) return it->second;
    const auto& dtypes = dtype_names();
    if (std::find(dtypes.begin(), dtypes.end(), n) != dtypes.end()) return n;
    return {};
  }

  bool truth(const Expr& e) { return std::get<bool>(run(e)); }
  using IndexGeometry::integer;
  Int integer(const Expr& e) { return integer(run(e)); }
  List list(const Expr& e) { return std::get<List>(run(e)); }

  IndexValue unary(const ExprNode& e) {
    if (e.op == Op::kNot) return !truth(e.children[0]);
    const IndexValue v = run(e.children[0]);
    if (std::holds_alternative<double>(v)) return -std::get<double>(v);
    return -integer(v);
  }

  IndexValue binary(const ExprNode& e) {
    if (e.op == Op::kAnd) return truth(e.children[0]) && truth(e.children[1]);
    if (e.op == Op::kOr) return truth(e.children[0]) || truth(e.children[1]);
    const IndexValue a = run(e.children[0]);
    const IndexValue b = run(e.children[1]);
    if (e.op == Op::kEq) return same(a, b);
    if (e.op == Op::kNe) return !same(a, b);
    if (is_comparison(e.op)) return compare(e.op, number(a), number(b));
    if (std::holds_alternative<List>(a)) {
      List out = std::get<List>(a);
      const List& more = std::get<List>(b);
      out.insert(out.end(), more.begin(), more.end());
      return out;
    }
    if (std::holds_alternative<double>(a) ||
        std::holds_alternative<double>(b)) {
      return arithmetic(e.op, number(a), number(b));
    }
    return arithmetic(e.op, integer(a), integer(b));
  }

  static bool same(const IndexValue& a, const IndexValue& b) {
    const auto is_number = [](const IndexValue& v) {
      return std::holds_alternative<double>(v) ||
             std::holds_alternative<Int>(v);
    };
    if (is_number(a) && is_number(b)) return number(a) == number(b);
    if (a.index() != b.index()) return false;
    if (std::holds_alternative<bool>(a)) {
      return std::get<bool>(a) == std::get<bool>(b);
    }
    if (std::holds_alternative<List>(a)) {
      return std::get<List>(a) == std::get<List>(b);
    }
    if (std::holds_alternative<std::string>(a)) {
      return std::get<std::string>(a) == std::get<std::string>(b);
    }
    return std::holds_alternative<std::monostate>(a);
  }

  static bool compare(Op op, double a, double b) {
    switch (op) {
      case Op::kLt: return a < b;
      case Op::kLe: return a <= b;
      case Op::kGt: return a > b;
      default: return a >= b;
    }
  }

  static double arithmetic(Op op, double a, double b) {
    switch (op) {
      case Op::kAdd: return a + b;
      case Op::kSub: return a - b;
      case Op::kMul: return a * b;
      default: return a / b;
    }
  }

  Int arithmetic(Op op, Int a, Int b) const {
    switch (op) {
      case Op::kAdd: return a + b;
      case Op::kSub: return a - b;
      case Op::kMul: return a * b;
      case Op::kMod: return a - b * floor_div(a, b);
      default: return floor_div(a, b);
    }
  }

  IndexValue method(const ExprNode& e) {
    const IndexValue self = run(e.children[0]);
    if (e.name == "dtype" && !std::holds_alternative<TensorMeta>(self)) {
      return std::string(std::holds_alternative<bool>(self)  ? "bool"
                         : std::holds_alternative<Int>(self) ? "int64"
                                                             : "float64");
    }
    const TensorMeta t = std::get<TensorMeta>(self);
    const Int ndim = size(t.sizes);
    if (e.name == "dim") return ndim;
    if (e.name == "sizes") return t.sizes;
    if (e.name == "strides") return t.strides;
    if (e.name == "storage_offset") return t.offset;
    if (e.name == "numel") return product(t.sizes);
    if (e.name == "dtype" || e.name == "scalar_type") return t.dtype;
    if (e.name == "is_floating_point") return is_floating(t);
    if (e.name == "is_contiguous") {
      Int expected = 1;
      for (Int d = ndim - 1; d >= 0; --d) {
        const auto k = static_cast<std::size_t>(d);
        if (t.sizes[k] == 0) return true;
        if (t.sizes[k] != 1 && t.strides[k] != expected) return false;
        expected *= t.sizes[k];
      }
      return true;
    }
    Int dim = integer(e.children[1]);
    if (dim < -ndim || dim >= ndim) {
      throw std::out_of_range("[" + e.name + "] dim: expected a value in [" +
                              std::to_string(-ndim) + ", " +
                              std::to_string(ndim - 1) + "], got " +
                              std::to_string(dim));
    }
    if (dim < 0) dim += ndim;
    const auto d = static_cast<std::size_t>(dim);
    return e.name == "size" ? t.sizes[d] : t.strides[d];
  }

  template <class Item>
  void items(const ExprNode& e, const std::vector<Item>& source, List& out) {
    for (const Item& item : source) {
      locals_.emplace_back(e.name, item);
      if (e.children.size() < 3 || truth(e.children[2])) {
        out.push_back(integer(e.children[0]));
      }
      locals_.pop_back();
    }
  }

  IndexValue comprehension(const ExprNode& e) {
    const IndexValue source = run(e.children[1]);
    List out;
    if (const auto* tensors = std::get_if<std::vector<TensorMeta>>(&source)) {
      items(e, *tensors, out);
    } else {
      items(e, std::get<List>(source), out);
    }
    return out;
  }

  IndexValue index(const ExprNode& e) {
    const IndexValue source = run(e.children[0]);
    const Int i = integer(e.children[1]);
    if (const auto* tensors = std::get_if<std::vector<TensorMeta>>(&source)) {
      return (*tensors)[static_cast<std::size_t>(
          wrap_index(i, static_cast<Int>(tensors->size())))];
    }
    const List& l = std::get<List>(source);
    return l[static_cast<std::size_t>(wrap_index(i, size(l)))];
  }

  IndexValue slice(const ExprNode& e) {
    List l = list(e.children[0]);
    const Int n = size(l);
    const auto bound = [&](const Expr& x, Int otherwise, Int least) {
      if (x->kind == ExprKind::kNone) return otherwise;
      const Int i = integer(x);
      return std::clamp(i < 0 ? i + n : i, least, n);
    };
    const Int begin = bound(e.children[1], 0, 0);
    const Int end = bound(e.children[2], n, begin);
    return List(at(l, begin), at(l, end));
  }

  IndexValue call(const ExprNode& e) {
    std::vector<IndexValue> args;
    for (const Expr& c : e.children) args.push_back(run(c));
    const auto i = [&](std::size_t k) { return integer(args[k]); };
    const auto l = [&](std::size_t k) -> List& {
      return std::get<List>(args[k]);
    };
    const std::string& f = e.name;
    if (f == "abs") return std::abs(i(0));
    if (f == "ceil") return static_cast<Int>(std::ceil(number(args[0])));
    if (f == "floor") return static_cast<Int>(std::floor(number(args[0])));
    if (f == "ceil_div") return -floor_div(-i(0), i(1));
    if (f == "clamp") return std::min(std::max(i(0), i(1)), i(2));
    if (f == "wrap_dim") return wrap_dim(i(0), i(1));
    if (f == "fill") return List(static_cast<std::size_t>(i(0)), i(1));
    if (f == "range") {
      return args.size() == 1   ? range(0, i(0), 1)
             : args.size() == 2 ? range(i(0), i(1), 1)
                                : range(i(0), i(1), i(2));
    }
    if (f == "len") {
      const auto* t = std::get_if<std::vector<TensorMeta>>(&args[0]);
      return t ? static_cast<Int>(t->size()) : size(l(0));
    }
    if ((f == "min" || f == "max") && args.size() == 2) {
      return f == "min" ? std::min(i(0), i(1)) : std::max(i(0), i(1));
    }
    if (f == "wrap_index") return wrap_index(i(0), i(1));
    if (f == "window_counts") {
      return window_counts(l(0), l(1), l(2), l(3), l(4));
    }
    if (f == "pooled_sizes") {
      return pooled_sizes(i(0), l(1), l(2), l(3), l(4), l(5),
                          std::get<bool>(args[6]));
    }
    if (f == "is_floating") {
      return is_floating(std::get<TensorMeta>(args[0]));
    }
    if (f == "cat_sizes") {
      return cat_sizes(std::get<std::vector<TensorMeta>>(args[0]), i(1));
    }
    if (f == "slice_start") return slice_bound(args[1], 0, i(0));
    if (f == "slice_size") {
      positive_step(i(3));
      const Int from = slice_bound(args[1], 0, i(0));
      const Int to = std::max(slice_bound(args[2], i(0), i(0)), from);
      return -floor_div(from - to, i(3));
    }
    return list_call(f, args);
  }

  static bool is_floating(const TensorMeta& t) {
    return t.dtype.find("float") != std::string::npos;
  }

  static List range(Int begin, Int end, Int step) {
    List out;
    for (Int v = begin; step > 0 ? v < end : step < 0 && v > end; v += step) {
      out.push_back(v);
    }
    return out;
  }

  IndexValue list_call(const std::string& f, std::vector<IndexValue>& args) {
    List& a = std::get<List>(args[0]);
    const auto i = [&](std::size_t k) { return integer(args[k]); };
    if (f == "all") return std::find(a.begin(), a.end(), 0) == a.end();
    if (f == "any") {
      return std::any_of(a.begin(), a.end(), [](Int v) { return v != 0; });
    }
    if (f == "contains") return std::find(a.begin(), a.end(), i(1)) != a.end();
    if (f == "sum") {
      Int s = 0;
      for (Int v : a) s += v;
      return s;
    }
    if (f == "prod") return product(a);
    if (f == "min" || f == "max") {
      if (a.empty()) fail(f + " of an empty list");
      return f == "min" ? *std::min_element(a.begin(), a.end())
                        : *std::max_element(a.begin(), a.end());
    }
    if (f == "reversed") return List(a.rbegin(), a.rend());
    if (f == "with") {
      const Int d = wrap_dim(i(1), size(a));
      if (!a.empty()) *at(a, d) = i(2);
      return a;
    }
    if (f == "inserted") {
      a.insert(at(a, wrap_dim(i(1), size(a) + 1)), i(2));
      return a;
    }
    if (f == "swapped") {
      const Int x = wrap_dim(i(1), size(a));
      const Int y = wrap_dim(i(2), size(a));
      if (x != y) std::swap(*at(a, x), *at(a, y));
      return a;
    }
    if (f == "without") {
      const auto* several = std::get_if<List>(&args[1]);
      return without(a, several ? *several : List{i(1)});
    }
    if (f == "contains_dim") return contains_dim(a, i(1), i(2));
    if (f == "contiguous_strides") return contiguous(a);
    if (f == "wrap_dims") return wrap_dims(a, i(1));
    if (f == "is_permutation") {
      List sorted = a;
      std::sort(sorted.begin(), sorted.end());
      return sorted == range(0, i(1), 1);
    }
    if (f == "infer_size") return infer_size(a, i(1));
    if (f == "inverse_permutation") return inverse_permutation(a);
    if (f == "diagonal_sizes") return diagonal_sizes(a, i(1), i(2), i(3));
    if (f == "diagonal_strides") {
      List out = without(a, {i(1), i(2)});
      out.push_back(of_dim(a, i(1)) + of_dim(a, i(2)));
      return out;
    }
    if (f == "diagonal_offset") {
      return std::abs(i(1)) * of_dim(a, i(i(1) >= 0 ? 3 : 2));
    }
    if (f == "unfold_sizes") return unfold_sizes(a, i(1), i(2), i(3));
    if (f == "unfold_strides") {
      const Int d = wrap_dim(i(1), size(a));
      const Int own = of_dim(a, d);
      if (!a.empty()) *at(a, d) = own * i(2);
      a.push_back(own);
      return a;
    }
    if (f == "reduced_sizes") {
      return reduced_sizes(a, args[1], std::get<bool>(args[2]));
    }
    const List& b = std::get<List>(args[1]);
    if (f == "broadcast") return broadcast(a, b);
    if (f == "is_expandable_to") return is_expandable_to(a, b);
    if (f == "permuted") return permuted(a, b);
    if (f == "expand_sizes") return expand_sizes(a, b);
    if (f == "expand_strides") {
      return expand_strides(a, b, std::get<List>(args[2]));
    }
    if (f == "unsqueezed_stride") {
      const Int d = wrap_dim(i(2), size(a) + 1);
      return d == size(a) ? 1
                          : a[static_cast<std::size_t>(d)] *
                                b[static_cast<std::size_t>(d)];
    }
    return view_strides(a, b, std::get<List>(args[2]));
  }

  const IndexValues& values_;
  std::vector<std::pair<std::string, IndexValue>> locals_;
};

}  // namespace

IndexValue eval_index(const Expr& e, const IndexValues& values,
                      std::string_view op) {
  return Evaluator(values, op).run(e);
}

}  // namespace sy::lang
