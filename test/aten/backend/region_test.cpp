#include "aten/backend/region.h"

#include <cmath>

#include <gtest/gtest.h>

#include "aten/backend/node.h"
#include "aten/backend/region_builder.h"
#include "aten/ops/factory.h"
#include "aten/ops/view.h"
#include "c10/device/backend_service.h"
#include "c10/plugin/library.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"
#include "test/conformance/host_device.h"

namespace sy {
namespace {

const NodeDesc& node_of(const char* name) {
  return *node_desc(Dispatcher::singleton().find(name).value().entry());
}

// exp(x) * scale, summed along rows.
struct Sample {
  Tensor x = ones({4, 8}), scale = ones({8});
  RegionBuilder b{{4, 8}};
  int exp = 0, product = 0, sum = 0;

  explicit Sample(double times = 1, const char* op = "aten::exp") {
    const int vx = b.input(x), vs = b.input(scale);
    const TensorBase* one[] = {&x};
    exp = b.pointwise(*node_of(op).pointwise, {one}, vx);
    const TensorBase* two[] = {&x, &scale};
    const Scalar alpha(times);
    product = b.pointwise(*node_of("aten::add.Tensor").pointwise, {two, &alpha},
                          {exp, vs});
    const int64_t dim = 1;
    sum = b.reduce(*node_of("aten::sum.dim_IntList").reduce,
                   {&x, IntArrayRef(dim), true}, product, 2);
    b.output(sum, kFloat, {1, 0});
  }
};

TEST(Region, IsComparedAndHashedByItsStructure) {
  Sample a(2), b(3), c(2, "aten::tanh");
  // Numbers are no part of it.
  EXPECT_TRUE(a.b.region() == b.b.region());
  EXPECT_EQ(hash_of(a.b.region()), hash_of(b.b.region()));
  EXPECT_FALSE(a.b.region() == c.b.region());
  EXPECT_NE(hash_of(a.b.region()), hash_of(c.b.region()));
  EXPECT_EQ(a.b.uniforms().size(), 1u);
  EXPECT_EQ(a.b.region().uniforms(), 1);
  b.b.output(b.exp, kFloat, {8, 1});
  EXPECT_FALSE(a.b.region() == b.b.region());
  a.b.output(a.exp, kFloat, {1, 4});
  EXPECT_FALSE(a.b.region() == b.b.region());
}

TEST(Region, CopiesOwnTheirMemory) {
  intrusive_ptr<OwnedRegion> copy;
  size_t hash;
  std::string text;
  {
    Sample s;
    copy = OwnedRegion::copy(s.b.region());
    EXPECT_TRUE(copy->region() == s.b.region());
    text = region_text(s.b.region());
    hash = hash_of(s.b.region());
  }
  EXPECT_EQ(copy->hash(), hash);
  EXPECT_EQ(hash_of(copy->region()), hash);
  EXPECT_EQ(region_text(copy->region()), text);
}

TEST(Region, IsListedForPeople) {
  Sample s;
  EXPECT_EQ(region_text(s.b.region()),
            "region 4 x 8\n"
            "  v0 = input float32 [8, 1]\n"
            "  v1 = input float32 [0, 1]\n"
            "  v2 = exp(v0) in float32 -> float32\n"
            "      do: t0 = exp(i0); t0\n"
            "  v3 = add.Tensor(v2, v1) in float32 -> float32\n"
            "      do: t0 = add(i0, i1); t0\n"
            "  v4 = sum.dim_IntList(v3) over dims 1 in float32 -> float32\n"
            "      map: t0 = copy(i0); t0\n"
            "      combine: t0 = add(i0, i1); t0\n"
            "  output v4 float32 [1, 0]\n");
}

TEST(Region, ValuesVaryOverDims) {
  Sample s;
  const RegionValues v(s.b.region());
  EXPECT_EQ(v.size(), 5);
  EXPECT_EQ(v.dims(0), 3u);
  EXPECT_EQ(v.dims(1), 2u);
  EXPECT_EQ(v.dims(3), 3u);
  EXPECT_EQ(v.dims(4), 1u);
  EXPECT_EQ(v.node(1), -1);
  EXPECT_EQ(v.node(4), 2);
}

TEST(Region, WrongOnesAreNamed) {
  Sample s;
  const Region good = s.b.region();
  EXPECT_NO_THROW(check_region(good));
  const auto with = [&](const auto& change) {
    std::vector<RegionNode> nodes(good.nodes.begin(), good.nodes.end());
    change(nodes);
    Region r = good;
    r.nodes = nodes;
    check_region(r);
  };
  const uint16_t later[] = {4};
  SY_EXPECT_ERROR(with([&](auto& n) { n[0].inputs = later; }), ValueError,
                  "node 0 (exp): expected inputs that were computed before, "
                  "values below 2, got 4");
  SY_EXPECT_ERROR(with([&](auto& n) { n[0].compute = kLong; }), TypeError,
                  "node 0 (exp): program: expected to compute in a floating "
                  "dtype");
  SY_EXPECT_ERROR(with([&](auto& n) { n[1].inputs = n[0].inputs; }), ValueError,
                  "expected 2 inputs, got 1");
  SY_EXPECT_ERROR(with([&](auto& n) { n[2].reduced = 4; }), ValueError,
                  "expected reduced dims below 2");
  SY_EXPECT_ERROR(with([&](auto& n) { n[2].combine = nullptr; }), ValueError,
                  "a program that combines");
  program::Step wild = good.nodes[0].body.steps[0];
  wild.a = 200;
  SY_EXPECT_ERROR(with([&](auto& n) { n[0].body.steps = &wild; }), ValueError,
                  "registers that are not there");
  Region r = good;
  r.outputs = {};
  SY_EXPECT_ERROR(check_region(r), ValueError, "expected an output");
  RegionOutput out = good.outputs[0];
  out.value = 3;
  r.outputs = out;
  SY_EXPECT_ERROR(check_region(r), ValueError,
                  "output 0: expected a stride of dim 1, over which value 3 "
                  "varies, got 0");
  out = good.outputs[0];
  out.donor = 0;
  r.outputs = out;
  SY_EXPECT_ERROR(check_region(r), ValueError,
                  "its donor, to have its strides");
}

TEST(Region, OperandsOfARunAreChecked) {
  Sample s(2);
  const RegionHandle h = prepare_region(kCPU, s.b.region());
  const Tensor out = zeros({4, 1});
  const auto run = [&](const Tensor& x, const Tensor& scale, const Tensor& to) {
    run_region(h, {4, 8}, {x, scale}, to, s.b.uniforms());
  };
  run(s.x, s.scale, out);
  EXPECT_FLOAT_EQ(values(out)[0], 8 * (std::exp(1.f) + 2));
  SY_EXPECT_ERROR(run(s.x, s.scale, Tensor()), ValueError, "undefined");
  SY_EXPECT_ERROR(run(s.x, ones({8}, kDouble), out), TypeError,
                  "expected float32, got float64");
  SY_EXPECT_ERROR(run(s.x, ones({7}), out), ValueError,
                  "expected sizes that broadcast to [4, 8], got [7]");
  SY_EXPECT_ERROR(run(ones({8, 4}).t(), s.scale, out), ValueError,
                  "input 0: expected a stride of 8 in dim 0, got 1");
  SY_EXPECT_ERROR(run(s.x, s.scale, zeros({4, 8})), ValueError,
                  "expected one element along dim 1");
  SY_EXPECT_ERROR(run(s.x, s.scale, s.x.select(1, 0).unsqueeze(1)), ValueError,
                  "got 8");
  SY_EXPECT_ERROR(run(s.x, s.scale, s.x.flatten().narrow(0, 3, 4).unsqueeze(1)),
                  ValueError, "apart from that of input 0");
  SY_EXPECT_ERROR(run_region(h, {4, 8}, {s.x, s.scale}, out), ValueError,
                  "expected 1 numbers, got 0");
  SY_EXPECT_ERROR(run_region(h, {4, 9}, {s.x, s.scale}, out, s.b.uniforms()),
                  ValueError, "expected");
  SY_EXPECT_ERROR(run_region(RegionHandle(), {}, {}, {}), ValueError,
                  "empty handle");
}

// ---- engines of backends ----

class CountingEngine final : public RegionEngine {
 public:
  class Made final : public PreparedRegion {
   public:
    explicit Made(const Region& r) : PreparedRegion(r) {}
  };
  bool supports(const Region& r, RegionReason* why) const override {
    if (r.nodes.size() <= 3) return true;
    why->say("%zu nodes, more than 3", r.nodes.size());
    return false;
  }
  intrusive_ptr<PreparedRegion> prepare(const Region& r) override {
    return make_intrusive<Made>(r);
  }
  void run(const PreparedRegion&, const RegionCall&) override { ++runs; }
  int runs = 0;
};

struct Devices : HostDevice {};

TEST(Region, EnginesAreServicesOfBackends) {
  static Devices device;
  static CountingEngine engine;
  RegistrationHandle backend =
      register_library(LibraryKind::Backend, "_", "Regional", [](Library& m) {
        m.device("regional", &device);
        m.service(BackendService::kRegions, &engine);
      });
  const DeviceType type = Device("regional").type();
  EXPECT_EQ(region_engine(type), &engine);
  SY_EXPECT_ERROR(
      register_library(
          LibraryKind::Impl, "_", "Regional",
          [](Library& m) { m.service(BackendService::kRegions, &engine); }),
      RegistrationError, "has one of that kind already");
  Sample s;
  RegionHandle h = prepare_region(type, s.b.region());
  const RegionHandle same = h;
  EXPECT_TRUE(h.region() == s.b.region());
  // Held by those who have a region of it.
  SY_EXPECT_ERROR(backend.reset(), Error, "2 objects");
  EXPECT_EQ(region_engine(type), &engine);
  h = RegionHandle();
  SY_EXPECT_ERROR(backend.reset(), Error, "1 object");
  s.b.cast(s.sum, kDouble);
  RegionReason why;
  EXPECT_FALSE(supports_region(type, s.b.region(), &why));
  EXPECT_STREQ(why.text, "4 nodes, more than 3");
}

TEST(Region, UnloadTakesEnginesBack) {
  static Devices device;
  static CountingEngine engine;
  RegistrationHandle backend =
      register_library(LibraryKind::Backend, "_", "Passing", [](Library& m) {
        m.device("passing", &device);
        m.service(BackendService::kRegions, &engine);
      });
  const DeviceType type = Device("passing").type();
  { const RegionHandle h = prepare_region(type, Sample().b.region()); }
  backend.reset();
  EXPECT_EQ(region_engine(type), nullptr);
  SY_EXPECT_ERROR(
      register_library(
          LibraryKind::Impl, "aten", "CPU",
          [](Library& m) { m.service(BackendService::kRegions, &engine); }),
      RegistrationError, "m.service takes an object and belongs in SY_BACKEND");
}

}  // namespace
}  // namespace sy
