#include "tools/sy/fuzz/call.h"

#include <array>
#include <limits>
#include <map>

#include "c10/device/generator.h"
#include "c10/process/error.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/cases/compare.h"
#include "tools/sy/cases/tensors.h"
#include "tools/sy/cases/values.h"
#include "tools/sy/fuzz/random.h"

namespace sy::tools {

namespace {

constexpr int64_t kMostElements = int64_t{1} << 20;

ScalarType dtype_of(const Json& v, const std::string& where) {
  const auto dtype =
      v.is_string() ? parse_scalar_type(v.get<std::string>()) : std::nullopt;
  SY_CHECK(dtype, Value, "{}: unknown dtype {}", where, dump(v));
  return *dtype;
}

double float_element(std::string_view fill, Random& random, ScalarType dtype) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const double unit =
      static_cast<double>(random.next() >> 11) / 9007199254740992.0;
  if (fill == "zeros") return 0;
  if (fill == "ones") return 1;
  if (fill == "signed") return 4 * unit - 2;
  if (fill == "ties") return static_cast<double>(random.below(8)) - 3;
  if (fill == "small") return static_cast<double>(random.below(3));
  if (fill == "special") {
    return random.pick(std::array{-1.5, kNan, kInf, -kInf, 0.0, -0.0, 2.0});
  }
  if (fill == "extreme") {
    const double most = dtype == kHalf     ? 65504
                        : dtype == kDouble ? 1.7976931348623157e308
                                           : 3.3895313892515355e38;
    return random.pick(std::array{most, -most, 1 / most, 0.0});
  }
  return 0.3 + 0.6 * unit;
}

int64_t int_element(std::string_view fill, Random& random) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const uint64_t drawn = random.next();
  if (fill == "zeros") return 0;
  if (fill == "ones") return 1;
  if (fill == "small") return static_cast<int64_t>(drawn % 3);
  if (fill == "signed") return static_cast<int64_t>(drawn % 200) - 100;
  if (fill == "ties") return static_cast<int64_t>(drawn % 8) - 3;
  if (fill == "special" || fill == "extreme") {
    return random.pick(std::array{kLeast, ~kLeast, int64_t{-1}, int64_t{0},
                                  int64_t{1} << 31, int64_t{127}});
  }
  return static_cast<int64_t>(drawn % 7);
}

// The flat tensor of a storage, on the CPU.
Tensor make_storage(const Json& v, const std::string& where) {
  const ScalarType dtype = dtype_of(v.at("dtype"), where);
  const int64_t n = v.at("elements");
  SY_CHECK(n >= 0 && n <= 4 * kMostElements, Value, "{}: {} elements", where,
           n);
  const std::string fill = v.value("fill", "usual");
  SY_CHECK(
      std::find(std::begin(kFills), std::end(kFills), fill) != std::end(kFills),
      Value, "{}: unknown fill '{}'", where, fill);
  const Json values = v.value("values", Json::array());
  Random random(v.value("seed", uint64_t{1}));
  const bool floating = is_floating_type(dtype);
  const Tensor t(make_tensor({n}, floating ? kDouble : kLong, Device(kCPU)));
  for (int64_t i = 0; i < n; ++i) {
    const Json* given = values.empty()
                            ? nullptr
                            : &values[static_cast<size_t>(i) % values.size()];
    if (floating) {
      t.data_ptr<double>()[i] = given != nullptr
                                    ? float_of(*given).value_or(1)
                                    : float_element(fill, random, dtype);
    } else {
      t.data_ptr<int64_t>()[i] = given != nullptr && given->is_number_integer()
                                     ? given->get<int64_t>()
                                     : int_element(fill, random);
    }
  }
  return t.to(dtype);
}

class Builder {
 public:
  Builder(const FuzzCall& call, const FunctionSchema& schema, Device device)
      : call_(call), schema_(schema), device_(device) {}

  FuzzArguments run() {
    for (const auto& [key, v] : call_.storages.items()) {
      TensorBase flat = make_storage(v, key);
      if (!device_.is_cpu()) flat = copy_to(device_, flat);
      out_.storages.push_back({key, flat});
    }
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      const bool known = i < schema_.arguments().size();
      name_ = known ? std::string(schema_.arguments()[i].name.view())
                    : str("{}", i);
      type_ = known ? schema_.arguments()[i].type : Type(TypeKind::kAny);
      if (type_.is_optional()) type_ = type_.element();
      out_.values.push_back(value(call_.arguments[i]));
    }
    return std::move(out_);
  }

 private:
  Value value(const Json& v) {
    if (v.is_null()) return Value();
    if (v.is_boolean()) return Value(v.get<bool>());
    if (v.is_number_integer()) return Value(v.get<int64_t>());
    if (const auto f = float_of(v)) return Value(*f);
    if (v.is_string()) {
      return Value(std::string_view(v.get_ref<const std::string&>()));
    }
    if (v.is_array()) return list(v);
    if (v.contains("tensor") || v.contains("meta")) {
      const TensorBase& t = tensor(v);
      out_.tensors.push_back({name_, t});
      return Value(t);
    }
    if (v.contains("generator")) {
      return Value(make_generator(v["generator"].get<uint64_t>(), device_));
    }
    if (v.contains("dtype")) return Value(dtype_of(v["dtype"], name_));
    if (v.contains("layout")) return Value(kStrided);
    if (v.contains("device")) {
      const std::string text = v["device"];
      if (text == "cpu") return Value(device_);
      return Value(text == "cpu:7" ? Device(kCPU, 7) : Device(text));
    }
    if (v.contains("memory_format")) {
      // The words are those of recorded cases.
      const ValueContext context{{}, device_};
      return value_of(v, Type(TypeKind::kMemoryFormat), name_, context);
    }
    fail(ErrorKind::Value, "{}: no VALUE: {}", name_, dump(v));
  }

  Value list(const Json& v) {
    const Type element =
        type_.is_list() ? type_.element() : Type(TypeKind::kAny);
    const auto all = [&](bool (*fits)(const Json&)) {
      return !v.empty() && std::all_of(v.begin(), v.end(), fits);
    };
    const bool tensors = all([](const Json& e) {
      return e.is_null() || e.contains("tensor") || e.contains("meta");
    });
    if (tensors) return tensor_list(v, element);
    if (v.empty() && type_.is_list() && type_.is_tensor_like()) {
      return tensor_list(v, element);
    }
    const bool scalars = element == TypeKind::kScalar;
    if (all([](const Json& e) { return e.is_string(); })) {
      std::vector<std::string_view> texts;
      for (const Json& e : v) texts.push_back(e.get_ref<const std::string&>());
      return Value::string_list(texts.data(), texts.size());
    }
    if (all([](const Json& e) { return e.is_boolean(); }) ||
        (v.empty() && element == TypeKind::kBool)) {
      const auto out = std::make_unique<bool[]>(v.size());
      for (size_t i = 0; i < v.size(); ++i) out[i] = v[i].get<bool>();
      return Value(ArrayRef<bool>(out.get(), v.size()));
    }
    const bool ints = all([](const Json& e) { return e.is_number_integer(); });
    // There are no lists of other things: one of them stands for all.
    const bool numbers = all([](const Json& e) {
      return e.is_number() || e.is_boolean() || float_of(e);
    });
    if (!v.empty() && !numbers) return value(*first_of_other_kind(v));
    if (scalars) {
      std::vector<Scalar> out;
      for (const Json& e : v) {
        out.push_back(e.is_number_integer() ? Scalar(e.get<int64_t>())
                                            : Scalar(number(e)));
      }
      return Value(ArrayRef<Scalar>(out.data(), out.size()));
    }
    if (ints || (v.empty() && element != TypeKind::kFloat)) {
      return Value(IntArrayRef(int_list(v, name_)));
    }
    std::vector<double> out;
    for (const Json& e : v) out.push_back(number(e));
    return Value(ArrayRef<double>(out.data(), out.size()));
  }

  static double number(const Json& v) {
    if (v.is_boolean()) return v.get<bool>();
    if (v.is_number_integer()) return v.get<double>();
    return float_of(v).value_or(0);
  }
  // The first element that is no number.
  static const Json* first_of_other_kind(const Json& v) {
    for (const Json& e : v) {
      if (!e.is_number() && !e.is_boolean() && !float_of(e)) return &e;
    }
    return &v[0];
  }

  Value tensor_list(const Json& v, Type element) {
    std::vector<TensorBase> out;
    for (const Json& e : v) {
      out.push_back(e.is_null() ? TensorBase() : tensor(e));
      if (!out.back().defined()) continue;
      out_.tensors.push_back({str("{}.{}", name_, out.size() - 1), out.back()});
    }
    return element.is_optional()
               ? Value::optional_tensor_list(out.data(), out.size())
               : Value::tensor_list(out.data(), out.size());
  }

  const TensorBase& tensor(const Json& v) {
    TensorBase& t = made_[dump(v)];
    if (t.defined()) return t;
    const std::vector<int64_t> sizes = int_list(v.at("sizes"), name_);
    if (v.contains("meta")) {
      const ScalarType dtype = dtype_of(v["meta"], name_);
      return t = TensorBase(make_tensor(sizes, dtype, Device(kMeta)));
    }
    const std::vector<int64_t> strides = int_list(v.at("strides"), name_);
    const std::string key = v.at("tensor");
    const TensorBase* flat = nullptr;
    for (const NamedTensor& s : out_.storages) {
      if (s.name == key) flat = &s.tensor;
    }
    SY_CHECK(flat, Value, "{}: there is no storage {}", name_, key);
    const auto reached = elements_reached(v);
    SY_CHECK(reached && *reached <= flat->numel() && v.at("offset") >= 0, Value,
             "{}: the tensor lies outside its storage", name_);
    t = TensorBase(flat->impl()->alias(sizes, strides, v.at("offset")));
    if (v.value("requires_grad", false) && is_floating_type(t.dtype())) {
      Tensor(t).requires_grad_();
    }
    return t;
  }

  const FuzzCall& call_;
  const FunctionSchema& schema_;
  Device device_;
  FuzzArguments out_;
  std::string name_;
  Type type_{TypeKind::kAny};
  std::map<std::string, TensorBase> made_;
};

class Describer {
 public:
  explicit Describer(OperatorHandle op) { out_.op = op.name(); }

  void add(const Value& v) { out_.arguments.push_back(value(v)); }
  FuzzCall take() { return std::move(out_); }

 private:
  Json value(const Value& v) {
    using Tag = Value::Tag;
    Json list = Json::array();
    switch (v.tag()) {
      case Tag::Bool: return v.to_bool();
      case Tag::Int: return v.to_int();
      case Tag::Double: return number(v.to_double());
      case Tag::String: return std::string(v.to_string_view());
      case Tag::ScalarType: return {{"dtype", str("{}", v.to_scalar_type())}};
      case Tag::Device: return {{"device", v.to_device().str()}};
      case Tag::Layout: return {{"layout", "strided"}};
      case Tag::MemoryFormat: return format(v.to_memory_format());
      case Tag::Tensor: return tensor(v.to_tensor());
      case Tag::TensorList:
      case Tag::OptionalTensorList:
        for (const TensorBase& t : v.to_tensor_list()) {
          list.push_back(t.defined() ? tensor(t) : Json());
        }
        return list;
      case Tag::IntList:
      case Tag::DoubleList:
      case Tag::BoolList:
      case Tag::ScalarList:
        for (const Value& e : elements_of(v)) list.push_back(value(e));
        return list;
      case Tag::StringList:
        for (const std::string& e : v.to_string_list()) list.push_back(e);
        return list;
      default: return nullptr;
    }
  }

  static Json number(double v) {
    if (v != v) return {{"float", "nan"}};
    if (v - v != 0) return {{"float", v < 0 ? "-inf" : "inf"}};
    return v;
  }

  static Json format(MemoryFormat f) {
    static constexpr const char* kNames[] = {
        "contiguous", "preserve", "channels_last", "channels_last_3d"};
    return {{"memory_format", kNames[static_cast<int>(f)]}};
  }

  Json tensor(const TensorBase& t) {
    const std::string key = str("t{}", out_.storages.size());
    const HostTensor h = read_tensor(t);
    Json values = Json::array();
    for (const int64_t i : element_indices(h.sizes, h.strides, h.offset)) {
      const double e = element_value(h, i);
      values.push_back(is_floating_type(h.dtype)
                           ? number(e)
                           : Json(static_cast<int64_t>(e)));
    }
    out_.storages[key] = {{"dtype", str("{}", h.dtype)},
                          {"elements", values.size()}};
    if (!values.empty()) out_.storages[key]["values"] = std::move(values);
    Json out = {{"tensor", key},
                {"sizes", h.sizes},
                {"strides", dense_strides(h.sizes)},
                {"offset", 0}};
    if (Tensor(t).requires_grad()) out["requires_grad"] = true;
    return out;
  }

  FuzzCall out_;
};

}  // namespace

FuzzCall FuzzCall::parse(const Json& v, const std::string& where) {
  try {
    FuzzCall out{v.at("op"), v.at("storages"), v.at("arguments")};
    SY_CHECK(out.storages.is_object() && out.arguments.is_array(), Value,
             "{}: malformed call", where);
    return out;
  } catch (const Json::exception& e) {
    fail(ErrorKind::Value, "{}: {}", where, e.what());
  }
}

Json FuzzCall::json() const {
  return {{"op", op}, {"storages", storages}, {"arguments", arguments}};
}

std::vector<int64_t> dense_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> out(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    out[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return out;
}

std::optional<int64_t> elements_reached(const Json& tensor) {
  const auto sizes = int_list(tensor.at("sizes"), "sizes");
  const auto strides = int_list(tensor.at("strides"), "strides");
  if (strides.size() != sizes.size() || sizes.size() > TensorImpl::kMaxDims) {
    return std::nullopt;
  }
  int64_t last = tensor.at("offset"), count = 1;
  bool empty = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || strides[d] < 0) return std::nullopt;
    if (sizes[d] == 0) empty = true;
    int64_t step = 0;
    if (__builtin_mul_overflow(std::max<int64_t>(sizes[d] - 1, 0), strides[d],
                               &step) ||
        __builtin_add_overflow(last, step, &last) ||
        __builtin_mul_overflow(count, std::max<int64_t>(sizes[d], 1), &count)) {
      return std::nullopt;
    }
  }
  if (empty) return 0;
  if (count > kMostElements || last >= 4 * kMostElements) return std::nullopt;
  return last + 1;
}

bool is_view(const Json& v) { return v.is_object() && v.contains("tensor"); }

std::vector<Json::json_pointer> places_of_tensors(const Json& arguments) {
  std::vector<Json::json_pointer> out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Json::json_pointer at = Json::json_pointer() / i;
    if (is_view(arguments[i])) out.push_back(at);
    if (!arguments[i].is_array()) continue;
    for (size_t k = 0; k < arguments[i].size(); ++k) {
      if (is_view(arguments[i][k])) out.push_back(at / k);
    }
  }
  return out;
}

bool fit_storages(FuzzCall& call) {
  Json kept = Json::object();
  for (const auto& at : places_of_tensors(call.arguments)) {
    const Json& t = call.arguments[at];
    const auto n = elements_reached(t);
    if (!n) return false;
    const std::string key = t["tensor"];
    if (!kept.contains(key)) {
      kept[key] = call.storages[key];
      kept[key]["elements"] = 0;
    }
    kept[key]["elements"] = std::max(kept[key]["elements"].get<int64_t>(), *n);
  }
  call.storages = std::move(kept);
  return true;
}

FuzzArguments make_arguments(const FuzzCall& call, const FunctionSchema& schema,
                             Device device) {
  try {
    return Builder(call, schema, device).run();
  } catch (const Json::exception& e) {
    fail(ErrorKind::Value, "{}: {}", call.op, e.what());
  }
}

FuzzCall describe_call(OperatorHandle op, const std::vector<Value>& arguments) {
  Describer out(op);
  for (const Value& v : arguments) out.add(v);
  return out.take();
}

}  // namespace sy::tools
