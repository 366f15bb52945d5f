#include "runtime/loader/index_values.h"

#include <stdexcept>

namespace sy::runtime {
namespace {

std::vector<int64_t> to_vector(IntArrayRef list) {
  return {list.begin(), list.end()};
}

lang::TensorMeta meta_of(const TensorBase& t) {
  return {to_vector(t.sizes()), to_vector(t.strides()), t.storage_offset(),
          dtype_name(t.scalar_type())};
}

}  // namespace

lang::IndexValue to_index_value(const Value& v, Type type) {
  if (type.is_optional()) {
    if (v.is_none()) return {};
    type = type.element();
  }
  if (type.is_list()) {
    if (type.element() == TypeKind::kTensor) {
      std::vector<lang::TensorMeta> out;
      for (const TensorBase& t : v.to_tensor_list()) out.push_back(meta_of(t));
      return out;
    }
    if (v.tag() == Value::Tag::IntList || v.is_int()) {
      return to_vector(v.to_int_list());
    }
    return {};
  }
  switch (type.kind()) {
    case TypeKind::kTensor: return meta_of(v.to_tensor());
    case TypeKind::kInt:
    case TypeKind::kSymInt: return v.to_int();
    case TypeKind::kBool:
    case TypeKind::kSymBool: return v.to_bool();
    case TypeKind::kFloat:
    case TypeKind::kSymFloat: return v.to_double();
    case TypeKind::kScalar:
      if (v.is_bool()) return v.to_bool();
      if (v.is_int()) return v.to_int();
      return v.to_double();
    case TypeKind::kStr: return std::string(v.to_string_view());
    case TypeKind::kScalarType:
      return std::string(dtype_name(v.to_scalar_type()));
    default: return {};
  }
}

Value from_index_value(const lang::IndexValue& v) {
  if (const auto* i = std::get_if<int64_t>(&v)) return *i;
  if (const auto* b = std::get_if<bool>(&v)) return *b;
  if (const auto* d = std::get_if<double>(&v)) return *d;
  if (const auto* l = std::get_if<std::vector<int64_t>>(&v)) {
    return IntArrayRef(*l);
  }
  return {};
}

std::string text_of(const lang::IndexValue& v) {
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  if (const auto* b = std::get_if<bool>(&v)) return str(*b);
  return to_string(from_index_value(v));
}

lang::IndexValue evaluate_index(const lang::Expr& e, const lang::IndexValues& v,
                                std::string_view op) {
  try {
    return lang::eval_index(e, v, op);
  } catch (const std::out_of_range& error) {
    fail(ErrorKind::Index, error.what());
  } catch (const std::domain_error& error) {
    fail(ErrorKind::Value, error.what());
  } catch (const std::bad_variant_access&) {
    fail(ErrorKind::Value, "[", op, "] ", lang::to_string(e),
         ": expected a value, got None");
  }
}

IndexFormula::IndexFormula(lang::Expr e, const FunctionSchema& schema,
                           std::string op)
    : expr_(std::move(e)), op_(std::move(op)) {
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const Argument& a = schema.arguments()[i];
    if (lang::mentions(expr_, a.name.view())) {
      names_.push_back({std::string(a.name.view()), i, a.type});
    }
  }
}

lang::IndexValue IndexFormula::run(const Value* args,
                                   const std::vector<int>& positions) const {
  lang::IndexValues values;
  for (const Name& n : names_) {
    values.emplace(n.name, to_index_value(args[positions[n.argument]], n.type));
  }
  return evaluate_index(expr_, values, op_);
}

Dims IndexFormula::list(const Value* args,
                        const std::vector<int>& positions) const {
  const lang::IndexValue v = run(args, positions);
  const auto* list = std::get_if<std::vector<int64_t>>(&v);
  SY_CHECK(list != nullptr, Value, "[", op_, "] ", lang::to_string(expr_),
           ": expected a list, got None");
  return Dims(IntArrayRef(*list));
}

}  // namespace sy::runtime
