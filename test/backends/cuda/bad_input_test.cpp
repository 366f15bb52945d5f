#include <sy/cuda.h>
#include <sy/sy.h>

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/compile/images.h"
#include "backends/cuda/compile/jit.h"
#include "backends/cuda/compile/nvrtc.h"
#include "backends/cuda/compile/own_source.h"
#include "backends/cuda/compile/pack.h"
#include "test/backends/cuda/runtime_fixture.h"
#include "test/c10/expect_error.h"
#include "test/c10/with_environment.h"

// Mistakes of users, and what machines lack: each gives a clear error, and
// nothing is lost. Beside it: door_test and driver_test (no driver),
// compile_test and pack_test (compilers, packs, flipped bits), cache_test (full
// disks, folders of others), alignment_test (misaligned memory), errors_test
// (faults, fork), unload_test.

namespace sy::cuda {
namespace {

using testing::cuda_device;

// ---- drivers and compilers

TEST(BadDriver, IsTooOld) {
  if (!with_environment("FAKE_CUDA_VERSION", "10020")) return;
  EXPECT_EQ(cuda::device_count(), 0);
  EXPECT_NE(cuda::why_unavailable().find(
                "expected a driver for CUDA 11.0 or newer, got 10.2"),
            std::string::npos)
      << cuda::why_unavailable();
  EXPECT_THROW(ones({2}).cuda(), Error);
  EXPECT_EQ((ones({2}) + 1).sum().item<float>(), 4);
}

TEST(BadDriver, HasNoDevice) {
  if (!with_environment("FAKE_CUDA_DEVICES", "0")) return;
  EXPECT_EQ(cuda::device_count(), 0);
  EXPECT_NE(cuda::why_unavailable().find("CUDA_ERROR_NO_DEVICE"),
            std::string::npos)
      << cuda::why_unavailable();
  EXPECT_THROW(ones({2}).cuda(), Error);
}

// A library that is none, or one from before the functions that are needed. The
// elements on the device are still there.
TEST(BadCompiler, LacksAFunction) {
  setenv("SWITCHYARD_CUDA_CACHE", "", 1);
  const char* const other = std::getenv("SWITCHYARD_CUDA_DRIVER");
  if (!with_environment("SWITCHYARD_NVRTC", other)) return;
  const Tensor x = ones({3}).cuda();
  SY_EXPECT_ERROR(x.sort(), Error, "has no function nvrtcVersion");
  SY_EXPECT_ERROR(x + x, Error, "has no function nvrtcVersion");
  EXPECT_TRUE(x.cpu().equal(ones({3})));
}

// ---- packs: what is no good is told, and the kernel is compiled

class BadPack : public ::testing::Test {
 protected:
  static constexpr const char* kSource = "void seven(int* x) { *x = 7; }";

  static std::string path() { return ::testing::TempDir() + "/bad.pack"; }

  // Writes a pack with the kernel, in the process that starts the other.
  static void write(Target target, std::string bytes = "") {
    if (std::getenv("SWITCHYARD_CUDA_PACK") != nullptr) return;
    setenv("SWITCHYARD_CUDA_CACHE", "", 1);
    const OwnSource source = read_own_source(kSource, "seven");
    const Unit unit = printed_unit("seven", source.kernels);
    PackItem item{{key_of(unit)}, {target}, std::move(bytes)};
    std::string log;
    if (item.bytes.empty()) {
      ASSERT_TRUE(Nvrtc::get(nullptr)->compile(unit, {90}, &item.bytes, &log))
          << log;
    }
    write_pack(path(), {item});
  }
  static bool in_process() {
    return with_environment("SWITCHYARD_CUDA_PACK", path().c_str());
  }
  // How many came from the pack, how many were compiled, and what was said.
  static void expect(int64_t baked, int64_t units, const std::string& said) {
    ::testing::internal::CaptureStderr();
    const Kernel k = compile(kSource, "seven");
    const std::string heard = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(compile_counters().baked, baked);
    EXPECT_EQ(compile_counters().units, units);
    EXPECT_NE(heard.find(said), std::string::npos) << heard;
    EXPECT_EQ(heard.empty(), said.empty()) << heard;
    const Tensor x = zeros({1}, kInt).cuda();
    k.launch(1, 1, {x});
    EXPECT_EQ(x.item<int>(), 7);
  }
};

TEST_F(BadPack, NotAtAll) {
  write({90});
  if (in_process()) expect(1, 0, "");
}

TEST_F(BadPack, ForAnotherDevice) {
  write({120});
  if (in_process()) expect(0, 1, "bad.pack");
}

TEST_F(BadPack, OfWhatTheDriverRefuses) {
  write({90}, std::string(1000, 'x'));
  if (in_process()) expect(0, 1, "");
}

TEST_F(BadPack, WithAFlippedBit) {
  write({90});
  if (std::getenv("SWITCHYARD_CUDA_PACK") == nullptr) {
    std::fstream f(path(), std::ios::binary | std::ios::in | std::ios::out);
    f.seekg(0, std::ios::end);
    const std::streamoff at = static_cast<std::streamoff>(f.tellg()) - 600;
    f.seekg(at);
    const int c = f.get();
    f.seekp(at);
    f.put(static_cast<char>(c ^ 4));
  }
  if (in_process()) expect(0, 1, "is damaged");
}

TEST_F(BadPack, CutOff) {
  write({90});
  if (std::getenv("SWITCHYARD_CUDA_PACK") == nullptr) {
    ASSERT_EQ(truncate(path().c_str(), 100), 0);
  }
  if (in_process()) expect(0, 1, "bad.pack");
}

// ---- devices and streams

TEST(BadDevices, DoNotMixInOneCall) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  const auto on = [](const Tensor& t, int i) { return t.to(cuda_device(i)); };
  const Tensor square = ones({4, 4});
  const Tensor x = on(square, 0), y = on(square, 1);
  const Tensor i = on(tensor({1, 0}), 0), j = on(tensor({1, 0}), 1);
  const Tensor wide = on(zeros({4, 4}, kLong), 1);
  const Tensor mask = on(ones({4, 4}, kBool), 1);
  const Tensor row = on(ones({4}), 1);
  const Tensor image = on(ones({1, 1, 5, 5}), 0);
  const Tensor filter = on(ones({1, 1, 3, 3}), 1);
  Tensor out = on(zeros({4, 4}), 1), z = on(zeros({4, 4}), 0);
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"add", [&] { add(x, y); }},
      {"add_", [&] { z.add_(y); }},
      {"add.out", [&] { add_out(out, x, x); }},
      {"where", [&] { where(mask, x, x); }},
      {"masked_fill", [&] { x.masked_fill(mask, 1); }},
      {"masked_select", [&] { x.masked_select(mask); }},
      {"sum.out", [&] { sum_out(out, x, {1}); }},
      {"mm", [&] { mm(x, y); }},
      {"addmm", [&] { addmm(row, x, x); }},
      {"linear", [&] { linear(x, y); }},
      {"bmm", [&] { bmm(x.unsqueeze(0), y.unsqueeze(0)); }},
      {"cat",
       [&] {
         cat({x, y});
       }},
      {"stack",
       [&] {
         stack({x, y});
       }},
      {"index_select", [&] { index_select(x, 0, j); }},
      {"gather", [&] { gather(x, 0, wide); }},
      {"scatter_", [&] { z.scatter_(0, wide, x); }},
      {"scatter_add_", [&] { z.scatter_add_(0, on(wide, 0), y); }},
      {"index_add_",
       [&] {
         z.index_add_(0, i, on(ones({2, 4}), 1));
       }},
      {"index_copy_",
       [&] {
         z.index_copy_(0, j, on(ones({2, 4}), 0));
       }},
      {"take", [&] { take(x, j); }},
      {"put_", [&] { z.put_(i, on(ones({2}), 1)); }},
      {"embedding", [&] { embedding(x, j); }},
      {"conv2d", [&] { conv2d(image, filter); }},
      {"layer_norm", [&] { layer_norm(x, {4}, row); }},
      {"searchsorted", [&] { searchsorted(row, x); }},
      {"lerp", [&] { lerp(x, x, y); }},
  };
  for (const auto& [name, call] : calls) {
    try {
      call();
      ADD_FAILURE() << name << " took tensors of two devices";
    } catch (const Error& e) {
      const bool named = e.message().find("device") != std::string::npos ||
                         e.message().find("on cuda:1") != std::string::npos;
      EXPECT_TRUE(named) << name << ": " << e.message();
    }
  }
  // No kernel has run astray.
  cuda::synchronize(cuda_device(0));
  cuda::synchronize(cuda_device(1));
  EXPECT_TRUE(x.cpu().equal(square));
  EXPECT_TRUE(y.cpu().equal(square));
  EXPECT_TRUE(z.cpu().equal(zeros({4, 4})));
  EXPECT_TRUE(out.cpu().equal(zeros({4, 4})));
  // A copy is how they meet.
  z.copy_(y);
  EXPECT_TRUE((x + z).cpu().equal(square * 2));
}

// The launch looks at devices, whatever the operator has checked before.
TEST(BadDevices, OfAnOperandAreNoticedByTheLaunch) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  const Tensor x = testing::made(4, 0), y = testing::made(4, 1);
  testing::NothingParams p{};
  const testing::AsOperator op("aten::gather");
  SY_EXPECT_ERROR(
      launch(0, testing::kernel_of_test(0, "nothing"), {{1}, {1}}, p, {&x, &y}),
      ValueError,
      "[aten::gather] expected all tensors on one device, got one "
      "on cuda:1 in a call on cuda:0");
}

TEST(BadStreams, OfAnotherDeviceDoNotRunAKernel) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  const Tensor x = ones({4}).to(cuda_device(0));
  const Stream s = Stream::make(cuda_device(1));
  const StreamGuard guard(s);
  // The work goes to a stream of its own device.
  EXPECT_TRUE((x + x).cpu().equal(ones({4}) * 2));
  EXPECT_EQ(testing::last_ticket(s.id(), 1), 0u);
  EXPECT_EQ(cuda::native_stream(cuda_device(1)), s.native_handle());
  SY_EXPECT_ERROR(Stream::from_native(cuda_device(0), s.native_handle()),
                  ValueError,
                  "expected a stream of cuda:0, got one of another");
}

// ---- sizes

TEST(BadSizes, OfNothingAndOfOneNumber) {
  for (const Tensor& t :
       {zeros({0}), zeros({3, 0, 2}), ones({}), ones({1, 1})}) {
    const Tensor x = t.cuda();
    EXPECT_TRUE((x + 1).cpu().equal(t + 1));
    EXPECT_TRUE(x.sum().cpu().equal(t.sum()));
    EXPECT_TRUE(x.clone().cpu().equal(t));
    EXPECT_TRUE(std::get<0>(x.flatten().sort()).cpu().equal(t.flatten()));
    EXPECT_TRUE(x.flatten().cumsum(0).cpu().equal(t.flatten().cumsum(0)));
    EXPECT_TRUE(x.flatten()
                    .index_select(0, zeros({0}, kLong).cuda())
                    .cpu()
                    .equal(zeros({0})));
  }
  SY_EXPECT_ERROR(zeros({0}).cuda().argmax(), ValueError, "argmax");
  cuda::synchronize();
}

// Places beyond 2^31 of memory that is there but, untouched, takes none.
class FarAway : public ::testing::Test {
 protected:
  static constexpr int64_t kN = (int64_t{1} << 31) + 1;
  static bool in_process() {
    setenv("FAKE_CUDA_JUNK", "0", 1);
    return with_environment("FAKE_CUDA_MEMORY", "6G");
  }
  static Tensor bytes() {
    return empty({kN}, TensorOptions(kChar).device(cuda_device(0)));
  }
  static Tensor of(std::vector<int64_t> values) {
    return tensor(values).to(kChar);
  }
};

TEST_F(FarAway, PointwiseAndCopies) {
  if (!in_process()) return;
  for (const JitMode mode : {JitMode::kOff, JitMode::kWait}) {
    set_jit_mode(mode);
    const Tensor x = bytes();
    Tensor last = x.slice(0, kN - 5), first = x.slice(0, 0, 5);
    last.fill_(3);
    first.fill_(1);
    last.add_(first);
    EXPECT_TRUE(last.cpu().equal(of({4, 4, 4, 4, 4})));
    EXPECT_TRUE(first.cpu().equal(of({1, 1, 1, 1, 1})));
    // Strides of a GiB, and 2049 elements that are a MiB apart.
    Tensor columns =
        x.slice(0, 0, kN - 1).view({2, int64_t{1} << 30}).slice(1, 0, 3);
    columns.fill_(2);
    columns.add_(columns.clone().t().contiguous().t());
    EXPECT_TRUE(columns.cpu().equal(ones({2, 3}, kChar) * 4));
    Tensor apart = x.slice(0, 0, kN, 1 << 20);
    EXPECT_EQ(apart.numel(), 2049);
    apart.fill_(2);
    apart.mul_(apart);
    EXPECT_TRUE(apart.cpu().equal(ones({2049}, kChar) * 4));
    EXPECT_EQ(x.slice(0, kN - 1).cpu().item<int64_t>(), 4);
  }
}

TEST_F(FarAway, ReductionsScansAndSorts) {
  if (!in_process()) return;
  set_jit_mode(JitMode::kOff);
  const Tensor x = bytes();
  const Tensor apart = x.slice(0, 0, kN, 1 << 24);  // 129 elements
  apart.copy_(arange(129, kChar).remainder(100));
  const Tensor here = apart.cpu();
  EXPECT_TRUE(apart.sum().cpu().equal(here.sum()));
  EXPECT_TRUE(apart.amax().cpu().equal(here.amax()));
  EXPECT_TRUE(apart.argmax().cpu().equal(here.argmax()));
  EXPECT_TRUE(apart.cumsum(0).cpu().equal(here.cumsum(0)));
  EXPECT_TRUE(std::get<0>(apart.sort()).cpu().equal(std::get<0>(here.sort())));
  EXPECT_TRUE(apart.nonzero().cpu().equal(here.nonzero()));
  EXPECT_TRUE(apart.flip({0}).cpu().equal(here.flip({0})));
}

TEST_F(FarAway, Indexing) {
  if (!in_process()) return;
  set_jit_mode(JitMode::kOff);
  const Tensor x = bytes();
  x.slice(0, 0, 4).fill_(1);
  x.slice(0, kN - 4).fill_(5);
  const Tensor ends = tensor({int64_t{0}, kN - 1}).cuda();
  EXPECT_TRUE(x.index_select(0, ends).cpu().equal(of({1, 5})));
  EXPECT_TRUE(x.take(ends).cpu().equal(of({1, 5})));
  EXPECT_TRUE(x.gather(0, ends).cpu().equal(of({1, 5})));
  const Tensor late = tensor({kN - 2, kN - 3}).cuda();
  x.index_fill_(0, late, 7);
  EXPECT_TRUE(x.slice(0, kN - 4).cpu().equal(of({5, 7, 7, 5})));
  x.put_(late, of({8, 9}).cuda());
  EXPECT_TRUE(x.slice(0, kN - 4).cpu().equal(of({5, 9, 8, 5})));
  SY_EXPECT_ERROR(
      (x.take(tensor({kN}).cuda()), cuda::synchronize()), IndexError,
      "expected an index into a size of 2147483649, got 2147483649");
}

TEST_F(FarAway, ManyElements) {
  if (std::getenv("SY_ALL_KERNELS") == nullptr) {
    GTEST_SKIP() << "more than 2^31 elements: ./sy test --full";
  }
  if (!in_process()) return;
  set_jit_mode(JitMode::kWait);
  const Tensor one = ones({1}, kChar).cuda().expand({kN});
  EXPECT_EQ(one.sum().item<int64_t>(), kN);
  EXPECT_EQ(one.amax().item<int64_t>(), 1);
  Tensor x = bytes();
  x.fill_(1);
  x.add_(one);
  x.slice(0, kN - 1).fill_(3);
  EXPECT_EQ(x.sum().item<int64_t>(), 2 * kN + 1);
  EXPECT_EQ(x.argmax().item<int64_t>(), kN - 1);
}

// Operators that need more memory than there is say so, and the device goes on.
TEST_F(FarAway, ResultsThatDoNotFit) {
  if (!in_process()) return;
  set_jit_mode(JitMode::kOff);
  const Tensor x = ones({1}, kChar).cuda().expand({kN});
  EXPECT_EQ(x.numel(), kN);
  SY_EXPECT_ERROR(x.to(kDouble), OutOfMemoryError, "(16.0 GiB)");
  SY_EXPECT_ERROR(x.add(1.5), OutOfMemoryError, "out of memory");
  EXPECT_EQ(x.slice(0, kN - 1).cpu().item<int64_t>(), 1);
}

}  // namespace
}  // namespace sy::cuda
