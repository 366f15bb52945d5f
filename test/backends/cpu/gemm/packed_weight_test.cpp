#include "backends/cpu/gemm/packed_weight.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "aten/from_blob.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/convolution.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/random.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "c10/dispatch/thread_state.h"
#include "c10/dispatch/trace.h"
#include "c10/memory/allocator.h"
#include "c10/memory/packed_weights.h"
#include "test/aten/tensor_values.h"
#include "test/c10/with_environment.h"

// Weights that come again are kept in the layout of oneDNN.

namespace sy {
namespace {

constexpr int64_t kIn = 768, kOut = 512;

class PackedWeights : public ::testing::Test {
 protected:
  void SetUp() override {
    trim_memory();
    x_ = randn({8, kIn});
    w_ = randn({kOut, kIn});
  }
  // The result of linear without packed weights.
  Tensor plain() const {
    GradMode::set_enabled(true);
    const Tensor y = linear(x_, w_);
    GradMode::set_enabled(false);
    return y;
  }
  void expect_right(const char* when) const {
    EXPECT_EQ(values(linear(x_, w_)), values(plain())) << when;
  }
  static int64_t kept() { return cpu::packed_weight_stats().count; }
  static int64_t hits() { return cpu::packed_weight_stats().hits; }

  NoGradGuard no_grad_;
  Tensor x_, w_;
};

TEST_F(PackedWeights, IsKeptFromTheSecondCallOnAndGivesTheSameBits) {
  const int64_t before = hits();
  expect_right("first");
  EXPECT_EQ(kept(), 0);
  expect_right("packs");
  EXPECT_EQ(kept(), 1);
  EXPECT_GE(cpu::packed_weight_stats().bytes, kIn * kOut * 4);
  EXPECT_EQ(hits(), before);
  expect_right("packed");
  EXPECT_EQ(hits(), before + 1);
  // The most rows that there may be, another number of them, a bias.
  const Tensor bias = randn({kOut});
  for (const int64_t rows : {1, 3, 16, 64}) {
    const Tensor x = randn({rows, kIn});
    const Tensor y = linear(x, w_, bias), z = mm(x, w_.t());
    GradMode::set_enabled(true);
    EXPECT_EQ(values(y), values(linear(x, w_, bias))) << rows;
    EXPECT_EQ(values(z), values(mm(x, w_.t()))) << rows;
    GradMode::set_enabled(false);
  }
}

TEST_F(PackedWeights, IsDroppedWhenAnyAliasIsWritten) {
  const auto warm = [&] {
    for (int i = 0; i < 3; ++i) linear(x_, w_);
    ASSERT_EQ(kept(), 1);
  };
  warm();
  w_.mul_(2);
  expect_right("in place");
  EXPECT_EQ(kept(), 0);
  warm();
  w_.view({-1})[5].fill_(7);
  expect_right("through a view");
  warm();
  w_.detach().t().copy_(randn({kIn, kOut}));
  expect_right("through what is detached");
  warm();
  add_out(w_, w_, w_);
  expect_right("as out=");
  warm();
  w_.resize_({kOut, kIn + 1}).resize_({kOut, kIn}).zero_();
  expect_right("resized");
}

TEST_F(PackedWeights, NothingIsKeptOnceAPointerWasHandedOut) {
  for (const ScalarType t : {kFloat, kBFloat16}) {
    x_ = randn({8, kIn}).to(t);
    w_ = randn({kOut, kIn}).to(t);
    for (int i = 0; i < 3; ++i) linear(x_, w_);
    // bfloat16 is packed only where the machine multiplies it.
    ASSERT_GE(kept(), t == kFloat ? 1 : 0);
    // The pointer is that of a view, and each write changes one element.
    auto* const at = static_cast<uint16_t*>(w_.t().data_ptr());
    for (int i = 0; i < 5; ++i) {
      at[1001 + i] = 0x3F80;
      expect_right("written in part");
    }
    const int64_t before = hits();
    for (int i = 0; i < 3; ++i) linear(x_, w_);
    EXPECT_EQ(hits(), before);
    trim_memory();
  }
}

TEST_F(PackedWeights, APromiseKeepsThemAgainUntilTheNextOne) {
  auto* const at = static_cast<float*>(w_.data_ptr());
  for (float v = 1; v < 4; ++v) {
    at[1001] = v;
    allow_packed_weights(w_);
    for (int i = 0; i < 3; ++i) expect_right("promised");
    EXPECT_EQ(kept(), 1);
  }
  w_.mul_(2);
  expect_right("written by an operator");
  // A promise is of one storage.
  w_ = randn({kOut, kIn});
  w_.data_ptr();
  for (int i = 0; i < 3; ++i) expect_right("another");
  EXPECT_EQ(kept(), 0);
  allow_packed_weights(Tensor());
}

TEST_F(PackedWeights, HoldsNoWeightAlive) {
  const weak_intrusive_ptr<StorageImpl> storage(w_.impl()->storage());
  for (int i = 0; i < 3; ++i) linear(x_, w_);
  EXPECT_EQ(kept(), 1);
  w_ = Tensor();
  EXPECT_FALSE(storage.lock());
  // One of the next calls notices, whichever weights they have.
  for (int i = 0; i < 64; ++i) linear(x_, randn({kOut, kIn}));
  EXPECT_EQ(kept(), 0);
}

TEST_F(PackedWeights, AnotherStorageAtItsAddressIsAnotherWeight) {
  for (int round = 0; round < 20; ++round) {
    w_ = Tensor();
    w_ = full({kOut, kIn}, round, kFloat);
    for (int i = 0; i < 3; ++i) expect_right("new storage");
  }
}

TEST_F(PackedWeights, TakesPartsOfAStorageApart) {
  const Tensor both = randn({2 * kOut, kIn});
  for (int i = 0; i < 3; ++i) {
    for (const int64_t part : {0, 1}) {
      w_ = both.narrow(0, part * kOut, kOut);
      expect_right("a part");
    }
  }
  EXPECT_EQ(kept(), 2);
}

TEST_F(PackedWeights, NothingIsKeptWithGradientsOnOrOfForeignMemory) {
  GradMode::set_enabled(true);
  for (int i = 0; i < 3; ++i) linear(x_, w_);
  EXPECT_EQ(kept(), 0);
  GradMode::set_enabled(false);
  std::vector<float> memory(static_cast<size_t>(kOut * kIn), 1);
  w_ = from_blob(memory.data(), {kOut, kIn});
  for (int i = 0; i < 3; ++i) {
    memory[5] = static_cast<float>(i);
    expect_right("from_blob");
  }
  EXPECT_EQ(kept(), 0);
}

TEST_F(PackedWeights, GivesItsMemoryBack) {
  for (int i = 0; i < 3; ++i) linear(x_, w_);
  const int64_t bytes = cpu::packed_weight_stats().bytes;
  const int64_t before = memory_stats().allocated;
  trim_memory();
  EXPECT_EQ(kept(), 0);
  EXPECT_LE(memory_stats().allocated, before - bytes);
  // It is given back before an allocation fails, too.
  for (int i = 0; i < 3; ++i) linear(x_, w_);
  EXPECT_EQ(kept(), 1);
  const int64_t limit = memory_stats().limit;
  set_memory_limit(memory_stats().allocated + bytes / 2);
  const Tensor more = empty({bytes / 4 - 1024});
  set_memory_limit(limit);
  EXPECT_EQ(kept(), 0);
  expect_right("after");
}

TEST_F(PackedWeights, AtTheLimitAPartIsKeptThatWhatIsOutOfUseGivesWayTo) {
  if (!with_environment("SWITCHYARD_PACKED_LIMIT", "4M")) return;
  const auto many = [&](std::vector<Tensor> weights, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      for (const Tensor& w : weights) {
        w_ = w;
        expect_right("one of many");
      }
    }
  };
  std::vector<Tensor> weights;
  for (int i = 0; i < 5; ++i) weights.push_back(randn({kOut, kIn}));
  many(weights, 3);
  EXPECT_EQ(kept(), 2);
  const int64_t before = hits();
  many(weights, 10);
  EXPECT_EQ(hits(), before + 20);
  EXPECT_LE(cpu::packed_weight_stats().bytes, 4 << 20);
  many({weights[3], weights[4]}, 20);
  const int64_t then = hits();
  many({weights[3], weights[4]}, 1);
  EXPECT_EQ(hits(), then + 2);
  EXPECT_EQ(kept(), 2);
}

TEST_F(PackedWeights, AreNotKeptAtALimitOfNothing) {
  if (!with_environment("SWITCHYARD_PACKED_LIMIT", "0")) return;
  for (int i = 0; i < 3; ++i) expect_right("unpacked");
  EXPECT_EQ(kept(), 0);
}

TEST_F(PackedWeights, OfSeveralThreads) {
  const Tensor want = plain();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const NoGradGuard no_grad;
      for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(linear(x_, w_).equal(want));
        if (i % 16 == 0) trim_memory();
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST_F(PackedWeights, OfConvolutions) {
  const Tensor image = randn({1, 64, 14, 14});
  for (const MemoryFormat format :
       {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
    trim_memory();
    const Tensor x = image.contiguous(format);
    const Tensor w = randn({64, 64, 3, 3}).contiguous(format);
    const auto both = [&](const char* when) {
      const Tensor y = conv2d(x, w);
      const Tensor z = conv_transpose2d(x, w);
      GradMode::set_enabled(true);
      EXPECT_EQ(values(y), values(conv2d(x, w))) << when;
      EXPECT_EQ(values(z), values(conv_transpose2d(x, w))) << when;
      GradMode::set_enabled(false);
    };
    both("first");
    both("packs");
    EXPECT_GE(kept(), 1);
    both("packed");
    w.select(0, 3).add_(1);
    both("written");
  }
}

TEST_F(PackedWeights, IsToldOf) {
  const auto told = [&] {
    ::testing::internal::CaptureStderr();
    {
      const Trace trace("dispatch");
      linear(x_, w_);
    }
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(told().find("by oneDNN; not oneDNN with a packed weight: the first "
                        "call with it\n"),
            std::string::npos);
  EXPECT_NE(told().find("by oneDNN with a packed weight\n"), std::string::npos);
  w_.zero_();
  EXPECT_NE(told().find("the first call since it was written\n"),
            std::string::npos);
}

}  // namespace
}  // namespace sy
