#include <cstring>

#include "backends/cuda/blas/product.h"
#include "backends/cuda/dnn/problem.h"
#include "test/backends/cuda/convolution_cases.h"

// NVIDIA's own cuDNN, where there is one, makes plans for an H100 that is
// described to it: it takes all descriptors as they are, and has an engine that
// we want. Nothing runs. Every case of convolution_cases.h, and a layer of
// ResNet-50, with each dtype, each result, and both orders of channels.

namespace sy::cuda::testing {
namespace {

using dnn::Order;

constexpr const char* kH100 = R"({
  "deviceVer": 900, "multiProcessorCount": 132, "warpSize": 32,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
  "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048,
  "regsPerBlock": 65536, "totalGlobalMem": 85017755648,
  "smClockRateKHz": 1980000, "l2CacheSize": 52428800,
  "maxBlockSize": [1024, 1024, 64], "memClockRateKHz": 2619000,
  "maxGridSize": [2147483647, 65535, 65535], "supportCoopLaunch": 1,
  "pciDeviceId": 0, "isTccDriver": 0, "cudaDeviceId": 0, "driverVer": 13000,
  "deviceName": "NVIDIA H100 80GB HBM3"})";

class DnnPlans : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    const driver::Library file = driver::open_library({"libcudnn.so.9"}, &why);
    if (!file) GTEST_SKIP() << why;
    ASSERT_TRUE(dnn::find_functions(file, &api_, &why)) << why;
    // Descriptions of devices are read since 9.8.
    if (api_.version() < 90800) GTEST_SKIP() << "it is too old";
    device_.emplace(api_, dnn::kDeviceProperties);
    device_->set(dnn::kDeviceJson, dnn::kTypeChar,
                 static_cast<int64_t>(std::strlen(kH100)), kH100);
    device_->finalize();
    session_.device = device_->get();
  }
  void TearDown() override { blas::set_allow_tf32(false); }

  dnn::Plan plan(const Convolution& c, ConvolutionPart made, Order order) {
    return dnn::make_plan({&api_, &session_},
                          dnn::problem_of(c, made, dnn::dense_views(c, order)));
  }

  dnn::Api api_ = {};
  dnn::Session session_;
  std::optional<dnn::Object> device_;
};

Convolution convolution_of(const Case& c, ScalarType dtype) {
  const Tensor input = empty(c.input, TensorOptions(dtype));
  const Tensor weight = empty(c.weight, TensorOptions(dtype));
  const ConvolutionArgs args{c.stride,     c.padding,        c.dilation,
                             c.transposed, c.output_padding, c.groups};
  const Tensor output =
      empty(convolution_sizes("test", input, weight, Tensor(), args),
            TensorOptions(dtype));
  const Tensor& x = c.transposed ? output : input;
  const Tensor& y = c.transposed ? input : output;
  return {convolution_geometry(x.sizes(), y.sizes(), weight.sizes(), args), x,
          weight, y, Tensor()};
}

constexpr ConvolutionPart kResults[] = {ConvolutionPart::kForward,
                                        ConvolutionPart::kByInput,
                                        ConvolutionPart::kByWeight};
constexpr Order kOrders[] = {Order::kFirst, Order::kLast};

TEST_F(DnnPlans, there_is_one_for_every_case) {
  for (const ScalarType dtype : floating_dtypes()) {
    for (const Case& c : cases()) {
      const Convolution each = convolution_of(c, dtype);
      if (each.x.numel() == 0) continue;
      for (const ConvolutionPart made : kResults) {
        for (const Order order : kOrders) {
          const dnn::Plan p = plan(each, made, order);
          EXPECT_TRUE(p.works) << c.name << " " << p.text;
        }
      }
    }
  }
}

const Case kLayer = {"", {32, 64, 56, 56}, {64, 64, 3, 3}, {1}, {1}, {1}};

TEST_F(DnnPlans, tensor_cores_are_taken_where_they_may_be) {
  const auto takes = [&](ScalarType dtype) {
    const dnn::Plan p = plan(convolution_of(kLayer, dtype),
                             ConvolutionPart::kForward, Order::kLast);
    EXPECT_TRUE(p.works) << p.text;
    // The text names what was refused before behind the number.
    const std::string engine = p.text.substr(0, p.text.find(", number"));
    return engine.find(" with note 0") != std::string::npos;
  };
  EXPECT_TRUE(takes(kBFloat16));
  EXPECT_TRUE(takes(kHalf));
  EXPECT_FALSE(takes(kFloat));
  blas::set_allow_tf32(true);
  EXPECT_TRUE(takes(kFloat));
}

TEST_F(DnnPlans, a_pack_of_pointers_is_whole) {
  alignas(16) static char memory[64];
  EXPECT_NO_THROW(
      dnn::pack_of(api_, {memory, memory + 16, memory + 32, /*room=*/nullptr}));
}

TEST_F(DnnPlans, a_refusal_names_its_step) {
  Convolution c = convolution_of(kLayer, kFloat);
  c.y = empty({32, 64, 99, 56});
  const dnn::Plan p = plan(c, ConvolutionPart::kForward, Order::kFirst);
  EXPECT_FALSE(p.works);
  EXPECT_NE(p.text.find("to finalize the operation: CUDNN_STATUS_BAD_PARAM"),
            std::string::npos)
      << p.text;
}

}  // namespace
}  // namespace sy::cuda::testing
