#include <gtest/gtest.h>
#include <sy/cuda.h>
#include <sy/lazy.h>
#include <sy/library.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "test/backends/cuda/runtime_fixture.h"

// The lazy device, which computes on `cuda` here ($SWITCHYARD_LAZY_DEVICE),
// against the CPU.

namespace sy::cuda::testing {
namespace {

class LazyOnCuda : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    init();  // the backend is linked to the test
    load_library("lazy").keep();
  }
  void SetUp() override { reset_fallback_counts(); }
  void TearDown() override {
    for (const FallbackCount& f : fallback_counts()) {
      ADD_FAILURE() << f.op << " ran on the CPU";
    }
  }
};

Tensor sample(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return ((arange(n, TensorOptions(kFloat)) * 0.37).sin() * 3).view(sizes);
}
const Device& lazy_device() {
  static const Device d("lazy");
  return d;
}

void expect_same(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.sizes(), want.sizes());
  ASSERT_EQ(got.scalar_type(), want.scalar_type());
  EXPECT_TRUE(allclose(got.cpu(), want, 1e-5, 1e-5)) << got.cpu() << want;
}

int64_t launches() {
  sy::synchronize(Device("cuda:0"));
  return counters().launches;
}

// A function of tensors gives the same on the CPU, on cuda and on lazy; on lazy
// it takes fewer launches.
template <class F>
void expect_fused(const std::vector<Tensor>& inputs, const F& f) {
  const Tensor want = f(inputs);
  const auto on = [&](const Device& device) {
    std::vector<Tensor> there;
    for (const Tensor& t : inputs) there.push_back(t.to(device));
    return there;
  };
  const std::vector<Tensor> eager = on(Device("cuda")),
                            lazy = on(lazy_device());
  // The first runs are interpreted while kernels are compiled.
  for (int i = 0; i < 2; ++i) {
    expect_same(f(eager), want);
    expect_same(f(lazy), want);
    finish_compiling();
  }
  const int64_t begin = launches();
  const Tensor by_calls = f(eager);
  const int64_t middle = launches();
  const Tensor recorded = f(lazy);
  EXPECT_EQ(launches(), middle) << "nothing runs while it is recorded";
  const int64_t regions = lazy::counters().regions;
  lazy::sync(lazy::kWait);
  const int64_t end = launches();
  EXPECT_GT(lazy::counters().regions, regions);
  EXPECT_GT(end, middle);
  EXPECT_LT(end - middle, middle - begin) << lazy::plan_text();
  expect_same(recorded, want);
  expect_same(by_calls, want);
}

TEST_F(LazyOnCuda, ComputesThere) {
  EXPECT_EQ(device_properties(lazy_device()).name,
            std::string("lazy on cuda:0"));
  const Tensor x = ones({4}).to(lazy_device());
  EXPECT_EQ((x + 1).sum().item<float>(), 8);
}

TEST_F(LazyOnCuda, ChainsAreOneKernel) {
  expect_fused({sample({8, 100}), sample({100})},
               [](const std::vector<Tensor>& t) {
                 return ((t[0] * 2 + t[1]).tanh() - t[0]).abs().sqrt();
               });
}

TEST_F(LazyOnCuda, ReductionsWithWhatIsAroundThem) {
  expect_fused({sample({16, 70})}, [](const std::vector<Tensor>& t) {
    return ((t[0] * t[0] + 1).sum(1) * 0.5).sqrt().exp().log();
  });
}

TEST_F(LazyOnCuda, SoftmaxOfPrimitives) {
  expect_fused({sample({9, 65})}, [](const std::vector<Tensor>& t) {
    const Tensor e = (t[0] - t[0].amax(1, true)).exp();
    return e / e.sum(1, true) * 2 + 1;
  });
}

TEST_F(LazyOnCuda, SoftmaxAndLayerNorm) {
  expect_fused({sample({6, 40}), sample({40}), sample({40})},
               [](const std::vector<Tensor>& t) {
                 const Tensor y = layer_norm(t[0] * 2 - 1, {40}, t[1], t[2]);
                 return (softmax(y, 1) * 3 + 1).log().neg();
               });
}

TEST_F(LazyOnCuda, ProductsWithPointwiseCallsAfterThem) {
  expect_fused({sample({7, 20}), sample({5, 20}), sample({5})},
               [](const std::vector<Tensor>& t) {
                 return (t[0].matmul(t[1].t()) + t[2]).relu().mul(2).sigmoid();
               });
}

TEST_F(LazyOnCuda, IndexingInTheMiddle) {
  const Tensor at = tensor({3, 0, 3, 5});
  expect_fused({sample({6, 30}), at}, [](const std::vector<Tensor>& t) {
    return ((t[0] * 2 + 1).index_select(0, t[1]).relu() - 1).abs();
  });
}

// A small network and SGD, some steps: losses, and weights at the end.
std::vector<Tensor> train(const Device& device) {
  manual_seed(0);
  const Tensor x = sample({32, 10}).to(device);
  const Tensor y = sample({32, 4}).argmax(1).to(device);
  nn::Sequential net(nn::Linear(10, 16), nn::ReLU(), nn::Linear(16, 4));
  net->to(device);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  std::vector<Tensor> out;
  for (int step = 0; step < 4; ++step) {
    const Tensor loss = cross_entropy_loss(net->forward(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (device == lazy_device()) lazy::sync();
    out.push_back(loss.detach());
  }
  for (const Tensor& p : net->parameters()) out.push_back(p.detach());
  return out;
}

TEST_F(LazyOnCuda, TrainsANetwork) {
  const std::vector<Tensor> want = train(Device(kCPU));
  const int64_t regions = lazy::counters().regions;
  const std::vector<Tensor> got = train(lazy_device());
  EXPECT_GT(lazy::counters().regions, regions);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(i);
    expect_same(got[i], want[i]);
  }
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST_F(LazyOnCuda, ErrorsNameTheOperator) {
  const Tensor x = sample({7}).to(lazy_device());
  const Tensor bad = (x + 1).index_select(0, tensor({1, 9}).to(lazy_device()));
  std::string what = error_of([&] { bad.cpu(); });
  EXPECT_NE(
      what.find("index_select] index: expected an index into a size of 7"),
      std::string::npos)
      << what;
  // sync() says it, too, if it waits.
  const Tensor worse = (x + 2).index_select(0, tensor({8}).to(lazy_device()));
  what = error_of([&] { lazy::sync(lazy::kWait); });
  EXPECT_NE(
      what.find("index_select] index: expected an index into a size of 7"),
      std::string::npos)
      << what;
  // An error of a region.
  const Tensor n = tensor({4, 5}).to(lazy_device());
  const Tensor zero = zeros({2}, TensorOptions(kLong)).to(lazy_device());
  const Tensor ratio = (n + 1).remainder(zero * 2);
  what = error_of([&] { ratio.cpu(); });
  EXPECT_NE(what.find("aten::remainder"), std::string::npos) << what;
  // The device works on.
  expect_same(x * 2, sample({7}) * 2);
}

TEST_F(LazyOnCuda, ReadersWait) {
  fake().slow(20000);
  const Tensor x = sample({50}).to(lazy_device());
  const Tensor y = ((x + 1).cumsum(0) * 2).cumsum(0);
  const Tensor want = ((sample({50}) + 1).cumsum(0) * 2).cumsum(0);
  EXPECT_NEAR(y[49].item<float>(), want[49].item<float>(), 0.1);
  expect_same(y, want);
  fake().slow(0);
}

// Each thread has a stream of its own, and reads what others computed.
TEST_F(LazyOnCuda, ThreadsAndTheirStreams) {
  const Tensor x = sample({40}).to(lazy_device());
  const Tensor shared = ((x + 1).cumsum(0) * 2).cumsum(0) + 1;
  const Tensor want = ((sample({40}) + 1).cumsum(0) * 2).cumsum(0) + 1;
  fake().slow(5000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      const StreamGuard guard(Stream::make(Device("cuda:0")));
      for (int k = 0; k < 3; ++k) {
        Tensor mine = (shared * (i + k)).cumsum(0);
        lazy::sync({mine});
        expect_same(mine - 1, (want * (i + k)).cumsum(0) - 1);
        // The lazy device reads a tensor that this thread's stream makes, and
        // gives one back.
        const Tensor eager = (sample({40}).cuda() + k).cumsum(0);
        const Tensor there = eager.to(lazy_device()) + 1;
        Tensor back = there.to(Device("cuda:0")).cumsum(0);
        expect_same(back, ((sample({40}) + k).cumsum(0) + 1).cumsum(0));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  fake().slow(0);
}

}  // namespace
}  // namespace sy::cuda::testing
