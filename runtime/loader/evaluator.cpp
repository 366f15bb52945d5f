#include "runtime/loader/evaluator.h"

#include <algorithm>
#include <cmath>

#include "aten/engine/geometry.h"
#include "aten/result_type.h"
#include "aten/tensor.h"
#include "runtime/loader/evaluator_node.h"
#include "runtime/loader/index_calls.h"

namespace sy::runtime {
namespace {

using lang::Op;
using lang::PlanKind;
using Node = PlanProgram::Node;

TensorList as_tensors(const Value& v) {
  const auto list = v.to_tensor_list();
  return {static_cast<const Tensor*>(list.data()), list.size()};
}

// Whole numbers wrap around, as the compiled form does in practice.
int64_t wrapping(Op op, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  const uint64_t r = op == Op::kAdd ? x + y : op == Op::kSub ? x - y : x * y;
  return static_cast<int64_t>(r);
}

template <class T>
bool ordered(Op op, const T& a, const T& b) {
  switch (op) {
    case Op::kEq: return a == b;
    case Op::kNe: return !(a == b);
    case Op::kLt: return a < b;
    case Op::kLe: return a <= b;
    case Op::kGt: return a > b;
    default: return a >= b;
  }
}

// Equality of values that are no numbers.
bool same(const Value& a, const Value& b) {
  if (a.tag() != b.tag()) return false;
  switch (a.tag()) {
    case Value::Tag::None: return true;
    case Value::Tag::String: return a.to_string_view() == b.to_string_view();
    case Value::Tag::IntList: return a.to_int_list() == b.to_int_list();
    case Value::Tag::ScalarType:
      return a.to_scalar_type() == b.to_scalar_type();
    case Value::Tag::Device: return a.to_device() == b.to_device();
    case Value::Tag::Layout: return a.to_layout() == b.to_layout();
    case Value::Tag::MemoryFormat:
      return a.to_memory_format() == b.to_memory_format();
    default: return a.payload() == b.payload();
  }
}

class Evaluator {
 public:
  Evaluator(const char* op, const Named* names, size_t locals)
      : op_(op), names_(names), locals_(locals) {}

  void several(const Node& n, Value* out) {
    switch (n.kind) {
      case PlanKind::kLet: bind(n); return several(n.children[1], out);
      case PlanKind::kIf:
        return several(n.children[truth(n.children[0]) ? 1 : 2], out);
      case PlanKind::kTuple:
        for (size_t i = 0; i < n.results; ++i) out[i] = one(n.children[i]);
        return;
      case PlanKind::kOperator: return call(n, out);
      case PlanKind::kName:
        if (n.is_local) {
          for (size_t i = 0; i < n.results; ++i) {
            out[i] = locals_[n.index + i].value;
          }
          return;
        }
        [[fallthrough]];
      default: out[0] = one(n);
    }
  }

  Value one(const Node& n) {
    switch (n.kind) {
      case PlanKind::kNone:
      case PlanKind::kNumber:
      case PlanKind::kBool:
      case PlanKind::kString:
      case PlanKind::kDtype:
      case PlanKind::kFormat: return n.constant();
      case PlanKind::kName: return name(n);
      case PlanKind::kLet: bind(n); return one(n.children[1]);
      case PlanKind::kOperator: {
        Value out;
        call(n, &out);
        return out;
      }
      case PlanKind::kMetadata:
      case PlanKind::kOptions: return metadata(n);
      case PlanKind::kNot: return !truth(n.children[0]);
      case PlanKind::kNegate: return negated(one(n.children[0]));
      case PlanKind::kHasValue:
        return meta_of(n.children[0]) != nullptr ||
               !one(n.children[0]).is_none();
      case PlanKind::kDouble: return one(n.children[0]).to_scalar().to_double();
      case PlanKind::kBinary: return binary(n);
      case PlanKind::kConcat: {
        Value c, d;
        const Value& a = seen(n.children[0], &c);
        const Value& b = seen(n.children[1], &d);
        return IntArrayRef(geometry::concat(a.to_int_list(), b.to_int_list()));
      }
      case PlanKind::kFunction:
        return (*std::get_if<Node::Function>(&n.data))(
            one(n.children[0]).to_scalar().to_double());
      case PlanKind::kIndexFunction: return index_function(n);
      case PlanKind::kIf: return one(n.children[truth(n.children[0]) ? 1 : 2]);
      case PlanKind::kList: return list(n);
      case PlanKind::kResult: {
        std::vector<Value> all(n.children[0].results);
        several(n.children[0], all.data());
        return std::move(all[n.index]);
      }
      case PlanKind::kAt: return at(n);
      case PlanKind::kSlice: {
        Value own;
        const Value& list = seen(n.children[0], &own);
        const auto bound = [&](size_t i, int64_t open) {
          const Node& c = n.children[i];
          return c.kind == PlanKind::kNone ? open : one(c).to_int();
        };
        const int64_t begin = bound(1, 0);
        return IntArrayRef(
            geometry::slice(list.to_int_list(), begin, bound(2, INT64_MAX)));
      }
      case PlanKind::kComprehension: return comprehension(n);
      case PlanKind::kTuple: break;
    }
    SY_INTERNAL_ASSERT(false, "a tuple where one value is due");
    return {};
  }

 private:
  struct Local {
    Value value;
    const autograd::SavedMeta* meta = nullptr;
  };

  bool truth(const Node& n) { return one(n).to_bool(); }

  const Value& name(const Node& n) const {
    if (n.is_local) return locals_[n.index].value;
    SY_INTERNAL_ASSERT(names_[n.index].value != nullptr);
    return *names_[n.index].value;
  }

  // A value that lies somewhere is not copied; another one is put in `own`.
  const Value& seen(const Node& n, Value* own) {
    if (n.kind == PlanKind::kName) return name(n);
    if (n.kind <= PlanKind::kFormat) return n.constant();
    *own = one(n);
    return *own;
  }

  const autograd::SavedMeta* meta_of(const Node& n) const {
    if (n.kind != PlanKind::kName) return nullptr;
    return n.is_local ? locals_[n.index].meta : names_[n.index].meta;
  }

  const std::vector<autograd::SavedMeta>* metas_of(const Node& n) const {
    if (n.kind != PlanKind::kName || n.is_local) return nullptr;
    return names_[n.index].metas;
  }

  void bind(const Node& n) {
    const Node& value = n.children[0];
    locals_[n.index].meta = meta_of(value);
    if (locals_[n.index].meta != nullptr) return;
    if (value.results == 1) {
      locals_[n.index].value = one(value);
      return;
    }
    std::vector<Value> all(value.results);
    several(value, all.data());
    for (size_t i = 0; i < all.size(); ++i) {
      locals_[n.index + i].value = std::move(all[i]);
    }
  }

  void call(const Node& n, Value* out) {
    constexpr size_t kInline = 12;
    Value inline_args[kInline];
    std::vector<Value> many;
    Value* args = inline_args;
    if (n.children.size() > kInline) {
      many.resize(n.children.size());
      args = many.data();
    }
    for (size_t i = 0; i < n.children.size(); ++i) {
      const Node& c = n.children[i];
      // Borrowed: the caller holds it for the length of the call.
      const bool lent = c.kind == PlanKind::kName && !c.is_local &&
                        names_[c.index].value->is_tensor();
      args[i] =
          lent ? Value::borrowed(names_[c.index].value->to_tensor()) : one(c);
    }
    const auto* const callee = std::get_if<Callee>(&n.data);
    if (callee == nullptr) {
      out[0] = result_type(as_tensors(args[0]));
      return;
    }
    callee->handle().call_boxed(args, n.children.size(), out, n.results);
  }

  Value metadata(const Node& n) {
    const auto dim = [&] { return one(n.children[1]).to_int(); };
    if (const autograd::SavedMeta* m = meta_of(n.children[0])) {
      switch (n.metadata) {
        case Metadata::kDefined: return m->defined();
        case Metadata::kDevice: return m->device();
        case Metadata::kDim: return m->dim();
        case Metadata::kDtype: return m->scalar_type();
        case Metadata::kIsContiguous: return m->is_contiguous();
        case Metadata::kIsFloatingPoint: return m->is_floating_point();
        case Metadata::kLayout: return kStrided;
        case Metadata::kNumel: return m->numel();
        case Metadata::kPinned: return {};
        case Metadata::kSize: return m->size(dim());
        case Metadata::kSizes: return m->sizes();
        default: SY_INTERNAL_ASSERT(false, "metadata that was not kept");
      }
    }
    Value own;
    const Value& v = seen(n.children[0], &own);
    if (v.is_number()) return dtype_of(v);
    const TensorBase& t = v.to_tensor();
    switch (n.metadata) {
      case Metadata::kDefined: return t.defined();
      case Metadata::kDevice: return t.device();
      case Metadata::kDim: return t.dim();
      case Metadata::kDtype: return t.scalar_type();
      case Metadata::kIsContiguous: return t.is_contiguous();
      case Metadata::kIsFloatingPoint: return t.is_floating_point();
      case Metadata::kLayout: return t.layout();
      case Metadata::kNumel: return t.numel();
      case Metadata::kPinned: return {};
      case Metadata::kSize: return t.size(dim());
      case Metadata::kSizes: return t.sizes();
      case Metadata::kStorageOffset: return t.storage_offset();
      case Metadata::kStride: return t.stride(dim());
      case Metadata::kStrides: return t.strides();
    }
    return {};
  }

  // The dtype of a Scalar.
  static Value dtype_of(const Value& v) {
    return v.is_bool() ? kBool : v.is_int() ? kLong : kDouble;
  }

  static Value negated(const Value& v) {
    if (v.is_double()) return -v.to_double();
    return wrapping(Op::kSub, 0, v.to_scalar().to_long());
  }

  Value binary(const Node& n) {
    if (n.op == Op::kAnd) return truth(n.children[0]) && truth(n.children[1]);
    if (n.op == Op::kOr) return truth(n.children[0]) || truth(n.children[1]);
    Value c, d;
    const Value& a = seen(n.children[0], &c);
    const Value& b = seen(n.children[1], &d);
    const bool numbers = a.is_number() && b.is_number();
    if (!numbers && (n.op == Op::kEq || n.op == Op::kNe)) {
      return same(a, b) == (n.op == Op::kEq);
    }
    const Scalar x = a.to_scalar(), y = b.to_scalar();
    const bool whole = !x.is_floating_point() && !y.is_floating_point();
    if (lang::is_comparison(n.op)) {
      return whole ? ordered(n.op, x.to_long(), y.to_long())
                   : ordered(n.op, x.to_double(), y.to_double());
    }
    switch (n.op) {
      case Op::kDiv: return x.to_double() / y.to_double();
      case Op::kPow: return std::pow(x.to_double(), y.to_double());
      case Op::kFloorDiv:
        return geometry::floor_div(op_, x.to_long(), y.to_long());
      case Op::kMod: return geometry::mod(op_, x.to_long(), y.to_long());
      default: break;
    }
    if (whole) return wrapping(n.op, x.to_long(), y.to_long());
    const double u = x.to_double(), v = y.to_double();
    return n.op == Op::kAdd ? u + v : n.op == Op::kSub ? u - v : u * v;
  }

  Value index_function(const Node& n) {
    Value own[kMaxIndexParameters];
    const Value* args[kMaxIndexParameters];
    SY_INTERNAL_ASSERT(n.children.size() <= std::size(args));
    for (size_t i = 0; i < n.children.size(); ++i) {
      args[i] = &seen(n.children[i], &own[i]);
    }
    return (*std::get_if<IndexCall>(&n.data))(op_, args);
  }

  Value list(const Node& n) {
    const size_t size = n.children.size();
    const Type element = n.type().without_optional();
    switch (element.kind()) {
      case TypeKind::kTensor: {
        std::vector<TensorBase> items;
        for (const auto& c : n.children) items.push_back(one(c).to_tensor());
        return n.type().is_optional()
                   ? Value::optional_tensor_list(items.data(), size)
                   : Value::tensor_list(items.data(), size);
      }
      case TypeKind::kFloat:
      case TypeKind::kSymFloat: {
        std::vector<double> items;
        for (const auto& c : n.children) items.push_back(one(c).to_double());
        return ArrayRef<double>(items);
      }
      case TypeKind::kBool:
      case TypeKind::kSymBool: {
        const std::unique_ptr<bool[]> items(new bool[size]);
        for (size_t i = 0; i < size; ++i) {
          items[i] = one(n.children[i]).to_bool();
        }
        return ArrayRef<bool>(items.get(), size);
      }
      case TypeKind::kScalar: {
        std::vector<Scalar> items;
        for (const auto& c : n.children) items.push_back(one(c).to_scalar());
        return ArrayRef<Scalar>(items);
      }
      default: {
        std::vector<int64_t> items;
        for (const auto& c : n.children) items.push_back(one(c).to_int());
        return IntArrayRef(items);
      }
    }
  }

  Value at(const Node& n) {
    Value own;
    const Value& list = seen(n.children[0], &own);
    const int64_t i = one(n.children[1]).to_int();
    if (list.is_tensor() || list.tag() == Value::Tag::TensorList ||
        list.tag() == Value::Tag::OptionalTensorList) {
      return TensorBase(geometry::at(op_, list.to_tensor_list(), i));
    }
    const auto element = [&](auto values) {
      return Value(values[static_cast<size_t>(
          geometry::wrap_index(op_, i, geometry::len(values)))]);
    };
    switch (list.tag()) {
      case Value::Tag::DoubleList: return element(list.to_double_list());
      case Value::Tag::BoolList: return element(list.to_bool_list());
      case Value::Tag::ScalarList: return element(list.to_scalar_list());
      default: return element(list.to_int_list());
    }
  }

  Value comprehension(const Node& n) {
    Value own;
    const auto* const metas = metas_of(n.children[1]);
    const Value& source = metas != nullptr ? own : seen(n.children[1], &own);
    Value& item = locals_[n.index].value;
    const autograd::SavedMeta*& meta = locals_[n.index].meta;
    meta = nullptr;
    std::vector<TensorBase> tensors;
    std::vector<int64_t> ints;
    const auto add = [&](Value v) {
      item = std::move(v);
      if (n.children.size() > 2 && !truth(n.children[2])) return;
      if (n.type() == TypeKind::kTensor) {
        tensors.push_back(one(n.children[0]).to_tensor());
      } else {
        ints.push_back(one(n.children[0]).to_int());
      }
    };
    for (size_t i = 0; metas != nullptr && i < metas->size(); ++i) {
      meta = &(*metas)[i];
      add(Value());
    }
    switch (source.tag()) {
      case Value::Tag::None: break;
      case Value::Tag::Tensor:
      case Value::Tag::TensorList:
      case Value::Tag::OptionalTensorList:
        for (const TensorBase& t : source.to_tensor_list()) {
          add(t.defined() ? Value(t) : Value());
        }
        break;
      case Value::Tag::DoubleList:
        for (const double v : source.to_double_list()) add(v);
        break;
      case Value::Tag::BoolList:
        for (const bool v : source.to_bool_list()) add(v);
        break;
      case Value::Tag::ScalarList:
        for (const Scalar& v : source.to_scalar_list()) add(v);
        break;
      default:
        for (const int64_t v : source.to_int_list()) add(v);
    }
    item = Value();
    if (n.type() == TypeKind::kTensor) {
      return Value::tensor_list(tensors.data(), tensors.size());
    }
    return IntArrayRef(ints);
  }

  const char* op_;
  const Named* names_;
  std::vector<Local> locals_;
};

}  // namespace

Value PlanProgram::value(const Named* names) const {
  return Evaluator(op_, names, locals_).one(*root_);
}

void PlanProgram::run(const Named* names, Value* results, size_t n) const {
  if (n == 1) {
    results[0] = value(names);
    return;
  }
  Evaluator(op_, names, locals_).several(*root_, results);
}

}  // namespace sy::runtime
