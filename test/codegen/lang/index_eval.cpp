#include "test/codegen/lang/index_eval.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>

#include "codegen/lang/cpp_text.h"

namespace sy::lang {
namespace {

using Int = std::int64_t;
using List = std::vector<Int>;

class Evaluator {
 public:
  Evaluator(const IndexValues& values, std::string_view op)
      : values_(values), op_("[" + std::string(op) + "] ") {}

  IndexValue run(const Expr& e) {
    switch (e->kind) {
      case NodeKind::kNumber:
        if (e->number.is_int) return e->number.i;
        return e->number.d;
      case NodeKind::kBool: return e->number.i != 0;
      case NodeKind::kNone: return std::monostate{};
      case NodeKind::kString: return e->name;
      case NodeKind::kName: return name(e->name);
      case NodeKind::kUnary: return unary(*e);
      case NodeKind::kBinary: return binary(*e);
      case NodeKind::kCall: return call(*e);
      case NodeKind::kMethod:
      case NodeKind::kAttribute: return method(*e);
      case NodeKind::kIf:
        return run(e->children[truth(e->children[0]) ? 1 : 2]);
      case NodeKind::kLet: {
        locals_.emplace_back(e->name, run(e->children[0]));
        IndexValue v = run(e->children[1]);
        locals_.pop_back();
        return v;
      }
      case NodeKind::kList: {
        List out;
        for (const Expr& c : e->children) out.push_back(integer(c));
        return out;
      }
      case NodeKind::kComprehension: return comprehension(*e);
      case NodeKind::kIndex: return index(*e);
      case NodeKind::kSlice: return slice(*e);
    }
    return {};
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw std::domain_error(op_ + message);
  }

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
  Int integer(const Expr& e) { return integer(run(e)); }
  static Int integer(const IndexValue& v) {
    return std::holds_alternative<bool>(v) ? Int{std::get<bool>(v)}
                                           : std::get<Int>(v);
  }
  List list(const Expr& e) { return std::get<List>(run(e)); }
  static double number(const IndexValue& v) {
    return std::holds_alternative<double>(v) ? std::get<double>(v)
                                             : static_cast<double>(integer(v));
  }

  IndexValue unary(const Node& e) {
    if (e.op == Op::kNot) return !truth(e.children[0]);
    const IndexValue v = run(e.children[0]);
    if (std::holds_alternative<double>(v)) return -std::get<double>(v);
    return -integer(v);
  }

  IndexValue binary(const Node& e) {
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

  Int floor_div(Int a, Int b) const {
    if (b == 0) fail("expected a divisor other than 0, got 0");
    if (b == -1) return -a;
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
  }

  Int wrap_index(Int i, Int n) const {
    if (i < -n || i >= n) {
      throw std::out_of_range(
          op_ + "expected an index in [" + std::to_string(-n) + ", " +
          std::to_string(n - 1) + "], got " + std::to_string(i));
    }
    return i < 0 ? i + n : i;
  }

  Int wrap_dim(Int d, Int ndim) const {
    const Int n = std::max<Int>(ndim, 1);
    if (d < -n || d >= n) {
      throw std::out_of_range(
          op_ + "dim: expected a value in [" + std::to_string(-n) + ", " +
          std::to_string(n - 1) + "], got " + std::to_string(d));
    }
    return d < 0 ? d + n : d;
  }

  static Int size(const List& l) { return static_cast<Int>(l.size()); }
  static auto at(List& l, Int i) { return l.begin() + i; }

  IndexValue method(const Node& e) {
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
  void items(const Node& e, const std::vector<Item>& source, List& out) {
    for (const Item& item : source) {
      locals_.emplace_back(e.name, item);
      if (e.children.size() < 3 || truth(e.children[2])) {
        out.push_back(integer(e.children[0]));
      }
      locals_.pop_back();
    }
  }

  IndexValue comprehension(const Node& e) {
    const IndexValue source = run(e.children[1]);
    List out;
    if (const auto* tensors = std::get_if<std::vector<TensorMeta>>(&source)) {
      items(e, *tensors, out);
    } else {
      items(e, std::get<List>(source), out);
    }
    return out;
  }

  IndexValue index(const Node& e) {
    const IndexValue source = run(e.children[0]);
    const Int i = integer(e.children[1]);
    if (const auto* tensors = std::get_if<std::vector<TensorMeta>>(&source)) {
      return (*tensors)[static_cast<std::size_t>(
          wrap_index(i, static_cast<Int>(tensors->size())))];
    }
    const List& l = std::get<List>(source);
    return l[static_cast<std::size_t>(wrap_index(i, size(l)))];
  }

  IndexValue slice(const Node& e) {
    List l = list(e.children[0]);
    const Int n = size(l);
    const auto bound = [&](const Expr& x, Int otherwise, Int least) {
      if (x->kind == NodeKind::kNone) return otherwise;
      const Int i = integer(x);
      return std::clamp(i < 0 ? i + n : i, least, n);
    };
    const Int begin = bound(e.children[1], 0, 0);
    const Int end = bound(e.children[2], n, begin);
    return List(at(l, begin), at(l, end));
  }

  static Int product(const List& l) {
    Int p = 1;
    for (Int v : l) p *= v;
    return p;
  }

  static List contiguous(const List& sizes) {
    List out(sizes.size());
    Int stride = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      out[i] = stride;
      stride *= std::max<Int>(sizes[i], 1);
    }
    return out;
  }

  IndexValue call(const Node& e) {
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

  Int of_dim(const List& l, Int dim) const {
    const Int d = wrap_dim(dim, size(l));
    return l.empty() ? 1 : l[static_cast<std::size_t>(d)];
  }

  bool contains_dim(const List& dims, Int dim, Int ndim) const {
    return std::any_of(dims.begin(), dims.end(),
                       [&](Int d) { return wrap_dim(d, ndim) == dim; });
  }

  List without(const List& a, const List& dims) const {
    List out;
    for (Int k = 0; k < size(a); ++k) {
      if (!contains_dim(dims, k, size(a))) {
        out.push_back(a[static_cast<std::size_t>(k)]);
      }
    }
    // An empty list has a dim too, which is wrong only if it is out of range.
    for (Int d : dims) wrap_dim(d, size(a));
    return out;
  }

  List permutation(const List& dims, Int ndim) const {
    if (size(dims) != ndim) {
      fail("dims: expected " + std::to_string(ndim) + " dims, got " +
           text(dims));
    }
    return wrap_dims(dims, ndim);
  }

  List permuted(List& a, const List& dims) const {
    List out;
    for (Int d : permutation(dims, size(a))) out.push_back(*at(a, d));
    return out;
  }

  List inverse_permutation(const List& dims) const {
    List out(dims.size());
    const List wrapped = permutation(dims, size(dims));
    for (Int k = 0; k < size(dims); ++k) {
      *at(out, wrapped[static_cast<std::size_t>(k)]) = k;
    }
    return out;
  }

  static bool is_expandable_to(const List& sizes, const List& wanted) {
    if (sizes.size() > wanted.size()) return false;
    return std::equal(sizes.rbegin(), sizes.rend(), wanted.rbegin(),
                      [](Int own, Int w) { return own == 1 || own == w; });
  }

  List expand_sizes(const List& sizes, List wanted) const {
    const List given = wanted;
    const Int added = size(wanted) - size(sizes);
    if (added < 0) {
      fail("size: expected at least " + std::to_string(size(sizes)) +
           " sizes, got " + text(given));
    }
    for (Int k = 0; k < size(wanted); ++k) {
      Int& w = *at(wanted, k);
      const Int own =
          k < added ? -1 : sizes[static_cast<std::size_t>(k - added)];
      if (w == -1 && k >= added) w = own;
      if (w < 0 || (own >= 0 && own != 1 && own != w)) {
        fail("size: expected sizes that " + text(sizes) +
             " can be expanded to, got " + text(given));
      }
    }
    return wanted;
  }

  List expand_strides(const List& sizes, const List& strides,
                      const List& wanted) const {
    List out = expand_sizes(sizes, wanted);
    const Int added = size(wanted) - size(sizes);
    for (Int k = 0; k < size(out); ++k) {
      const auto own = static_cast<std::size_t>(k - added);
      const bool kept = k >= added && sizes[own] == *at(out, k);
      *at(out, k) = kept ? strides[own] : 0;
    }
    return out;
  }

  List diagonal_sizes(List& sizes, Int offset, Int dim1, Int dim2) const {
    const Int x = wrap_dim(dim1, size(sizes));
    const Int y = wrap_dim(dim2, size(sizes));
    if (x == y) {
      fail("dim2: expected another dim than dim1, got " + std::to_string(dim1) +
           " and " + std::to_string(dim2));
    }
    const Int n = *at(sizes, x) + std::min<Int>(offset, 0);
    const Int m = *at(sizes, y) - std::max<Int>(offset, 0);
    List out = without(sizes, {x, y});
    out.push_back(std::max<Int>(std::min(n, m), 0));
    return out;
  }

  List unfold_sizes(List sizes, Int dim, Int length, Int step) const {
    const Int d = wrap_dim(dim, size(sizes));
    const Int n = of_dim(sizes, d);
    if (length < 0 || length > n) {
      fail("size: expected a value in [0, " + std::to_string(n) + "], got " +
           std::to_string(length));
    }
    positive_step(step);
    if (!sizes.empty()) *at(sizes, d) = (n - length) / step + 1;
    sizes.push_back(length);
    return sizes;
  }

  List window_counts(const List& sizes, const List& kernel, const List& stride,
                     const List& padding, const List& dilation) const {
    const std::size_t n = sizes.size();
    if (kernel.size() != n || stride.size() != n || padding.size() != n ||
        dilation.size() != n) {
      fail("expected " + std::to_string(n) + " numbers for windows");
    }
    List out;
    for (std::size_t k = 0; k < n; ++k) {
      out.push_back(floor_div(sizes[k] + 2 * padding[k] -
                                  dilation[k] * (kernel[k] - 1) - 1,
                              stride[k]) +
                    1);
    }
    return out;
  }

  // n numbers of at least `least` from n or one.
  List window_numbers(const char* argument, List list, Int n, Int least) const {
    const auto good = [&](Int v) { return v >= least && v <= INT32_MAX; };
    if ((size(list) != 1 && size(list) != n) ||
        !std::all_of(list.begin(), list.end(), good)) {
      fail(std::string(argument) + ": expected " + std::to_string(n) +
           " numbers of at least " + std::to_string(least));
    }
    if (size(list) == 1) list.resize(static_cast<std::size_t>(n), list[0]);
    return list;
  }

  List pooled_sizes(Int n, const List& sizes, List kernel, List stride,
                    List padding, List dilation, bool ceil_mode) const {
    if (size(sizes) != n + 1 && size(sizes) != n + 2) {
      fail("self: expected " + std::to_string(n + 1) + " or " +
           std::to_string(n + 2) + " dims");
    }
    kernel = window_numbers("kernel_size", kernel, n, 1);
    stride = stride.empty() ? kernel : window_numbers("stride", stride, n, 1);
    padding = window_numbers("padding", padding, n, 0);
    dilation = window_numbers("dilation", dilation, n, 1);
    const auto places = sizes.end() - n;
    if (std::count(places - 1, sizes.end(), 0) != 0) {
      fail("self: expected a tensor that is empty in its batch only");
    }
    List out(sizes.begin(), places);
    for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
      const Int extent = dilation[k] * (kernel[k] - 1) + 1;
      const Int room = *(places + static_cast<Int>(k)) + 2 * padding[k];
      const Int rounded = ceil_mode ? stride[k] - 1 : 0;
      Int count = floor_div(room - extent + rounded, stride[k]) + 1;
      if (ceil_mode && (count - 1) * stride[k] >= room - padding[k]) --count;
      if (padding[k] > kernel[k] / 2 || count <= 0) {
        fail("kernel_size: expected windows that fit into self");
      }
      out.push_back(count);
    }
    return out;
  }

  void positive_step(Int step) const {
    if (step <= 0) {
      fail("step: expected a positive step, got " + std::to_string(step));
    }
  }

  List reduced_sizes(const List& sizes, const IndexValue& dims,
                     bool keepdim) const {
    List reduced;
    if (const auto* several = std::get_if<List>(&dims)) {
      reduced = wrap_dims(*several, size(sizes));
    } else if (!std::holds_alternative<std::monostate>(dims)) {
      reduced = {wrap_dim(integer(dims), size(sizes))};
    }
    List out;
    for (Int k = 0; k < size(sizes); ++k) {
      const bool gone =
          reduced.empty() ||
          std::find(reduced.begin(), reduced.end(), k) != reduced.end();
      if (!gone) {
        out.push_back(sizes[static_cast<std::size_t>(k)]);
      } else if (keepdim) {
        out.push_back(1);
      }
    }
    return out;
  }

  IndexValue cat_sizes(const std::vector<TensorMeta>& tensors, Int dim) const {
    std::optional<List> out;
    for (const TensorMeta& t : tensors) {
      if (t.sizes == List{0}) continue;
      if (!out) {
        if (t.sizes.empty()) {
          fail("tensors: expected tensors of at least one dim, got 0 dims");
        }
        out = t.sizes;
        dim = wrap_dim(dim, size(*out));
        continue;
      }
      List same = t.sizes;
      const bool fits = same.size() == out->size() &&
                        (*at(same, dim) = *at(*out, dim), same == *out);
      if (!fits) {
        fail("tensors: expected sizes that agree with " + text(*out) +
             " but in dim " + std::to_string(dim) + ", got " + text(t.sizes));
      }
      *at(*out, dim) += t.sizes[static_cast<std::size_t>(dim)];
    }
    return out.value_or(List{0});
  }

  Int slice_bound(const IndexValue& v, Int otherwise, Int n) const {
    if (std::holds_alternative<std::monostate>(v)) return otherwise;
    const Int i = integer(v);
    return std::clamp<Int>(i < 0 ? i + n : i, 0, n);
  }

  static std::string text(const List& l) {
    std::string out = "[";
    for (std::size_t k = 0; k < l.size(); ++k) {
      out += (k ? ", " : "") + std::to_string(l[k]);
    }
    return out + "]";
  }

  List wrap_dims(const List& dims, Int ndim) const {
    List out;
    for (Int d : dims) {
      const Int w = wrap_dim(d, ndim);
      if (std::find(out.begin(), out.end(), w) != out.end()) {
        fail("dim: expected distinct dims, got " + text(dims));
      }
      out.push_back(w);
    }
    return out;
  }

  List infer_size(List sizes, Int numel) const {
    Int known = 1;
    Int* open = nullptr;
    for (Int& s : sizes) {
      if (s == -1 && !open) {
        open = &s;
      } else if (s < 0) {
        fail("shape: expected sizes, at most one of them -1, got " +
             text(sizes));
      } else {
        known *= s;
      }
    }
    if (open ? known == 0 || numel % known != 0 : known != numel) {
      fail("shape: expected sizes of " + std::to_string(numel) +
           " elements, got " + text(sizes));
    }
    if (open) *open = numel / known;
    return sizes;
  }

  List broadcast(const List& a, const List& b) const {
    const std::size_t n = std::max(a.size(), b.size());
    List out(n);
    for (std::size_t k = 0; k < n; ++k) {
      const Int x = k < a.size() ? a[a.size() - 1 - k] : 1;
      const Int y = k < b.size() ? b[b.size() - 1 - k] : 1;
      if (x != y && x != 1 && y != 1) {
        fail("expected sizes that broadcast, got " + text(a) + " and " +
             text(b));
      }
      out[n - 1 - k] = x == 1 ? y : x;
    }
    return out;
  }

  // From the last dim on, dims that lie in memory as one are one chunk; new
  // sizes must fill each chunk exactly.
  List view_strides(const List& sizes, const List& strides,
                    const List& wanted) const {
    if (product(sizes) == 0) {
      return sizes == wanted ? strides : contiguous(wanted);
    }
    List out(wanted.size());
    auto next = static_cast<Int>(wanted.size()) - 1;
    Int chunk = 1;
    Int filled = 1;
    Int step = strides.empty() ? 1 : strides.back();
    for (Int d = size(sizes) - 1; d >= 0; --d) {
      const auto k = static_cast<std::size_t>(d);
      chunk *= sizes[k];
      if (d > 0 && (sizes[k - 1] == 1 || strides[k - 1] == chunk * step)) {
        continue;
      }
      while (next >= 0 &&
             (filled < chunk || wanted[static_cast<std::size_t>(next)] == 1)) {
        out[static_cast<std::size_t>(next)] = filled * step;
        filled *= wanted[static_cast<std::size_t>(next)];
        --next;
      }
      if (filled != chunk) no_view(sizes, strides, wanted);
      if (d > 0) step = strides[k - 1];
      chunk = filled = 1;
    }
    for (; next >= 0; --next) {
      if (wanted[static_cast<std::size_t>(next)] != 1) {
        no_view(sizes, strides, wanted);
      }
      out[static_cast<std::size_t>(next)] = filled * step;
    }
    return out;
  }

  [[noreturn]] void no_view(const List& sizes, const List& strides,
                            const List& wanted) const {
    fail("self: expected sizes and strides that can be seen as " +
         text(wanted) + ", got " + text(sizes) + " and " + text(strides) +
         "; call contiguous() or reshape");
  }

  const IndexValues& values_;
  const std::string op_;
  std::vector<std::pair<std::string, IndexValue>> locals_;
};

}  // namespace

IndexValue eval_index(const Expr& e, const IndexValues& values,
                      std::string_view op) {
  return Evaluator(values, op).run(e);
}

}  // namespace sy::lang
