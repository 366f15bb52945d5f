#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "aten/tensor.h"
#include "c10/process/error.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/calls/calls.h"
#include "tools/sy/cases/values.h"
#include "tools/sy/support/names.h"

namespace sy::tools {

namespace {

// The extents that the letters of a shape stand for.
struct Extents {
  int64_t b, n, m;
};
constexpr Extents kUsual{2, 4, 3};
constexpr Extents kOne{1, 1, 1};
constexpr Extents kTails{3, 7, 17};   // no multiple of a vector or a tile
constexpr Extents kTiles{2, 33, 65};  // more than one of each
constexpr Extents kEmpty{2, 0, 3};

// Shapes of the first tensor, the second, and those after; the first that an
// operator takes is used.
constexpr std::array<std::array<const char*, 3>, 13> kShapes = {{
    {"nm", "nm", "nm"},
    {"nm", "mn", "nn"},
    {"bnm", "bmn", "bnn"},
    {"nm", "m", "m"},
    {"m", "m", "m"},
    {"mm", "mm", "mm"},
    {"nn", "nm", "mn"},
    {"nm", "mn", "n"},
    {"n", "nm", "m"},
    {"bnm", "bnm", "bnm"},
    {"bnmm", "nnmm", "n"},
    {"bnmmm", "nnmmm", "n"},
    {"bbb", "bb", "b"},
}};

enum class Values { kUsual, kSigned, kTies, kSpecial };

std::vector<int64_t> sizes_of(std::string_view shape, Extents e) {
  std::vector<int64_t> out;
  for (const char c : shape)
    out.push_back(c == 'b' ? e.b : c == 'n' ? e.n : e.m);
  return out;
}

double element(Values values, int64_t i, double unit) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  switch (values) {
    case Values::kUsual: return 0.3 + 0.6 * unit;
    case Values::kSigned: return 4 * unit - 2;
    case Values::kTies: return std::floor(8 * unit) - 3;
    case Values::kSpecial: break;
  }
  constexpr double kList[] = {
      -1.5, std::numeric_limits<double>::quiet_NaN(), kInf, -kInf, 0.0, -0.0,
      2.0};
  return kList[static_cast<size_t>(i) % std::size(kList)];
}

Tensor numbers(IntArrayRef sizes, ScalarType dtype, Values values,
               uint32_t seed) {
  return filled(sizes, dtype, seed, [values](int64_t i, double unit) {
    return element(values, i, unit);
  });
}

// A value for an argument without a default; nullopt if none is obvious.
std::optional<Value> guess(const Argument& a) {
  const Type t = a.type.without_optional();
  const std::string_view name = a.name.view();
  if (a.type.is_optional()) return Value();
  if (t == TypeKind::kScalar) return Value(0.7);
  if (t == TypeKind::kFloat) return Value(0.5);
  if (t == TypeKind::kBool) return Value(false);
  if (t == TypeKind::kInt || t == TypeKind::kSymInt) {
    const bool second = name == "dim1" || name == "dim2" || name.ends_with("1");
    const bool count = name.find("dim") == name.npos && name != "index";
    return Value(second || count ? 1 : 0);
  }
  if (t.is_list() &&
      (t.element() == TypeKind::kInt || t.element() == TypeKind::kSymInt)) {
    const int64_t list[] = {name.find("dim") == name.npos ? 1 : 0};
    return Value(IntArrayRef(list, 1));
  }
  return std::nullopt;
}

struct Variant {
  std::string id;
  Extents extents = kUsual;
  std::string_view second = {};  // a shape of its own: it broadcasts
  ScalarType dtype = kFloat;
  ScalarType second_dtype = ScalarType::Undefined;
  Values values = Values::kUsual;
  bool spread = false;    // strides that are not dense
  bool expanded = false;  // the first tensor that is read repeats
  int argument = -1;      // one that is not the usual
  Value value = {};
};

class Varied final : public Calls {
 public:
  Varied(OperatorHandle op, std::vector<ScalarType> dtypes)
      : op_(op), dtypes_(std::move(dtypes)), factors_(gives_factors(op)) {
    Variant first{"usual"};
    first.dtype = dtypes_.front();
    for (shape_ = 0; shape_ < kShapes.size(); ++shape_) {
      if (attempt(first)) break;
    }
    SY_CHECK(!variants_.empty(), Value,
             "{}: its signature does not say enough to call it", op.name());
    add_shapes(first);
    add_numbers(first);
    add_arguments(first);
  }

  size_t size() const override { return variants_.size(); }
  std::string id(size_t i) const override { return variants_[i].id; }
  Arguments arguments(size_t i) const override { return make(variants_[i]); }

 private:
  void add_shapes(const Variant& first) {
    const auto sized = [&](const char* id, Extents e) {
      Variant v = first;
      v.id = id;
      v.extents = e;
      attempt(v);
      return v;
    };
    sized("one element", kOne);
    sized("odd tails", kTails);
    if (!factors_) {
      Variant tiles = sized("several tiles", kTiles);
      tiles.id = "several tiles, other strides";
      tiles.spread = true;
      attempt(tiles);
    }
    sized("no elements", kEmpty);
    Variant v = first;
    v.spread = true;
    v.id = "other strides";
    attempt(v);
    v = first;
    v.expanded = true;
    v.id = "repeated elements";
    if (!factors_) attempt(v);
    for (const char* second : {"m", "o", "om", "no"}) {
      v = first;
      v.second = second;
      v.id = str("broadcast {}", second);
      attempt(v);
    }
  }

  void add_numbers(const Variant& first) {
    for (const ScalarType dtype : dtypes_) {
      Variant v = first;
      v.dtype = dtype;
      v.id = str("{}", dtype);
      if (dtype != first.dtype) attempt(v);
      v.values = Values::kSigned;
      v.id = str("{}, signed", dtype);
      attempt(v);
      v.values = Values::kTies;
      v.id = str("{}, ties", dtype);
      attempt(v);
      v.values = Values::kSpecial;
      v.id = str("{}, NaN and infinities", dtype);
      if (is_floating_type(dtype) && !factors_) attempt(v);
    }
    for (const ScalarType dtype : dtypes_) {
      Variant v = first;
      v.second_dtype = dtype;
      v.id = str("{} with {}", first.dtype, dtype);
      if (dtype != first.dtype) attempt(v);
    }
  }

  void add_arguments(const Variant& first) {
    const auto arguments = op_.schema().arguments();
    for (size_t k = 0; k < arguments.size(); ++k) {
      const Argument& a = arguments[k];
      const Type t = a.type.without_optional();
      std::vector<Value> others;
      if (t == TypeKind::kScalarType) {
        for (const ScalarType dtype : dtypes_) others.emplace_back(dtype);
      }
      if (t == TypeKind::kBool) others = {Value(true), Value(false)};
      if (t == TypeKind::kScalar) others = {Value(2), Value(-0.5), Value(0)};
      if (t == TypeKind::kFloat) others = {Value(0.25), Value(1.5)};
      if (t == TypeKind::kInt || t == TypeKind::kSymInt) {
        others = {Value(0), Value(1), Value(-1), Value(2)};
      }
      if (t.is_list() && t.element() == TypeKind::kInt) {
        const int64_t list[] = {0, 1}, last[] = {-1};
        others = {Value(IntArrayRef(list, 1)), Value(IntArrayRef(list + 1, 1)),
                  Value(IntArrayRef(last, 1)), Value(IntArrayRef(list, 2))};
      }
      for (const Value& other : others) {
        Variant v = first;
        v.argument = static_cast<int>(k);
        v.value = other;
        v.id = str("{} = {}", a.name.view(), to_string(other));
        if (!attempt(v) || factors_) continue;
        v.values = Values::kTies;  // where it matters which comes first
        v.extents = kTails;
        v.id += ", odd tails";
        attempt(v);
      }
    }
  }

  // Keeps what the CPU gives a result for.
  bool attempt(const Variant& v) {
    try {
      Arguments in = make(v);
      int64_t elements = 0;
      for (const NamedTensor& t : in.tensors) elements += t.tensor.numel();
      if (elements > kMostElements) return false;
      std::vector<Value> out(op_.schema().returns().size());
      op_.call_boxed(in.values.data(), in.values.size(), out.data(),
                     out.size());
      for (const Value& r : out) {
        for_each_tensor(r, [&](const TensorBase& t) {
          elements += t.defined() ? t.numel() : 0;
        });
      }
      if (elements > kMostElements) return false;
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      return false;
    }
    variants_.push_back(v);
    return true;
  }

  Tensor tensor(const Variant& v, size_t position, bool written) const {
    const auto& shapes = kShapes[shape_];
    std::string_view shape = shapes[std::min<size_t>(position, 2)];
    Extents e = v.extents;
    std::vector<int64_t> sizes = sizes_of(shape, e);
    if (position == 1 && !v.second.empty()) {
      sizes.clear();
      for (const char c : v.second) {
        sizes.push_back(c == 'o' ? 1 : c == 'n' ? e.n : e.m);
      }
    }
    const bool other = position == 1 && v.second_dtype != ScalarType::Undefined;
    Tensor t = numbers(sizes, other ? v.second_dtype : v.dtype, v.values,
                       static_cast<uint32_t>(position) + 1);
    if (v.expanded && position == 0 && !written && t.dim() > 0) {
      t = t.narrow(0, 0, std::min<int64_t>(1, t.size(0))).expand(sizes);
    }
    return v.spread ? spread(t) : t;
  }

  // A tensor in the midst of more memory, for a result to be written to.
  Tensor room(const Variant& v) const {
    return numbers({3}, v.dtype, Values::kUsual, 9).narrow(0, 1, 0);
  }

  Arguments make(const Variant& v) const {
    Arguments out;
    size_t position = 0;
    const auto arguments = op_.schema().arguments();
    const auto add = [&](const std::string& name, Tensor t) -> TensorBase {
      out.tensors.push_back({name, t});
      return t;
    };
    for (size_t k = 0; k < arguments.size(); ++k) {
      const Argument& a = arguments[k];
      const std::string name(a.name.view());
      if (static_cast<int>(k) == v.argument) {
        out.values.push_back(v.value);
      } else if (a.type == TypeKind::kTensor) {
        const bool is_out = a.is_write() && op_.schema().is_out();
        out.values.emplace_back(
            add(name, is_out ? room(v) : tensor(v, position++, a.is_write())));
      } else if (a.type.is_list() && a.type.element() == TypeKind::kTensor &&
                 !a.is_write()) {
        const TensorBase list[] = {add(name + ".0", tensor(v, 0, false)),
                                   add(name + ".1", tensor(v, 1, false))};
        out.values.push_back(Value::tensor_list(list, 2));
      } else if (a.default_value) {
        out.values.push_back(default_value_of(a));
      } else {
        std::optional<Value> value = guess(a);
        SY_CHECK(value, Value, "{}: no value is obvious", name);
        out.values.push_back(std::move(*value));
      }
    }
    return out;
  }

  static Value default_value_of(const Argument& a) {
    const ValueContext context{
        [](const Json&, const std::string&) { return TensorBase(); },
        Device(kCPU)};
    return value_of(default_of(a), a.type, std::string(a.name.view()), context);
  }

  OperatorHandle op_;
  std::vector<ScalarType> dtypes_;
  bool factors_;
  size_t shape_ = 0;
  std::vector<Variant> variants_;
};

}  // namespace

bool gives_factors(OperatorHandle op) {
  static const std::set<std::string> kFamilies = {"cholesky", "determinant",
                                                  "lu", "qr", "spectral"};
  return kFamilies.contains(family_of(op));
}

std::unique_ptr<Calls> varied_calls(OperatorHandle op,
                                    const std::vector<ScalarType>& dtypes) {
  return std::make_unique<Varied>(op, dtypes);
}

}  // namespace sy::tools
