#include "frontend/distributed/training/device_parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "aten/backend/cpu_fallback.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/random.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "autograd/anomaly.h"
#include "autograd/api.h"
#include "autograd/saved_tensor_hooks.h"
#include "c10/device/backend.h"
#include "c10/device/device_guard.h"
#include "c10/device/generator.h"
#include "c10/dispatch/thread_state.h"
#include "c10/plugin/library.h"
#include "frontend/distributed/context.h"
#include "frontend/nn/container/sequential.h"
#include "frontend/nn/modules/batchnorm.h"
#include "frontend/nn/modules/linear.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/ranks.h"

namespace sy::distributed {
namespace {

using nn::Linear;
using nn::Sequential;
using Values = std::vector<double>;

// Three devices of host memory, in which each byte is changed by the number of
// the device: elements that take a wrong way have wrong values.
class Triple final : public DeviceInterface, public Allocator {
 public:
  int device_count() const noexcept override { return 3; }
  Allocator& allocator(int) override { return *this; }
  void copy_from_host(void* to, const void* from, size_t n, int i) override {
    change(to, from, n, i);
  }
  void copy_to_host(void* to, const void* from, size_t n, int i) override {
    change(to, from, n, i);
  }
  void copy_on_device(void* to, const void* from, size_t n, int) override {
    std::memmove(to, from, n);
  }
  void* allocate(size_t n) override {
    return n == 0 ? nullptr : std::aligned_alloc(64, (n + 63) / 64 * 64);
  }
  void deallocate(void* data, size_t) noexcept override { std::free(data); }

 private:
  static void change(void* to, const void* from, size_t n, int i) {
    for (size_t k = 0; k < n; ++k) {
      static_cast<uint8_t*>(to)[k] =
          static_cast<uint8_t>(static_cast<const uint8_t*>(from)[k] ^ (i + 1));
    }
  }
};

Triple& triple() {
  static auto* d = new Triple;
  return *d;
}

Tensor empty_triple(IntArrayRef size, std::optional<ScalarType> dtype,
                    std::optional<Layout>, std::optional<Device> device,
                    std::optional<bool>, std::optional<MemoryFormat>) {
  return Tensor(make_tensor(size, dtype.value_or(kFloat), with_index(*device)));
}
Tensor empty_strided_triple(IntArrayRef size, IntArrayRef stride,
                            std::optional<ScalarType> dtype,
                            std::optional<Layout>, std::optional<Device> device,
                            std::optional<bool>) {
  return Tensor(make_tensor_strided(size, stride, dtype.value_or(kFloat),
                                    with_index(*device)));
}

SY_BACKEND(Triple, m) { m.device("triple", &triple()); }
SY_LIBRARY_IMPL(aten, Triple, m) {
  m.impl("empty.memory_format", SY_FN(empty_triple));
  m.impl("empty_strided", SY_FN(empty_strided_triple));
}
SY_LIBRARY_IMPL(_, Triple, m) { m.fallback(Kernel::from_boxed(&cpu_fallback)); }

Device triple(int i) {
  sy::init();
  return Device("triple:" + std::to_string(i));
}
Devices cpus(size_t n) { return Devices(n, Device(kCPU)); }

Values back(const Tensor& t) { return values(t.detach().to(kCPU)); }

void expect_close(const Tensor& got, const Tensor& want) {
  ASSERT_TRUE(got.defined());
  ASSERT_TRUE(want.defined());
  ASSERT_EQ(ints(got.sizes()), ints(want.sizes()));
  const Values a = back(got), b = back(want);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5) << i;
}

Sequential net() {
  sy::manual_seed(1);
  return Sequential(Linear(4, 8), nn::Linear(8, 3));
}

class OnDevices : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  Devices devices() const {
    sy::init();
    Devices all;
    for (const std::string& d : GetParam()) all.push_back(Device(d));
    return all;
  }
};
using Names = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(
    All, OnDevices,
    testing::Values(Names{"cpu"}, Names{"cpu", "cpu"},
                    Names{"cpu", "cpu", "cpu", "cpu"},
                    Names{"triple:0", "triple:1", "triple:2"},
                    Names{"cpu", "triple:1"}, Names{"triple:2", "cpu"},
                    Names{"triple", "triple"}));

// The same as one device on the whole batch, for each size of it.
TEST_P(OnDevices, TrainLikeOne) {
  for (const int64_t rows : {0, 1, 2, 3, 5, 9}) {
    const Sequential one = net(), many = net();
    many->to(devices()[0]);
    const Tensor x = randn({rows, 4}), y = x.clone();
    x.requires_grad_();
    y.requires_grad_();
    const Tensor expected = one->forward(x);
    (expected * expected).sum().backward();
    const DataParallel parallel(many, devices());
    const Tensor got = parallel(y);
    EXPECT_EQ(got.device(), with_index(devices()[0]));
    expect_close(got, expected);
    (got * got).sum().backward();
    expect_close(y.grad(), x.grad());
    const auto a = many->parameters(), b = one->parameters();
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].grad().device(), with_index(devices()[0]));
      expect_close(a[i].grad(), b[i].grad());
    }
  }
}

TEST_P(OnDevices, ParametersThatAreCopiesHaveAHistory) {
  const Sequential model = net();
  model->to(devices()[0]);
  model->parameters()[1].requires_grad_(false);
  const auto all = replicate(model, devices());
  ASSERT_EQ(all.size(), devices().size());
  EXPECT_EQ(all[0], model.ptr());
  for (size_t i = 1; i < all.size(); ++i) {
    const auto p = all[i]->parameters();
    EXPECT_EQ(p[0].device(), with_index(devices()[i]));
    EXPECT_FALSE(p[0].is_leaf());
    EXPECT_TRUE(p[1].is_leaf());
    EXPECT_FALSE(p[1].requires_grad());
    EXPECT_EQ(back(p[0]), back(model->parameters()[0]));
    // They are copies: a write stays there.
    const NoGradGuard no_grad;
    p[0].detach().zero_();
    EXPECT_NE(back(p[0]), back(model->parameters()[0]));
  }
}

TEST(Scatter, PartsAreThoseOfChunk) {
  const Tensor x = arange(10).view({5, 2});
  const auto sizes = [&](size_t devices, int64_t dim) {
    std::vector<int64_t> all;
    for (const Tensor& t : scatter(x, cpus(devices), dim)) {
      all.push_back(t.size(dim));
    }
    return all;
  };
  EXPECT_EQ(sizes(1, 0), (std::vector<int64_t>{5}));
  EXPECT_EQ(sizes(2, 0), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(sizes(4, 0), (std::vector<int64_t>{2, 2, 1}));
  EXPECT_EQ(sizes(9, 0), (std::vector<int64_t>{1, 1, 1, 1, 1}));
  EXPECT_EQ(sizes(2, 1), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(sizes(3, -1), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(back(scatter(x, cpus(2), 1)[1]), (Values{1, 3, 5, 7, 9}));
  EXPECT_EQ(back(gather(scatter(x, cpus(4)), kCPU)), back(x));
  EXPECT_EQ(back(gather(scatter(x, cpus(2), 1), kCPU, 1)), back(x));
  EXPECT_EQ(scatter(x.narrow(0, 0, 0), cpus(3)).size(), 1u);
  SY_EXPECT_ERROR(scatter(x, {}), ValueError, "devices: expected some");
  SY_EXPECT_ERROR(scatter(x, cpus(2), 2), ValueError,
                  "expected a tensor with a dimension 2 to split");
  SY_EXPECT_ERROR(scatter(x.sum(), cpus(2)), ValueError, "sizes []");
  SY_EXPECT_ERROR(gather({}, kCPU), ValueError, "parts: expected some");
}

TEST(Scatter, GradientsOfPartsFlowBack) {
  const Tensor x = arange(6, kFloat).view({3, 2}).to(triple(0));
  x.requires_grad_();
  const auto parts = scatter(x, {triple(1), triple(2)});
  EXPECT_EQ(parts[1].device(), triple(2));
  const Tensor all = gather({parts[0] * 2, parts[1] * 3}, kCPU);
  EXPECT_EQ(back(all), (Values{0, 2, 4, 6, 12, 15}));
  all.sum().backward();
  EXPECT_EQ(back(x.grad()), (Values{2, 2, 2, 2, 3, 3}));
}

// Two uses of one tensor, members of several types, and a second derivative.
struct TiedImpl : nn::Module {
  TiedImpl() {
    weight = register_parameter("weight", randn({3, 3}));
    same = register_module("same", Linear(3, 3));
    again = register_module("again", same);
  }
  Tensor forward(const Tensor& x) {
    return again(same(x.mm(weight)).tanh()).mm(weight);
  }
  nn::Parameter weight;
  Linear same{nullptr}, again{nullptr};
};
SY_MODULE(Tied);

TEST(DataParallel, SharedTensorsAndSecondDerivatives) {
  sy::manual_seed(2);
  const Tied model;
  const Tensor x = randn({5, 3});
  const auto second = [&](const Tensor& y) {
    const auto all = model->parameters();
    const auto first = autograd::grad({(y * y).sum()}, all, {}, true, true);
    return autograd::grad({first[0].pow(2).sum() + first[1].pow(2).sum()}, all);
  };
  const auto expected = second(model(x));
  const auto got = second(DataParallel(model, cpus(3))(x));
  const auto there =
      second(DataParallel(model, {Device(kCPU), triple(0), triple(1)})(x));
  for (size_t i = 0; i < got.size(); ++i) {
    const double scale = expected[i].abs().max().item<double>();
    expect_close(got[i] / scale, expected[i] / scale);
    expect_close(there[i] / scale, expected[i] / scale);
  }
}

struct ManyImpl : nn::Module {
  using Result = std::tuple<Tensor, std::vector<Tensor>, std::optional<Tensor>>;
  Result forward(const Tensor& x, const std::vector<Tensor>& more, int times,
                 const std::optional<Tensor>& mask, std::pair<Tensor, bool> p,
                 const std::string& name) {
    ++calls;
    EXPECT_EQ(name, "name");
    EXPECT_EQ(x.size(0), more[1].size(0));
    Tensor y = x * times + more[0];
    if (mask.has_value()) y = y * *mask;
    if (p.second) y = y + p.first;
    return {y, {y.sum(), more[1]}, mask};
  }
  static inline std::atomic<int> calls = 0;
};
SY_MODULE(Many);

TEST(DataParallel, ArgumentsAndResultsOfAllKinds) {
  const Many model;
  const DataParallel parallel(model, cpus(2));
  const Tensor x = arange(3, kFloat).view({3, 1}), one = ones({3, 1});
  ManyImpl::calls = 0;
  const auto [y, list, mask] =
      parallel(x, std::vector<Tensor>{one, one * 7}, 10,
               std::optional<Tensor>(one * 2), std::pair(one, true), "name");
  EXPECT_EQ(ManyImpl::calls, 2);
  EXPECT_EQ(back(y), (Values{3, 23, 43}));
  EXPECT_EQ(back(list[0]), (Values{26, 43}));  // one of each replica
  EXPECT_EQ(ints(list[0].sizes()), std::vector<int64_t>{2});
  EXPECT_EQ(back(list[1]), (Values{7, 7, 7}));
  EXPECT_EQ(back(*mask), (Values{2, 2, 2}));
  const auto none =
      parallel(x, std::vector<Tensor>{one, one}, 1, std::optional<Tensor>(),
               std::pair(one, false), "name");
  EXPECT_FALSE(std::get<2>(none).has_value());
  // One device: what the module gives.
  const auto alone = DataParallel(model, cpus(1))(
      x, std::vector<Tensor>{one, one}, 1, std::optional<Tensor>(),
      std::pair(one, false), "name");
  EXPECT_EQ(std::get<1>(alone)[0].dim(), 0);
  SY_EXPECT_ERROR(
      parallel(x, std::vector<Tensor>{one, ones({2, 1})}, 1,
               std::optional<Tensor>(), std::pair(one, false), "name"),
      ValueError,
      "argument 1: expected 3 rows in dimension 0, as argument 0 "
      "has, got 2");
}

TEST(DataParallel, OutputDeviceAndDimension) {
  const Sequential model = net();
  const Tensor x = randn({5, 4});
  const Tensor expected = model->forward(x);
  const Tensor there =
      DataParallel(model, {Device(kCPU), triple(0)}, triple(2))(x);
  EXPECT_EQ(there.device(), triple(2));
  expect_close(there, expected);
  expect_close(data_parallel(model, x, cpus(2)), expected);
  expect_close(data_parallel(model.ptr(), x), expected);
  // Rows in dimension 1 of both.
  const Tensor wide = randn({2, 5, 4});
  expect_close(DataParallel(model, cpus(3), std::nullopt, 1)(wide),
               model->forward(wide));
}

TEST(DataParallel, DevicesAreThoseOfTheModulesKind) {
  const Sequential model = net();
  EXPECT_EQ(DataParallel(model).devices(), Devices{Device(kCPU)});
  model->to(triple(1));
  EXPECT_EQ(DataParallel(model).devices(),
            (Devices{triple(1), triple(0), triple(2)}));
  EXPECT_EQ(DataParallel(model).output_device(), triple(1));
  SY_EXPECT_ERROR(DataParallel(model, Devices{triple(0), triple(1)}),
                  ValueError,
                  "module: expected parameters and buffers on triple:0, the "
                  "first of the devices, but '0.weight' is on triple:1");
  const DataParallel parallel(model);
  model->to(triple(2));
  SY_EXPECT_ERROR(parallel(ones({2, 4})), ValueError, "is on triple:2");
}

// Sizes without values.
TEST(DataParallel, OnMeta) {
  const Sequential model = net();
  model->to(kMeta);
  const NoGradGuard no_grad;
  const Tensor y =
      DataParallel(model, {Device(kMeta), Device(kMeta)})(ones({5, 4}));
  EXPECT_TRUE(y.device().is_meta());
  EXPECT_EQ(ints(y.sizes()), (std::vector<int64_t>{5, 3}));
}

TEST(DataParallel, FirstReplicasBuffersStay) {
  const Sequential model(nn::BatchNorm1d(2)), half(nn::BatchNorm1d(2));
  const Tensor x = randn({8, 2});
  DataParallel(model, cpus(2))(x);
  half->forward(x.narrow(0, 0, 4));
  const auto a = model->buffers(), b = half->buffers();
  for (size_t i = 0; i < a.size(); ++i) expect_close(a[i], b[i]);
  // Modes are those of the module at the call.
  model->eval();
  expect_close(DataParallel(model, cpus(2))(x), model->forward(x));
}

// Notes the modes of the thread where it runs.
struct ModesImpl : nn::Module {
  ModesImpl() { weight = register_parameter("weight", ones({1})); }
  Tensor forward(const Tensor& x) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    grad.insert(GradMode::is_enabled());
    inference.insert(InferenceMode::is_enabled());
    anomaly.insert(autograd::AnomalyMode::is_enabled());
    autocast.insert(thread_state.autocast_devices);
    ranks.insert(get_rank());
    labels.insert(CallLabel::current());
    devices.insert(current_device(triple(0).type()));
    return x * weight * weight;
  }
  nn::Parameter weight;
  static inline std::mutex mutex;
  static inline std::set<std::thread::id> threads;
  static inline std::set<bool> grad, inference, anomaly;
  static inline std::set<uint32_t> autocast;
  static inline std::set<int> ranks, devices;
  static inline std::set<std::string> labels;
};
SY_MODULE(Modes);

TEST(ParallelApply, ThreadsAreInTheModesOfTheCaller) {
  const Tensor x = ones({3, 1});
  const Devices devices = {Device(kCPU), triple(1), triple(2)};
  const Modes model;
  {
    const NoGradGuard no_grad;
    EXPECT_FALSE(DataParallel(model, devices)(x).requires_grad());
  }
  EXPECT_EQ(ModesImpl::threads.size(), 3u);
  EXPECT_EQ(ModesImpl::grad, std::set<bool>{false});
  EXPECT_EQ(ModesImpl::devices, (std::set<int>{0, 1, 2}));
  EXPECT_EQ(ModesImpl::anomaly, std::set<bool>{false});
  EXPECT_EQ(ModesImpl::inference, std::set<bool>{false});
  ModesImpl::inference.clear();
  {
    const InferenceMode guard;
    DataParallel(model, devices)(x);
  }
  EXPECT_EQ(ModesImpl::inference, std::set<bool>{true});

  ModesImpl::grad.clear();
  ModesImpl::anomaly.clear();
  ModesImpl::autocast.clear();
  ModesImpl::labels.clear();
  ModesImpl::ranks.clear();
  Ranks(2).run([&](int rank) {
    if (rank == 0) return;
    const CallLabel label("of the test");
    const autograd::DetectAnomalyGuard anomaly;
    const uint32_t before = thread_state.autocast_devices;
    thread_state.autocast_devices = 1u << 31;
    std::atomic<int> packed = 0;
    const autograd::SavedTensorHooks hooks(
        [&](const Tensor& t) {
          ++packed;
          return std::any(t);
        },
        [](const std::any& a) { return std::any_cast<Tensor>(a); });
    DataParallel(model, cpus(3))(x);
    EXPECT_GE(packed, 6);  // of each of three: a product's two factors
    thread_state.autocast_devices = before;
  });
  EXPECT_EQ(ModesImpl::grad, std::set<bool>{true});
  EXPECT_EQ(ModesImpl::anomaly, std::set<bool>{true});
  EXPECT_EQ(ModesImpl::autocast, std::set<uint32_t>{1u << 31});
  EXPECT_EQ(ModesImpl::ranks, std::set<int>{1});
  EXPECT_EQ(ModesImpl::labels, std::set<std::string>{"of the test"});
}

struct FailingImpl : nn::Module {
  Tensor forward(const Tensor& x) {
    ++calls;
    const double first = x.flatten()[0].item<double>();
    SY_CHECK(first != 1, Type, "[forward] no ones");
    if (first == 2) throw std::out_of_range("twos");
    if (first == 3) throw 3;
    return x;
  }
  static inline std::atomic<int> calls = 0;
};
SY_MODULE(Failing);

TEST(ParallelApply, ErrorsNameReplicaAndDevice) {
  const DataParallel parallel(Failing(), {Device(kCPU), triple(1), triple(2)});
  const auto call = [&](std::vector<double> x) { parallel(tensor(x)); };
  SY_EXPECT_ERROR(call({0, 1, 0}), TypeError,
                  "in replica 1 on triple:1\nin Failing\n[forward] no ones");
  EXPECT_EQ(FailingImpl::calls, 3);
  // The first of several; the kind is the error's own.
  SY_EXPECT_ERROR(call({0, 2, 1}), Error, "in replica 1 on triple:1\ntwos");
  SY_EXPECT_ERROR(call({1, 2, 3}), TypeError, "in replica 0 on cpu");
  SY_EXPECT_ERROR(call({0, 0, 3}), Error, "replica 2 on triple:2\nsomething");
  call({0, 0, 0});

  const Sequential model = net();
  const auto modules = replicate(model, cpus(2));
  const std::vector<Tensor> inputs = scatter(randn({4, 4}), cpus(2));
  const auto results = parallel_apply(modules, inputs, cpus(2));
  expect_close(results[1], model->forward(inputs[1]));
  SY_EXPECT_ERROR(parallel_apply(modules, {inputs[0]}, cpus(2)), ValueError,
                  "inputs: expected 2, one for each module, got 1");
  SY_EXPECT_ERROR(parallel_apply(modules, inputs, cpus(1)), ValueError,
                  "devices: expected 2, one for each module, got 1");
  SY_EXPECT_ERROR(
      DataParallel(model, {Device(kCPU), Device("triple:7")})(ones({2, 4})),
      ValueError, "triple");
}

// As many lists, optionals and so on from each replica.
struct UnevenImpl : nn::Module {
  std::vector<Tensor> forward(const Tensor& x) {
    return std::vector<Tensor>(static_cast<size_t>(x.size(0)), x);
  }
};
SY_MODULE(Uneven);

TEST(DataParallel, ResultsMustFitTogether) {
  SY_EXPECT_ERROR(DataParallel(Uneven(), cpus(2))(ones({3, 1})), ValueError,
                  "expected as many values for each replica, got 2 and 1");
}

TEST(DataParallel, HooksRunForEachReplica) {
  const Sequential model = net();
  std::atomic<int> calls = 0;
  model[0]->register_forward_hook(
      [&](nn::Module&, TensorList, std::vector<Tensor>&) { ++calls; });
  const Tensor weight = model->parameters()[0];
  DataParallel(model, cpus(4))(ones({4, 4})).sum().backward();
  EXPECT_EQ(calls, 4);
  EXPECT_TRUE(weight.grad().defined());
}

}  // namespace
}  // namespace sy::distributed
