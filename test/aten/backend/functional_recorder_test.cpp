#include <gtest/gtest.h>

#include "aten/backend/functionalize.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/math.h"
#include "aten/ops/ranges.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "c10/plugin/library.h"
#include "c10/schema/function_schema.h"
#include "c10/storage_payload.h"
#include "test/aten/tensor_values.h"
#include "test/conformance/host_device.h"

// A backend whose tensors have no memory: it has kernels for what neither
// writes nor makes views, and sees nothing else of programs that do both.

namespace sy {
namespace {

using Values = std::vector<double>;

HostDevice& recorder() {
  static auto* d = new HostDevice;
  return *d;
}

// The result of a recorded call, here computed at once on the CPU.
class Recorded final : public StoragePayload {
 public:
  Recorded(DeviceType backend, Tensor t)
      : StoragePayload(backend), value(std::move(t)) {}
  void materialize(StorageImpl&) override {
    fail(ErrorKind::Error, "a recorded value has no memory");
  }
  Tensor value;
};

SY_BACKEND(Recorder, m) { m.device("recorder", &recorder()); }

Device device() {
  static const Device d("recorder");
  return d;
}

Tensor record(const Tensor& cpu) {
  const Tensor value = cpu.contiguous();
  Storage s = StorageImpl::without_data(value.nbytes(), device());
  s->set_payload(make_intrusive<Recorded>(device().type(), value));
  return Tensor(TensorImpl::make(std::move(s), value.scalar_type(), device(),
                                 DispatchKeySet::dense(device().type()),
                                 value.sizes()));
}

Tensor computed(const TensorBase& t) {
  if (t.is_cpu()) return Tensor(t);
  const auto* const payload =
      dynamic_cast<const Recorded*>(t.storage()->payload());
  SY_CHECK(payload != nullptr, Error, "no recorded value in {}", describe(t));
  return payload->value.as_strided(t.sizes(), t.strides(), t.storage_offset());
}

Value computed(const Value& v) {
  if (v.is_tensor()) return Value(computed(v.to_tensor()));
  if (v.tag() == Value::Tag::Device) return Value(Device(kCPU));
  const bool optional = v.tag() == Value::Tag::OptionalTensorList;
  if (v.tag() != Value::Tag::TensorList && !optional) return v;
  std::vector<TensorBase> list;
  for (const TensorBase& t : v.to_tensor_list()) {
    list.push_back(t.defined() ? computed(t) : t);
  }
  return optional ? Value::optional_tensor_list(list.data(), list.size())
                  : Value::tensor_list(list.data(), list.size());
}

int calls = 0;

void kernel(const Kernel&, const OperatorEntry& op, DispatchKeySet, Value* args,
            size_t num_args, Value* results, size_t num_results) {
  ++calls;
  std::vector<Value> in;
  for (size_t i = 0; i < num_args; ++i) in.push_back(computed(args[i]));
  OperatorHandle(&op).call_boxed(in.data(), in.size(), results, num_results);
  for (size_t i = 0; i < num_results; ++i) {
    if (results[i].is_tensor()) {
      results[i] = Value(record(Tensor(results[i].to_tensor())));
    }
  }
}

void refuse(const Kernel&, const OperatorEntry& op, DispatchKeySet, Value*,
            size_t, Value*, size_t) {
  fail(ErrorKind::Error, "{} writes a recorded tensor", op.name());
}

// Kernels for every operator but views.
const RegistrationHandle& kernels() {
  static const auto* const handle = [] {
    std::vector<std::pair<std::string, bool>> names;
    for (const OperatorHandle op : Dispatcher::singleton().operators()) {
      if (!op.name().starts_with("aten::")) continue;
      if (op.entry().has_flag(OperatorDef::kAliases)) continue;
      names.emplace_back(op.name().substr(6),
                         op.entry().has_flag(OperatorDef::kWrites));
    }
    return new RegistrationHandle(register_library(
        LibraryKind::Impl, "aten", "Recorder", [names](Library& m) {
          for (const auto& [name, writes] : names) {
            m.impl(name, Kernel::from_boxed(writes ? &refuse : &kernel));
          }
        }));
  }();
  return *handle;
}

Tensor counting(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return arange(n, TensorOptions(kFloat)).reshape(sizes);
}

Values read(const Tensor& f) { return values(computed(functional_value(f))); }

template <class Program>
void expect_same(const Tensor& start, Program program) {
  kernels();
  calls = 0;
  const Tensor plain = start.clone();
  const Tensor value = record(start.clone());
  const Tensor functional = functionalize(value);
  const std::vector<Tensor> want = program(plain);
  const std::vector<Tensor> got = program(functional);
  ASSERT_EQ(want.size(), got.size());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_TRUE(is_functional(got[i])) << i;
    EXPECT_EQ(got[i].device(), device());
    EXPECT_EQ(ints(got[i].sizes()), ints(want[i].sizes())) << i;
    EXPECT_EQ(read(got[i]), values(want[i])) << i;
    EXPECT_EQ(got[i].is_alias_of(functional), want[i].is_alias_of(plain)) << i;
  }
  EXPECT_EQ(read(functional), values(plain));
  EXPECT_EQ(values(computed(value)), values(start));
  EXPECT_GT(calls, 0);
}

TEST(FunctionalRecorder, WritesAndViews) {
  expect_same(counting({4, 4}), [](Tensor t) {
    Tensor row = t.select(0, 1);
    row.add_(100);
    t.mul_(2);
    Tensor corner = t.slice(0, 2, 4).slice(1, 2, 4).t();
    corner.zero_();
    t.diagonal().fill_(-1);
    return std::vector<Tensor>{row, corner, t + row, t.sum()};
  });
}

TEST(FunctionalRecorder, ReshapedAndSplit) {
  expect_same(counting({4, 3}), [](Tensor t) {
    std::vector<Tensor> out = t.view({12}).split(5, 0);
    out[1].mul_(10);
    for (const Tensor& column : t.unbind(1)) out.push_back(column);
    out.back().add_(0.5);
    out.push_back(t.permute({1, 0}).unsqueeze(1));
    out.back().sub_(1);
    return out;
  });
}

TEST(FunctionalRecorder, OutArgumentsAreResized) {
  expect_same(counting({2, 3}), [](const Tensor& t) {
    Tensor out = t.sum();
    add_out(out, t, t);
    out.select(0, 0).zero_();
    return std::vector<Tensor>{out};
  });
}

TEST(FunctionalRecorder, CopiesConvert) {
  expect_same(counting({2, 3}), [](Tensor t) {
    Tensor whole = t.to(kLong);
    t.select(1, 0).copy_(whole.select(1, 2));
    whole.copy_(t.mul(1.5));
    return std::vector<Tensor>{whole};
  });
}

}  // namespace
}  // namespace sy
