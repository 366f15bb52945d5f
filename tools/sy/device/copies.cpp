#include <algorithm>

#include "aten/backend/cpu_fallback.h"
#include "aten/tensor.h"
#include "c10/process/error.h"
#include "tools/sy/calls/calls.h"
#include "tools/sy/cases/compare.h"
#include "tools/sy/device/device_trials.h"
#include "tools/sy/device/red_zones.h"
#include "tools/sy/support/exception_text.h"

namespace sy::tools {

namespace {

// A tensor of the CPU, and how the library's copies are asked for.
struct Copy {
  std::string id;
  Tensor source, target;
  bool from_device, to_device;
};

Tensor numbers(IntArrayRef sizes, ScalarType dtype, double first) {
  return filled(sizes, kDouble, 0,
                [first](int64_t i, double) {
                  return first + static_cast<double>(i % 23) * 1.5;
                })
      .to(dtype);
}

// Layouts of the source: the same elements in other places.
struct SourceLayout {
  const char* name;
  TensorChange change;
};
const std::vector<SourceLayout>& layouts() {
  static const std::vector<SourceLayout> kAll = {
      {"dense", [](const Tensor& t) { return t; }},
      {"other strides", spread},
      {"transposed", turned},
      {"an offset", [](const Tensor& t) { return within(t, 3); }},
      {"repeated rows",
       [](const Tensor& t) { return t.narrow(0, 0, 1).expand(t.sizes()); }},
  };
  return kAll;
}

Tensor on(Device device, const Tensor& t) { return Tensor(copy_to(device, t)); }

// The difference between a tensor of the device and one of the CPU, with the
// whole storage of the first.
std::string differs(const Tensor& got, const Tensor& want) {
  return compare_tensor(read_tensor(got), read_tensor(want), {0, 0});
}

class Copies final : public Trials {
 public:
  Copies(OperatorHandle op, Device device, std::vector<ScalarType> dtypes)
      : op_(op), device_(device) {
    for (const ScalarType dtype : dtypes) {
      const ScalarType other = dtype == kFloat ? kLong : kFloat;
      for (const SourceLayout& from : layouts()) {
        add(dtype, dtype, from, layouts()[0]);
        add(dtype, dtype, from, layouts()[1]);
      }
      add(dtype, dtype, layouts()[0], layouts()[2]);
      add(dtype, other, layouts()[0], layouts()[0]);
      add(other, dtype, layouts()[1], layouts()[3]);
    }
  }

  size_t size() const override { return made_.size(); }
  std::string id(size_t i) const override { return made_[i].id; }
  Arguments arguments(size_t i) const override {
    const Copy& c = made_[i];
    const bool written_first = op_.schema().is_mutable();
    const Tensor source = c.source.clone(), target = c.target.clone();
    Arguments out;
    const auto& names = op_.schema().arguments();
    out.tensors = {
        {std::string(names[0].name.view()), written_first ? target : source},
        {std::string(names[1].name.view()), written_first ? source : target}};
    for (const NamedTensor& t : out.tensors) out.values.emplace_back(t.tensor);
    out.values.emplace_back(false);
    return out;
  }

  CaseResult run(size_t i) const override {
    CaseResult result;
    result.non_empty = true;
    try {
      result.why = problem(made_[i]);
    } catch (...) {
      result.why = current_exception_text();
    }
    // A copy between devices goes by way of the CPU.
    reset_fallback_counts();
    return result;
  }

 private:
  void add(ScalarType to, ScalarType from, const SourceLayout& source,
           const SourceLayout& target) {
    const struct {
      const char* name;
      bool from, to;
    } kWays[] = {{"to the device", false, true},
                 {"from the device", true, false},
                 {"on the device", true, true}};
    for (const auto& way : kWays) {
      made_.push_back({str("{}: {}, {} to {}, {}", way.name, from, source.name,
                           to, target.name),
                       source.change(numbers({3, 4, 5}, from, 1)),
                       target.change(numbers({3, 4, 5}, to, 50)), way.from,
                       way.to});
    }
  }

  // Copies by copy_ onto a tensor that there is, by to(), and by clone().
  std::string problem(const Copy& c) const {
    const Tensor source = c.from_device ? on(device_, c.source) : c.source;
    const Tensor want = on(Device(kCPU), c.target);
    want.copy_(c.source);
    const Tensor got = on(c.to_device ? device_ : Device(kCPU), c.target);
    broken_zone();
    got.copy_(source);
    std::string why = differs(got, want);
    if (!why.empty()) return "copy_: " + why;
    if (read_tensor(got).storage != read_tensor(want).storage) {
      return "copy_ writes beside the elements";
    }
    const Tensor fresh =
        source.to(c.to_device ? device_ : Device(kCPU), c.target.dtype());
    why = differs(fresh, c.source.to(c.target.dtype()));
    if (!why.empty()) return "to: " + why;
    why = differs(source.clone(), c.source.clone());
    if (!why.empty()) return "clone: " + why;
    return broken_zone();
  }

  OperatorHandle op_;
  Device device_;
  std::vector<Copy> made_;
};

}  // namespace

bool is_copy(OperatorHandle op) {
  return op.name() == "aten::_copy_from" || op.name() == "aten::copy_";
}

std::unique_ptr<Trials> copy_trials(OperatorHandle op, Device device,
                                    std::vector<ScalarType> dtypes) {
  return std::make_unique<Copies>(op, device, std::move(dtypes));
}

}  // namespace sy::tools
