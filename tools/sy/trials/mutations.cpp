#include "tools/sy/trials/mutations.h"

#include <limits>

#include "sy/sy.h"

namespace sy::tools {

namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Sizes = std::vector<int64_t>;

Sizes sizes_of(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }

Tensor of_sizes(const Tensor& like, const Sizes& sizes) {
  return zeros(sizes, like.options());
}

Tensor with_size(const Tensor& t, size_t dim, int64_t size) {
  Sizes sizes = sizes_of(t);
  sizes[dim] = size;
  return of_sizes(t, sizes);
}

// The same elements, two apart.
Tensor spread(const Tensor& t) {
  Sizes sizes = sizes_of(t);
  sizes.push_back(2);
  Tensor out = of_sizes(t, sizes).select(-1, 0);
  out.copy_(t);
  return out;
}

// The same elements, from the second element of a storage on.
Tensor shifted(const Tensor& t) {
  Tensor out = of_sizes(t, {t.numel() + 1}).narrow(0, 1, t.numel());
  out.copy_(t.reshape({-1}));
  return out.view(t.sizes());
}

struct TensorChange {
  std::string name;
  Tensor (*make)(const Tensor&);
};

template <ScalarType kType>
TensorChange to_dtype() {
  return {str("of {}", kType), [](const Tensor& t) { return t.to(kType); }};
}

std::vector<TensorChange> tensor_changes(const Tensor& t) {
  std::vector<TensorChange> out = {
      {"undefined", [](const Tensor&) { return Tensor(); }},
      {"0-d", [](const Tensor& x) { return of_sizes(x, {}); }},
      {"one dim more", [](const Tensor& x) { return x.clone().unsqueeze(0); }},
      {"one dim more at the end",
       [](const Tensor& x) { return x.clone().unsqueeze(-1); }},
      {"empty", [](const Tensor& x) { return of_sizes(x, {0}); }},
      {"empty, 3-d",
       [](const Tensor& x) {
         return of_sizes(x, {2, 0, 3});
       }},
      {"64 dims", [](const Tensor& x) { return of_sizes(x, Sizes(64, 1)); }},
      to_dtype<kBool>(),
      to_dtype<kByte>(),
      to_dtype<kLong>(),
      to_dtype<kHalf>(),
      to_dtype<kBFloat16>(),
      to_dtype<kDouble>(),
      {"on meta",
       [](const Tensor& x) {
         return empty(x.sizes(), x.options().device(Device(kMeta)));
       }},
      {"every second element", spread},
      {"one element, expanded",
       [](const Tensor& x) { return of_sizes(x, {}).expand(x.sizes()); }},
      {"all -1", [](const Tensor& x) { return full_like(x, -1); }},
  };
  const auto add = [&](const char* name, Tensor (*make)(const Tensor&)) {
    out.push_back({name, make});
  };
  if (t.dim() > 0) {
    add("first size one more",
        [](const Tensor& x) { return with_size(x, 0, x.size(0) + 1); });
    add("last size one more", [](const Tensor& x) {
      return with_size(x, static_cast<size_t>(x.dim() - 1), x.size(-1) + 1);
    });
    add("first size 0", [](const Tensor& x) { return with_size(x, 0, 0); });
    add("last size 0", [](const Tensor& x) {
      return with_size(x, static_cast<size_t>(x.dim() - 1), 0);
    });
    add("first size 1", [](const Tensor& x) { return with_size(x, 0, 1); });
    add("one dim less", [](const Tensor& x) {
      const Sizes sizes = sizes_of(x);
      return of_sizes(x, Sizes(sizes.begin() + 1, sizes.end()));
    });
  }
  if (t.dim() > 1) {
    add("dims reversed", [](const Tensor& x) {
      Sizes order;
      for (int64_t d = x.dim(); d-- > 0;) order.push_back(d);
      return x.clone().permute(order);
    });
  }
  if (t.numel() > 0) add("with an offset", shifted);
  if (is_floating_type(t.scalar_type())) {
    add("all NaN", [](const Tensor& x) { return full_like(x, kNan); });
    add("all infinite",
        [](const Tensor& x) { return full_like(x, kInfinite); });
    add("all 30000", [](const Tensor& x) { return full_like(x, 30000); });
  } else if (t.scalar_type() == kLong) {
    add("all INT64_MAX", [](const Tensor& x) { return full_like(x, kMost); });
    add("all INT64_MIN", [](const Tensor& x) { return full_like(x, kLeast); });
    add("all 1000000", [](const Tensor& x) { return full_like(x, 1000000); });
  }
  return out;
}

struct NamedValue {
  std::string name;
  Value value;
};

template <class T>
Value list(const std::vector<T>& v) {
  return Value(ArrayRef<T>(v.data(), v.size()));
}

std::vector<NamedValue> ints() {
  std::vector<NamedValue> out;
  for (const int64_t v : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{-2},
                          int64_t{7}, int64_t{1} << 31, kMost, kLeast}) {
    out.push_back({std::to_string(v), v});
  }
  return out;
}

std::vector<NamedValue> doubles() {
  std::vector<NamedValue> out;
  for (const double v : {kNan, kInfinite, -kInfinite, 0.0, -1.0, 0.5, 1e300}) {
    out.push_back({str("{}", v), v});
  }
  return out;
}

void append(std::vector<NamedValue>& to, std::vector<NamedValue> more) {
  for (NamedValue& v : more) to.push_back(std::move(v));
}

std::vector<NamedValue> int_lists(const Value& now) {
  std::vector<Sizes> lists = {{},      {0},      {-1},        {7},
                              {kMost}, {kLeast}, Sizes(70, 1)};
  if (now.tag() == Value::Tag::IntList) {
    const IntArrayRef v = now.to_int_list();
    const Sizes base(v.begin(), v.end());
    Sizes changed = base;
    changed.push_back(1);
    lists.push_back(changed);
    changed = base;
    changed.insert(changed.end(), base.begin(), base.end());
    lists.push_back(changed);
    for (const int64_t first : {int64_t{0}, int64_t{-1}, int64_t{-5},
                                int64_t{100}, int64_t{1} << 40, kMost}) {
      if (base.empty()) break;
      changed = base;
      changed.front() = first;
      lists.push_back(changed);
      changed.front() = base.front();
      changed.back() = first;
      lists.push_back(changed);
    }
    if (!base.empty()) lists.emplace_back(base.begin() + 1, base.end());
  }
  std::vector<NamedValue> out;
  for (const Sizes& l : lists) {
    const std::string name =
        l.size() > 9 ? str("{} ones", l.size()) : str("{}", IntArrayRef(l));
    out.push_back({name, list(l)});
  }
  return out;
}

std::vector<NamedValue> dtypes() {
  std::vector<NamedValue> out;
  for (const ScalarType t :
       {kBool, kByte, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble}) {
    out.push_back({str("{}", t), t});
  }
  return out;
}

// Values for an argument that is no tensor, instead of its own.
std::vector<NamedValue> plain_values(Type type, const Value& now) {
  std::vector<NamedValue> out = {{"None", Value()}, {"a text", Value("bogus")}};
  if (type.is_optional()) type = type.element();
  if (type.is_list()) {
    switch (type.element().without_optional().kind()) {
      case TypeKind::kInt:
      case TypeKind::kSymInt: append(out, int_lists(now)); break;
      case TypeKind::kFloat:
        out.push_back({"[]", list(std::vector<double>{})});
        out.push_back({"[nan]", list(std::vector<double>{kNan})});
        out.push_back({"[inf, -1]", list(std::vector<double>{kInfinite, -1})});
        break;
      case TypeKind::kScalar:
        out.push_back({"[]", list(std::vector<Scalar>{})});
        out.push_back({"[nan]", list(std::vector<Scalar>{kNan})});
        break;
      case TypeKind::kBool:
        out.push_back({"[]", Value(ArrayRef<bool>())});
        break;
      default: break;
    }
    return out;
  }
  switch (type.kind()) {
    case TypeKind::kInt:
    case TypeKind::kSymInt: append(out, ints()); break;
    case TypeKind::kFloat: append(out, doubles()); break;
    case TypeKind::kScalar:
      append(out, ints());
      append(out, doubles());
      out.push_back({"true", true});
      break;
    case TypeKind::kBool:
      out.push_back({"the other", Value(!(now.is_bool() && now.to_bool()))});
      break;
    case TypeKind::kStr: out.push_back({"''", Value("")}); break;
    case TypeKind::kScalarType: append(out, dtypes()); break;
    case TypeKind::kDevice:
      out.push_back({"meta", Device(kMeta)});
      out.push_back({"cpu:7", Device(kCPU, 7)});
      break;
    case TypeKind::kMemoryFormat:
      out.push_back({"channels_last", MemoryFormat::ChannelsLast});
      out.push_back({"channels_last_3d", MemoryFormat::ChannelsLast3d});
      out.push_back({"preserve", MemoryFormat::Preserve});
      break;
    default: break;
  }
  return out;
}

class Collector {
 public:
  Collector(const FunctionSchema& schema, const Arguments& arguments)
      : schema_(schema), arguments_(arguments) {}

  std::vector<Mutation> run() {
    for (size_t i = 0; i < arguments_.values.size(); ++i) {
      const Value& now = arguments_.values[i];
      const Argument& a = schema_.arguments()[i];
      if (now.is_tensor()) {
        of_tensor(i, now);
      } else if (now.tag() == Value::Tag::TensorList ||
                 now.tag() == Value::Tag::OptionalTensorList) {
        of_list(i, now);
      } else if (a.type.is_tensor_like()) {
        // An absent tensor.
        add(i, "a tensor", Value(ones({2, 3})));
        add(i, "an index", Value(zeros({2}, kLong)));
      } else {
        for (const NamedValue& v : plain_values(a.type, now)) {
          add(i, v.name, v.value);
        }
      }
    }
    out_.push_back({"the last argument left out", [](Arguments& in) {
                      if (!in.values.empty()) in.values.pop_back();
                    }});
    out_.push_back({"an argument more",
                    [](Arguments& in) { in.values.emplace_back(int64_t{1}); }});
    return std::move(out_);
  }

 private:
  std::string label(size_t i, const std::string& what) const {
    return str("{}: {}", schema_.arguments()[i].name.view(), what);
  }
  void add(size_t i, const std::string& what, const Value& v) {
    out_.push_back(
        {label(i, what), [i, v](Arguments& in) { in.values[i] = v; }});
  }

  void of_tensor(size_t i, const Value& now) {
    add(i, "a number", Value(int64_t{3}));
    for (const TensorChange& c : tensor_changes(Tensor(now.to_tensor()))) {
      out_.push_back({label(i, c.name), [i, make = c.make](Arguments& in) {
                        const Tensor t(in.values[i].to_tensor());
                        in.values[i] = Value(make(t));
                      }});
    }
    for (size_t k = 0; k < arguments_.values.size(); ++k) {
      if (k == i || !arguments_.values[k].is_tensor()) continue;
      const std::string other(schema_.arguments()[k].name.view());
      out_.push_back({label(i, "is " + other),
                      [i, k](Arguments& in) { in.values[i] = in.values[k]; }});
      out_.push_back({label(i, "overlaps " + other), [i, k](Arguments& in) {
                        // Memory for both, one element apart.
                        const Tensor a(in.values[i].to_tensor());
                        const Tensor b(in.values[k].to_tensor());
                        const int64_t n = std::max(a.numel(), b.numel()) + 1;
                        const Tensor room = zeros({n}, a.options());
                        in.values[i] =
                            Value(room.narrow(0, 0, a.numel()).view(a.sizes()));
                        in.values[k] =
                            Value(room.narrow(0, 1, b.numel()).view(b.sizes()));
                      }});
    }
  }

  void of_list(size_t i, const Value& now) {
    const bool optional = now.tag() == Value::Tag::OptionalTensorList;
    const auto boxed = [optional](const std::vector<TensorBase>& v) {
      return optional ? Value::optional_tensor_list(v.data(), v.size())
                      : Value::tensor_list(v.data(), v.size());
    };
    const ArrayRef<TensorBase> l = now.to_tensor_list();
    const std::vector<TensorBase> base(l.begin(), l.end());
    add(i, "[]", boxed({}));
    add(i, "[undefined]", boxed({TensorBase()}));
    if (base.empty()) return;
    std::vector<TensorBase> more = base;
    more.push_back(base.front());
    add(i, "one more", boxed(more));
    add(i, "one less", boxed({base.begin() + 1, base.end()}));
    for (const size_t k : {size_t{0}, base.size() - 1}) {
      if (!base[k].defined()) continue;
      for (const TensorChange& c : tensor_changes(Tensor(base[k]))) {
        out_.push_back({label(i, str("[{}] {}", k, c.name)),
                        [i, k, boxed, make = c.make](Arguments& in) {
                          const auto now = in.values[i].to_tensor_list();
                          std::vector<TensorBase> v(now.begin(), now.end());
                          v[k] = make(Tensor(v[k]));
                          in.values[i] = boxed(v);
                        }});
      }
    }
  }

  const FunctionSchema& schema_;
  const Arguments& arguments_;
  std::vector<Mutation> out_;
};

}  // namespace

std::vector<Mutation> mutations_of(const FunctionSchema& schema,
                                   const Arguments& arguments) {
  return Collector(schema, arguments).run();
}

}  // namespace sy::tools
