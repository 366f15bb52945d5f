#include "tools/sy/fuzz/draw.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "c10/process/error.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/calls/words.h"
#include "tools/sy/fuzz/random.h"
#include "tools/sy/support/names.h"

namespace sy::tools {

namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr std::array kDtypes = {"bool",    "uint8",  "int8",    "int16",
                                "int32",   "int64",  "float16", "bfloat16",
                                "float32", "float64"};
constexpr std::array<int64_t, 12> kSizes = {0, 1, 1, 2, 2,  3,
                                            3, 4, 5, 7, 17, 33};
constexpr std::array<int64_t, 22> kInts = {-1,
                                           -1,
                                           0,
                                           0,
                                           1,
                                           1,
                                           2,
                                           3,
                                           -2,
                                           7,
                                           31,
                                           32,
                                           63,
                                           64,
                                           65,
                                           100,
                                           -65,
                                           1 << 20,
                                           kMost,
                                           kLeast,
                                           int64_t{1} << 31,
                                           int64_t{1} << 40};

Json drawn_float(Random& r) {
  switch (r.below(9)) {
    case 0: return {{"float", "nan"}};
    case 1: return {{"float", "inf"}};
    case 2: return {{"float", "-inf"}};
    default:
      return r.pick(std::array{0.0, -1.0, 0.5, 1e300, -0.0, 1e-300, 1.5, 2.0});
  }
}

// Draws for one call.
class Drawing {
 public:
  Drawing(FuzzCall base, const FunctionSchema& schema, Random random)
      : call_(std::move(base)), schema_(schema), r_(random) {}

  FuzzCall base() {
    for (const Argument& a : schema_.arguments()) {
      call_.arguments.push_back(a.type.is_optional() && r_.chance(50)
                                    ? Json()
                                    : of_type(a.type.without_optional()));
    }
    fit();
    return std::move(call_);
  }

  FuzzCall run() {
    if (r_.chance(35)) recast(r_.pick(kDtypes));
    if (r_.chance(10)) recast_fill();
    static constexpr std::array kCounts = {0, 0, 1, 1, 1, 1, 2, 2, 3, 5};
    for (int n = r_.pick(kCounts); n > 0; --n) {
      const FuzzCall before = call_;
      change();
      if (!fit()) call_ = before;
    }
    return std::move(call_);
  }

 private:
  // --- Values of a type

  Json of_type(Type type) {
    if (type.is_list()) return list_of(type.element().without_optional());
    switch (type.kind()) {
      case TypeKind::kTensor: return new_tensor();
      case TypeKind::kScalar:
        if (r_.chance(10)) return r_.chance(50);
        return r_.chance(50) ? Json(r_.pick(kInts)) : drawn_float(r_);
      case TypeKind::kInt:
      case TypeKind::kSymInt:
      case TypeKind::kDeviceIndex: return r_.pick(kInts);
      case TypeKind::kFloat:
      case TypeKind::kSymFloat: return drawn_float(r_);
      case TypeKind::kBool:
      case TypeKind::kSymBool: return r_.chance(50);
      case TypeKind::kStr:
        return r_.pick(std::array<std::string, 10>{
            "", "mean", "sum", "floor", "trunc", "reflect", "ij", "none",
            "bogus", std::string("a\0b", 3)});
      case TypeKind::kScalarType: return {{"dtype", r_.pick(kDtypes)}};
      case TypeKind::kLayout: return {{"layout", "strided"}};
      case TypeKind::kDevice:
        return {{"device", r_.pick(std::array{"cpu", "cpu", "meta", "cpu:7"})}};
      case TypeKind::kMemoryFormat:
        return {{"memory_format",
                 r_.pick(std::array{"contiguous", "preserve", "channels_last",
                                    "channels_last_3d"})}};
      case TypeKind::kGenerator: return {{"generator", r_.below(9)}};
      default: return nullptr;
    }
  }

  Json list_of(Type element) {
    Json out = Json::array();
    const size_t n = r_.chance(5) ? 65 + r_.below(70) : r_.below(4);
    // Lists of sizes are legal only if their numbers are small.
    for (size_t i = 0; i < n; ++i) {
      const bool number =
          element == TypeKind::kInt || element == TypeKind::kSymInt;
      out.push_back(number && r_.chance(80) ? Json(r_.pick(kSizes))
                                            : of_type(element));
    }
    return out;
  }

  Json any_value() {
    static constexpr std::array kKinds = {
        TypeKind::kTensor,   TypeKind::kScalar,     TypeKind::kInt,
        TypeKind::kFloat,    TypeKind::kBool,       TypeKind::kStr,
        TypeKind::kDevice,   TypeKind::kScalarType, TypeKind::kMemoryFormat,
        TypeKind::kGenerator};
    if (r_.chance(20)) return nullptr;
    const Type type(r_.pick(kKinds));
    return r_.chance(25) && type != TypeKind::kGenerator ? list_of(type)
                                                         : of_type(type);
  }

  std::vector<int64_t> sizes() {
    std::vector<int64_t> out(r_.chance(2) ? 64 : r_.below(5));
    for (int64_t& s : out) s = out.size() > 5 ? 1 : r_.pick(kSizes);
    return out;
  }

  Json new_tensor() {
    std::vector<int64_t> s = sizes();
    if (r_.chance(4)) {
      if (!s.empty() && r_.chance(30)) s[r_.below(s.size())] = int64_t{1} << 31;
      return {{"meta", r_.pick(kDtypes)}, {"sizes", s}};
    }
    std::string key;
    for (size_t n = 0; key.empty() || call_.storages.contains(key); ++n) {
      key = str("n{}", n);
    }
    call_.storages[key] = {{"dtype", r_.pick(kDtypes)},
                           {"elements", 0},
                           {"fill", r_.pick(kFills)},
                           {"seed", r_.below(100)}};
    return {{"tensor", key},
            {"sizes", s},
            {"strides", dense_strides(s)},
            {"offset", 0}};
  }

  // --- Changes

  void change() {
    Json& list = call_.arguments;
    if (r_.chance(3)) {
      if (r_.chance(50) && !list.empty())
        list.erase(list.size() - 1);
      else
        list.push_back(any_value());
      return;
    }
    if (list.empty()) return;
    const size_t k = r_.below(list.size());
    const Type type = k < schema_.arguments().size()
                          ? schema_.arguments()[k].type.without_optional()
                          : Type(TypeKind::kAny);
    Json& v = list[k];
    if (r_.chance(4)) {
      v = any_value();
    } else if (v.is_object() && v.contains("tensor")) {
      change_tensor(v);
    } else if (v.is_array() && !v.empty()) {
      change_list(v, type);
    } else if (v.is_number_integer() && r_.chance(40)) {
      // The sum must not overflow: JSON would round it.
      if (v < kMost && v > kLeast)
        v = v.get<int64_t>() + (r_.chance(50) ? 1 : -1);
    } else {
      v = r_.chance(8) ? Json() : of_type(type);
    }
  }

  void change_list(Json& v, Type type) {
    const Type element = type.is_list() ? type.element().without_optional()
                                        : Type(TypeKind::kInt);
    const size_t i = r_.below(v.size());
    if (v[i].is_object() && v[i].contains("tensor") && r_.chance(70)) {
      return change_tensor(v[i]);
    }
    switch (r_.below(6)) {
      case 0: v.erase(i); break;
      case 1: v.push_back(Json(v[i])); break;
      case 2: v = list_of(element); break;
      case 3: v.push_back(of_type(element)); break;
      default: v[i] = of_type(element); break;
    }
  }

  static void resize(Json& t, const std::vector<int64_t>& to) {
    t["sizes"] = to;
    t["strides"] = dense_strides(to);
  }

  void change_tensor(Json& t) {
    std::vector<int64_t> sizes = t["sizes"], strides = t["strides"];
    const size_t dims = sizes.size();
    const size_t d = dims == 0 ? 0 : r_.below(dims);
    const std::string key = t["tensor"];
    switch (r_.below(18)) {
      case 0:
      case 1:
        if (dims == 0) break;
        sizes[d] = r_.chance(40) ? std::max<int64_t>(
                                       0, sizes[d] + (r_.chance(50) ? 1 : -1))
                                 : r_.pick(kSizes);
        return resize(t, sizes);
      case 2:
        sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(d),
                     r_.pick(std::array<int64_t, 4>{0, 1, 1, 2}));
        return resize(t, sizes);
      case 3:
        if (dims == 0) break;
        sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(d));
        return resize(t, sizes);
      case 4: return resize(t, this->sizes());
      case 5: {  // two dims trade places in memory
        if (dims < 2) break;
        const size_t e = r_.below(dims);
        std::swap(sizes[d], sizes[e]);
        std::swap(strides[d], strides[e]);
        if (r_.chance(50)) {  // of the same sizes
          std::swap(sizes[d], sizes[e]);
          strides = dense_strides(sizes);
          std::vector<int64_t> turned = sizes;
          std::swap(turned[d], turned[e]);
          const std::vector<int64_t> s = dense_strides(turned);
          strides = s;
          std::swap(strides[d], strides[e]);
        }
        t["sizes"] = sizes;
        t["strides"] = strides;
        return;
      }
      case 6:
        for (int64_t& s : strides) s *= 2;
        t["strides"] = strides;
        return;
      case 7:
        if (dims == 0) break;
        strides[d] = static_cast<int64_t>(r_.below(4));
        t["strides"] = strides;
        return;
      case 8:  // many elements in little memory
        if (dims == 0) break;
        strides[d] = 0;
        sizes[d] = r_.pick(std::array<int64_t, 4>{65, 300, 4097, 70000});
        t["sizes"] = sizes;
        t["strides"] = strides;
        return;
      case 9:
        t["offset"] =
            t["offset"].get<int64_t>() + r_.pick(std::array{1, 1, 3, 8});
        return;
      case 10: call_.storages[key]["dtype"] = r_.pick(kDtypes); return;
      case 11: return fill(call_.storages[key]);
      case 12: t = nullptr; return;
      case 13:
      case 14:
      case 15: return alias(t);
      case 16: t["requires_grad"] = !t.value("requires_grad", false); return;
      default: t = new_tensor(); return;
    }
  }

  void fill(Json& storage) {
    storage.erase("values");
    storage["fill"] = r_.pick(kFills);
    storage["seed"] = r_.below(100);
  }

  // Makes a tensor share memory with another.
  void alias(Json& t) {
    std::vector<Json> others;
    const auto collect = [&](const Json& v) {
      if (v.is_object() && v.contains("tensor") && &v != &t)
        others.push_back(v);
    };
    for (const Json& v : call_.arguments) {
      collect(v);
      if (v.is_array()) std::for_each(v.begin(), v.end(), collect);
    }
    if (others.empty()) return;
    const Json other = r_.pick(others);
    const int64_t shift = r_.pick(std::array{0, 0, 1, 2});
    switch (r_.below(4)) {
      case 0: t = other; break;  // the same object
      case 1:
        t = other;
        t["copy"] = r_.below(3) + 1;
        break;
      case 2:  // the same sizes, somewhat further
        t = other;
        t["offset"] = other["offset"].get<int64_t>() + shift;
        break;
      default:  // its own sizes in the other's memory
        t["tensor"] = other["tensor"];
        t["offset"] = other["offset"].get<int64_t>() + shift;
    }
  }

  void recast(const char* dtype) {
    for (auto& [key, s] : call_.storages.items()) {
      if (s["dtype"] == "float64" || r_.chance(20)) s["dtype"] = dtype;
    }
  }

  void recast_fill() {
    for (auto& [key, s] : call_.storages.items()) {
      if (r_.chance(60)) fill(s);
    }
  }

  // The same as fit_storages, but some storages have room behind.
  bool fit() {
    if (!fit_storages(call_)) return false;
    for (auto& [key, s] : call_.storages.items()) {
      if (r_.chance(10)) s["elements"] = s["elements"].get<int64_t>() + 3;
    }
    return true;
  }

  FuzzCall call_;
  const FunctionSchema& schema_;
  Random r_;
};

// Numbers that are no tensor's sizes: a size of 2^31 takes a while to allocate,
// INT64_MAX none.
void enlarge_large(Json& list) {
  for (Json& v : list) {
    if (v.is_array()) enlarge_large(v);
    if (v.is_number_integer() && v > (1 << 16)) v = kMost;
  }
}

Random random_of(uint64_t seed, uint64_t n) {
  Random mixed(seed);
  return Random(mixed.next() + n);
}

}  // namespace

Draw::Draw(std::vector<OperatorHandle> operators, ExampleWords examples)
    : operators_(std::move(operators)), examples_(std::move(examples)) {
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    const OperatorInfo* const info = op.entry().info();
    if (info == nullptr || *info->source == 0) continue;
    if (op.schema().is_functional()) functional_.emplace(info->source, op);
  }
}

// The example of the operator, or of its entry's functional form with new
// tensors for what is written besides.
FuzzCall Draw::base_by_example(OperatorHandle op) const {
  OperatorHandle like = op;
  const OperatorInfo* const info = op.entry().info();
  if (info != nullptr) {
    const auto found = functional_.find(std::string_view(info->source));
    if (found != functional_.end()) like = found->second;
  }
  const auto example = examples_.find(short_name(like.name()));
  const std::string words = example == examples_.end() ? "" : example->second;
  const std::vector<Value> given = parse_arguments(like, words);
  std::vector<Value> values;
  for (const Argument& a : op.schema().arguments()) {
    const int from = like.schema().argument_index(a.name.view());
    if (from >= 0) {
      values.push_back(given[static_cast<size_t>(from)]);
    } else if (a.type == TypeKind::kTensor) {
      values.emplace_back(TensorBase(make_tensor({0}, kDouble, Device(kCPU))));
    } else {
      fail(ErrorKind::Value, "{}: no example", op.name());
    }
  }
  return describe_call(op, values);
}

const FuzzCall& Draw::base_of(OperatorHandle op) const {
  std::string name(op.name());
  const auto known = bases_.find(name);
  if (known != bases_.end()) return known->second;
  FuzzCall base;
  try {
    base = base_by_example(op);
  } catch (const Error&) {
    // The types alone have to do.
    FuzzCall nothing;
    nothing.op = name;
    uint64_t seed = 0;
    for (const char c : name) seed = seed * 31 + static_cast<uint8_t>(c);
    base = Drawing(std::move(nothing), op.schema(), Random(seed)).base();
  }
  return bases_.emplace(std::move(name), std::move(base)).first->second;
}

FuzzCall Draw::call(uint64_t seed, uint64_t n, bool limited_memory) const {
  Random r = random_of(seed, n);
  const OperatorHandle op = operators_[r.below(operators_.size())];
  FuzzCall call = Drawing(base_of(op), op.schema(), r).run();
  if (!limited_memory) enlarge_large(call.arguments);
  return call;
}

}  // namespace sy::tools
