#include <sy/compile.h>

#include <functional>
#include <string>
#include <vector>

#include "test/backends/lazy/on_lazy.h"

// Results lie in memory on Meta, on the lazy device and compiled as they do on
// the CPU, and `as_strided` reads the same elements. Varies the operator and
// how its input lies (row-major, channels last, transposed); never the dtype.

namespace sy {
namespace {

using Call = std::function<Tensor(const Tensor&)>;
struct Named {
  std::string name;
  Call call;
};

// Calls on images with two spatial dims.
const std::vector<Named>& calls() {
  static const std::vector<Named> all = {
      {"avg_pool2d",
       [](const Tensor& x) {
         return avg_pool2d(x, {2, 2});
       }},
      {"max_pool2d",
       [](const Tensor& x) {
         return max_pool2d(x, {2, 2});
       }},
      {"max_pool2d_with_indices",
       [](const Tensor& x) {
         return std::get<1>(max_pool2d_with_indices(x, {2, 2}));
       }},
      {"adaptive_avg_pool2d",
       [](const Tensor& x) {
         return adaptive_avg_pool2d(x, {3, 2});
       }},
      {"adaptive_max_pool2d",
       [](const Tensor& x) {
         return std::get<0>(adaptive_max_pool2d(x, {3, 2}));
       }},
      {"reflection_pad2d",
       [](const Tensor& x) {
         return reflection_pad2d(x, {1, 2, 0, 1});
       }},
      {"replication_pad2d",
       [](const Tensor& x) {
         return replication_pad2d(x, {1, 2, 0, 1});
       }},
      {"upsample_nearest2d",
       [](const Tensor& x) {
         return upsample_nearest2d(x, {8, 6});
       }},
      {"upsample_bilinear2d",
       [](const Tensor& x) {
         return upsample_bilinear2d(x, {8, 6}, false);
       }},
      {"upsample_bicubic2d",
       [](const Tensor& x) {
         return upsample_bicubic2d(x, {8, 6}, true);
       }},
      {"_upsample_bilinear2d_aa",
       [](const Tensor& x) {
         return _upsample_bilinear2d_aa(x, {3, 3}, false);
       }},
      {"native_batch_norm",
       [](const Tensor& x) {
         return std::get<0>(native_batch_norm(x, std::nullopt, std::nullopt,
                                              std::nullopt, std::nullopt, true,
                                              0.1, 1e-5));
       }},
      {"scaled_dot_product_attention",
       [](const Tensor& x) { return scaled_dot_product_attention(x, x, x); }},
  };
  return all;
}

// Calls on images with three spatial dims.
const std::vector<Named>& deep_calls() {
  static const std::vector<Named> all = {
      {"avg_pool3d",
       [](const Tensor& x) {
         return avg_pool3d(x, {2, 2, 2});
       }},
      {"max_pool3d",
       [](const Tensor& x) {
         return max_pool3d(x, {2, 2, 2});
       }},
      {"adaptive_avg_pool3d",
       [](const Tensor& x) {
         return adaptive_avg_pool3d(x, {2, 3, 2});
       }},
      {"reflection_pad3d",
       [](const Tensor& x) {
         return reflection_pad3d(x, {1, 0, 0, 1, 1, 1});
       }},
      {"replication_pad3d",
       [](const Tensor& x) {
         return replication_pad3d(x, {1, 0, 0, 1, 1, 1});
       }},
      {"upsample_nearest3d",
       [](const Tensor& x) {
         return upsample_nearest3d(x, {5, 6, 7});
       }},
      {"upsample_trilinear3d",
       [](const Tensor& x) {
         return upsample_trilinear3d(x, {5, 6, 7}, false);
       }},
  };
  return all;
}

void expect_as_on_cpu(const Named& f, const Tensor& x) {
  SCOPED_TRACE(str("{} of strides {}", f.name, x.strides()));
  const Tensor want = f.call(x);
  EXPECT_EQ(f.call(x.to("meta")).strides(), want.strides()) << "on meta";
  const auto same = [&](const Tensor& got) {
    ASSERT_EQ(got.sizes(), want.sizes());
    EXPECT_EQ(got.strides(), want.strides());
    const int64_t n = want.numel();
    EXPECT_TRUE(allclose(got.as_strided({n}, {1}).cpu(),
                         want.as_strided({n}, {1}), 1e-4, 1e-5));
  };
  {
    SCOPED_TRACE("on lazy");
    same(f.call(x.to(lazy_device())));
  }
  auto compiled = compile(f.call);
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(str("compiled, call {}", i));
    same(compiled(x));
  }
}

TEST(LazyLayouts, AreThoseOfTheCpu) {
  manual_seed(3);
  const Tensor x = randn({2, 3, 6, 5});
  for (const Named& f : calls()) {
    expect_as_on_cpu(f, x);
    expect_as_on_cpu(f, x.contiguous(MemoryFormat::ChannelsLast));
    expect_as_on_cpu(f, x.transpose(2, 3).contiguous().transpose(2, 3));
  }
  const Tensor deep = randn({2, 3, 4, 4, 5});
  for (const Named& f : deep_calls()) {
    expect_as_on_cpu(f, deep);
    expect_as_on_cpu(f, deep.contiguous(MemoryFormat::ChannelsLast3d));
  }
}

// The gradients too: backward passes are operators of their own.
TEST(LazyLayouts, OfGradientsAreThoseOfTheCpu) {
  manual_seed(4);
  const Tensor x = randn({2, 3, 6, 5}).contiguous(MemoryFormat::ChannelsLast);
  for (const Named& f : calls()) {
    if (f.name == "max_pool2d_with_indices") continue;
    SCOPED_TRACE(f.name);
    const auto gradient = [&](const Tensor& of) {
      const Tensor leaf = of.detach().clone().requires_grad_();
      f.call(leaf).square().sum().backward();
      return leaf.grad();
    };
    const Tensor want = gradient(x), got = gradient(x.to(lazy_device()));
    EXPECT_EQ(got.strides(), want.strides());
    EXPECT_TRUE(allclose(got.cpu(), want, 1e-3, 1e-4));
  }
}

}  // namespace
}  // namespace sy
