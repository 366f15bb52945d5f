#include "tools/sy/calls/axes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/tensor.h"
#include "c10/process/error.h"

namespace sy::tools {

namespace {

using Sizes = std::vector<int64_t>;
using Change = std::function<void(Arguments&)>;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double usual(int64_t, double unit) { return 0.3 + 0.6 * unit; }

int64_t count(const Sizes& sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

// Whole numbers near `base`, which float64 does not hold.
Tensor near(const Sizes& sizes, int64_t base) {
  const Tensor t(make_tensor(sizes, kLong, Device(kCPU)));
  auto* const data = t.data_ptr<int64_t>();
  for (int64_t i = 0; i < t.numel(); ++i) {
    data[i] = (i % 3 == 2 ? -1 : 1) * (base + 1 + 2 * (i % 5));
  }
  return t;
}

TensorChange offset_by(int64_t n) {
  return [n](const Tensor& t) { return within(t, n); };
}

class ByAxes final : public Calls {
 public:
  ByAxes(OperatorHandle op, std::shared_ptr<const Calls> calls,
         std::vector<ScalarType> dtypes, bool every_dtype)
      : op_(op),
        calls_(std::move(calls)),
        dtypes_(std::move(dtypes)),
        every_dtype_(every_dtype) {
    examine();
    add_shapes();
    add_broadcasts();
    add_layouts();
    add_values();
    add_scalars();
    if (!op_.schema().is_functional()) return;
    add("repetition", "many calls", [](Arguments&) {});
    add("threads", "several at once", [](Arguments&) {});
    if (!places_.empty()) {
      add("threads", "several at once, 2 x 31 x 33",
          with(scaled(2, 31, 33), dtypes_[0], usual));
    }
  }

  size_t size() const override { return calls_->size() + made_.size(); }
  std::string id(size_t i) const override {
    return i < calls_->size() ? calls_->id(i) : made_[i - calls_->size()].id;
  }
  Arguments arguments(size_t i) const override {
    if (i < calls_->size()) return calls_->arguments(i);
    Arguments out = calls_->arguments(0);
    made_[i - calls_->size()].change(out);
    return out;
  }

 private:
  struct Made {
    std::string id;
    Change change;
  };

  // The tensors of the first call that are read.
  void examine() {
    const Arguments in = calls_->arguments(0);
    for (size_t k = 0; k < in.values.size(); ++k) {
      if (!in.values[k].is_tensor()) continue;
      const TensorBase& t = in.values[k].to_tensor();
      if (!t.defined()) continue;
      const Argument& a = op_.schema().arguments()[k];
      if (a.is_write() && op_.schema().is_out()) continue;
      places_.push_back(k);
      shapes_.emplace_back(t.sizes().begin(), t.sizes().end());
    }
    for (const Sizes& s : shapes_) alike_ &= s == shapes_[0];
  }

  void add(const std::string& axis, const std::string& what, Change change) {
    made_.push_back({str("axis {}: {}", axis, what), std::move(change)});
  }

  // The first and the next of the others; or all.
  std::vector<ScalarType> some_dtypes() {
    if (every_dtype_ || dtypes_.size() < 3) return dtypes_;
    return {dtypes_[0], dtypes_[1 + turn_++ % (dtypes_.size() - 1)]};
  }
  TensorChange next_layout() {
    static const std::vector<TensorChange> kAll = {spread, offset_by(7), turned,
                                                   nullptr};
    return kAll[layout_++ % kAll.size()];
  }
  // Calls with such tensors: dense in the first dtype, as layouts take turns in
  // others.
  void add_tensors(const std::string& axis, const std::string& what,
                   const std::vector<Sizes>& shapes, const Change& more = {}) {
    for (const ScalarType dtype : some_dtypes()) {
      const Change tensors = with(
          shapes, dtype, usual, dtype == dtypes_[0] ? nullptr : next_layout());
      add(axis, str("{}, {}", what, dtype), [=](Arguments& in) {
        tensors(in);
        if (more) more(in);
      });
    }
  }
  bool takes(ScalarType t) const {
    return std::find(dtypes_.begin(), dtypes_.end(), t) != dtypes_.end();
  }
  std::vector<ScalarType> floats() const {
    std::vector<ScalarType> out;
    for (const ScalarType t : dtypes_) {
      if (is_floating_type(t)) out.push_back(t);
    }
    return out;
  }

  // Puts tensor number p in place of that of the first call.
  void put(Arguments& in, size_t p, const Tensor& t) const {
    const std::string name(op_.schema().arguments()[places_[p]].name.view());
    in.values[places_[p]] = Value(static_cast<const TensorBase&>(t));
    for (NamedTensor& n : in.tensors) {
      if (n.name == name) n.tensor = t;
    }
  }

  Change with(std::vector<Sizes> shapes, ScalarType dtype, Element element,
              TensorChange layout = nullptr) const {
    return [=, this](Arguments& in) {
      for (size_t p = 0; p < places_.size(); ++p) {
        const Tensor t =
            filled(shapes[p], dtype, static_cast<uint32_t>(p) + 1, element);
        put(in, p, layout ? layout(t) : t);
      }
    };
  }

  std::vector<Sizes> all_of(const Sizes& s) const {
    return std::vector<Sizes>(places_.size(), s);
  }
  // The shapes of the first call with other extents for 2, 4 and 3.
  std::vector<Sizes> scaled(int64_t b, int64_t n, int64_t m) const {
    std::vector<Sizes> out = shapes_;
    for (Sizes& s : out) {
      for (int64_t& d : s) d = d == 4 ? n : d == 3 ? m : d == 2 ? b : d;
    }
    return out;
  }

  void add_shapes() {
    static const std::vector<Sizes> kRanks = {{},
                                              {5},
                                              {2, 3},
                                              {2, 3, 4},
                                              {2, 3, 2, 3},
                                              {2, 1, 3, 2, 3},
                                              {2, 2, 3, 1, 2, 3},
                                              {2, 1, 2, 3, 2, 1, 2}};
    if (places_.empty()) return;
    for (const Sizes& s : kRanks) {
      if (!alike_) break;
      const std::string what = str("{} dims", s.size());
      add_tensors("rank", what, all_of(s));
      if (s.size() < 2) continue;
      for (const ScalarType dtype : some_dtypes()) {
        add("rank", str("{}, other strides, {}", what, dtype),
            with(all_of(s), dtype, usual, spread));
      }
    }
    static constexpr int64_t kExtents[][3] = {
        {1, 1, 1000}, {2, 3, 4097}, {1, 129, 33}, {2, 31, 255}, {3, 32, 64},
        {1, 63, 127}, {2, 65, 128}, {1, 33, 257}, {2, 2, 256},  {1, 257, 31}};
    for (const auto& e : kExtents) {
      const auto shapes = scaled(e[0], e[1], e[2]);
      bool few = true;
      for (const Sizes& s : shapes) few &= count(s) <= kMostElements;
      if (!few || shapes == shapes_) continue;
      add_tensors("size", str("{} x {} x {}", e[0], e[1], e[2]), shapes);
    }
    if (alike_) {
      add_tensors("size", "7 x 1001", all_of({7, 1001}));
      add_tensors("size", "in a row", all_of({8193}));
    }
  }

  void add_broadcasts() {
    static const std::vector<std::pair<Sizes, Sizes>> kPairs = {
        {{3}, {2, 3}},       {{2, 3}, {3}},          {{4, 1}, {1, 3}},
        {{2, 1, 3}, {4, 1}}, {{2, 1, 3}, {1, 4, 1}}, {{}, {2, 3}},
        {{2, 3}, {}},        {{1, 3}, {4, 3}},       {{5, 1, 2, 1}, {3, 1, 4}}};
    if (!alike_ || places_.size() < 2) return;
    for (const auto& [a, b] : kPairs) {
      std::vector<Sizes> shapes = all_of(b);
      shapes[0] = a;
      add_tensors("broadcast",
                  str("{} with {}", IntArrayRef(a), IntArrayRef(b)), shapes);
    }
  }

  void add_layouts() {
    if (places_.empty()) return;
    const auto layout = [&](const char* axis, const std::string& what,
                            const TensorChange& change) {
      for (const ScalarType dtype : some_dtypes()) {
        add(axis, str("{}, {}", what, dtype),
            with(shapes_, dtype, usual, change));
      }
    };
    layout("strides", "transposed", turned);
    layout("strides", "stepped", spread);
    for (const int64_t n : {1, 7, 16}) {
      layout("offset", str("{}", n), offset_by(n));
    }
    if (places_.size() < 2 || !alike_ || !op_.schema().is_functional()) return;
    for (const ScalarType dtype : some_dtypes()) add_sharing(dtype);
  }

  void add_sharing(ScalarType dtype) {
    add("sharing", str("one tensor twice, {}", dtype),
        [=, this](Arguments& in) {
          const Tensor t = filled(shapes_[0], dtype, 3, usual);
          for (size_t p = 0; p < places_.size(); ++p) put(in, p, t);
        });
    add("sharing", str("two views of one storage, {}", dtype),
        [=, this](Arguments& in) {
          const int64_t n = count(shapes_[0]);
          const auto views = static_cast<int64_t>(places_.size());
          const Tensor room = filled({n + views}, dtype, 3, usual);
          for (int64_t p = 0; p < views; ++p) {
            put(in, static_cast<size_t>(p),
                room.narrow(0, p, n).view(shapes_[0]));
          }
        });
  }

  void add_values() {
    if (places_.empty()) return;
    for (const ScalarType dtype : floats()) {
      const auto values = [&](const char* axis, const char* what,
                              const Element& e) {
        add(axis, str("{}, {}", what, dtype), with(shapes_, dtype, e));
      };
      values("magnitude", "10 to 80",
             [](int64_t, double u) { return 10 + 70 * u; });
      values("magnitude", "-80 to -10",
             [](int64_t, double u) { return -10 - 70 * u; });
      if (dtype != kHalf) {
        values("magnitude", "beyond 1e6",
               [](int64_t, double u) { return 2e6 + 3e7 * u; });
        values("magnitude", "below -1e6",
               [](int64_t, double u) { return -2e6 - 3e7 * u; });
        values("magnitude", "tiny",
               [](int64_t, double u) { return 1e-30 * (u + 0.1); });
      }
      const double least = dtype == kHalf ? 3e-7 : 1e-40;
      values("special", "zeros and denormals", [least](int64_t i, double u) {
        return i % 3 == 0 ? -0.0 : i % 3 == 1 ? least * (1 + u) : -least;
      });
      values("special", "NaN and infinities", [](int64_t i, double u) {
        return i % 4 == 0 ? kNaN : i % 4 == 1 ? kInf : i % 4 == 2 ? -kInf : u;
      });
    }
    // Products of the first fit; the last only sums and the like.
    add_whole(kInt, {14, 24, 27});
    add_whole(kLong, {24, 27, 31, 53, 55});
  }

  void add_whole(ScalarType dtype, std::initializer_list<int> powers) {
    if (!takes(dtype)) return;
    for (const int power : powers) {
      add("magnitude", str("beyond 2^{}, {}", power, dtype),
          [=, this](Arguments& in) {
            for (size_t p = 0; p < places_.size(); ++p) {
              put(in, p, near(shapes_[p], int64_t{1} << power).to(dtype));
            }
          });
    }
  }

  // The first and the last dim of large tensors and of many dims.
  void add_dims(size_t k) {
    const Argument& a = op_.schema().arguments()[k];
    const Type t = a.type.without_optional();
    const bool list = t.is_list() && (t.element() == TypeKind::kInt ||
                                      t.element() == TypeKind::kSymInt);
    const bool one = t == TypeKind::kInt || t == TypeKind::kSymInt;
    if (a.name.view() != "dim" || !(one || list)) return;
    std::vector<std::pair<std::string, std::vector<Sizes>>> all = {
        {"257 x 31", scaled(1, 257, 31)}, {"3 x 4097", scaled(1, 3, 4097)}};
    if (alike_) all.emplace_back("4 dims", all_of({2, 3, 4, 5}));
    for (const int64_t dim : {0, -1}) {
      const Value value = one ? Value(dim) : Value(IntArrayRef(&dim, 1));
      for (const auto& [what, shapes] : all) {
        add_tensors("scalars", str("dim = {}, {}", dim, what), shapes,
                    [=](Arguments& in) { in.values[k] = value; });
      }
    }
  }

  void add_scalars() {
    const auto arguments = op_.schema().arguments();
    for (size_t k = 0; k < arguments.size(); ++k) {
      const Type t = arguments[k].type.without_optional();
      std::vector<Value> others;
      if (t == TypeKind::kScalar) {
        others = {Value(3),    Value(-1),    Value(0),
                  Value(-2.5), Value(0.125), Value(1000003)};
      } else if (t == TypeKind::kFloat) {
        others = {Value(3.0), Value(-1.0), Value(0.0), Value(0.125)};
      } else if (t == TypeKind::kBool) {
        others = {Value(true), Value(false)};
      } else if (t == TypeKind::kInt || t == TypeKind::kSymInt) {
        others = {Value(0), Value(1), Value(-1), Value(2), Value(-2), Value(3)};
      }
      add_dims(k);
      for (const Value& other : others) {
        add_tensors("scalars",
                    str("{} = {}", arguments[k].name.view(), to_string(other)),
                    shapes_, [=](Arguments& in) { in.values[k] = other; });
      }
    }
  }

  OperatorHandle op_;
  std::shared_ptr<const Calls> calls_;
  std::vector<ScalarType> dtypes_;
  std::vector<size_t> places_;  // arguments that are tensors
  std::vector<Sizes> shapes_;   // of them, in the first call
  bool alike_ = true;           // all have the same sizes
  bool every_dtype_;
  size_t turn_ = 0, layout_ = 0;
  std::vector<Made> made_;
};

}  // namespace

std::string_view axis_of(std::string_view id) {
  constexpr std::string_view kPrefix = "axis ";
  if (!id.starts_with(kPrefix)) return {};
  id.remove_prefix(kPrefix.size());
  return id.substr(0, id.find(':'));
}

const std::vector<std::string>& axes() {
  static const std::vector<std::string> kAll = {
      "rank",      "size",    "broadcast", "strides",    "offset", "sharing",
      "magnitude", "special", "scalars",   "repetition", "threads"};
  return kAll;
}

std::unique_ptr<Calls> calls_by_axes(OperatorHandle op,
                                     std::shared_ptr<const Calls> calls,
                                     std::vector<ScalarType> dtypes,
                                     bool every_dtype) {
  return std::make_unique<ByAxes>(op, std::move(calls), std::move(dtypes),
                                  every_dtype);
}

}  // namespace sy::tools
