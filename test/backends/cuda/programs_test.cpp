#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <set>

#include "backends/cpu/tiles/runner.h"
#include "backends/cuda/compile/jit.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/engine/interpret.h"
#include "backends/cuda/engine/pointwise_call.h"
#include "backends/cuda/engine/pointwise_kernels.h"
#include "test/backends/cuda/fused/programs.h"
#include "test/backends/cuda/pointwise_fixture.h"

// Every program of the library, and of autograd, as a kernel, and interpreted,
// on the fake driver: the bits of the CPU's own programs, since both are made
// of the same text. The machine's libm serves both sides here.

namespace sy::cuda {
namespace {

using program::ComputeType;
using testing::difference;
using testing::fill_with_edges;
using testing::on_cuda;
using testing::on_gpu;

struct Named {
  std::string name;
  const program::Program* program;
};

bool is_defined(const program::Program& p, ComputeType type) {
  for (int i = 0; i < p.n_steps; ++i) {
    if (cpu::tiles::prim_fn(p.steps[i].op, type) == nullptr) return false;
  }
  return p.n_inputs > 0 &&
         p.n_inputs + p.n_results <= PointwiseCall::kMaxOperands;
}

// The programs of operators and of fused derivatives that the type has, each
// once.
std::vector<Named> all_programs(ComputeType type) {
  std::vector<Named> out;
  std::set<std::string> seen;
  const auto add = [&](std::string_view name, const ElementProgram* e) {
    if (e == nullptr || !is_defined(e->body, type)) return;
    const std::string text = str("{} {} {}", program::program_text(e->body),
                                 e->body.bool_inputs, e->body.bool_uniforms);
    if (seen.insert(text).second) {
      out.push_back({std::string(name), &e->body});
    }
  };
  for (const OperatorHandle& op : Dispatcher::singleton().operators()) {
    const NodeDesc* const node = node_desc(op.entry());
    if (node == nullptr) continue;
    if (node->pointwise != nullptr) {
      add(op.name(), &node->pointwise->program);
      add(op.name(), node->pointwise->at_defaults);
    }
    if (node->reduce != nullptr) {
      add(op.name(), &node->reduce->map);
      add(op.name(), &node->reduce->combine);
      add(op.name(), node->reduce->finish);
    }
    if (node->scan != nullptr) add(op.name(), &node->scan->combine);
  }
  for (const PointwiseOp* const op : sy::testing::fused_programs()) {
    add(op->name, &op->program);
    add(op->name, op->at_defaults);
  }
  return out;
}

// A program with its operands on both sides.
class Trial {
 public:
  static constexpr int64_t kCount = 2400;

  Trial(const Named& named, ComputeType type) : named_(named), type_(type) {
    const program::Program& p = *named.program;
    for (int i = 0; i < p.n_inputs + p.n_results; ++i) {
      const bool is_bool = i < p.n_inputs ? (p.bool_inputs >> i & 1) != 0
                                          : p.results[i - p.n_inputs].is_bool;
      const ScalarType dtype =
          is_bool ? ScalarType::Bool : program::storage_of(type);
      cpu_.push_back(Tensor(make_tensor({kCount}, dtype, Device(kCPU))));
      fill_with_edges(cpu_.back(), static_cast<uint64_t>(i) + 1);
      cuda_.push_back(to_device(cpu_.back(), on_cuda()));
    }
    for (int i = 0; i < p.n_uniforms; ++i) {
      const bool is_bool = (p.bool_uniforms >> i & 1) != 0;
      call_.numbers[i] = program::make_uniform(
          type, is_bool, is_bool ? double(i % 2) : 0.75 + 1.5 * i);
    }
    call_.name = named_.name.c_str();
    call_.program = &p;
    call_.type = type;
    for (size_t i = 0; i < cuda_.size(); ++i) {
      call_.dtypes[i] = cuda_[i].dtype();
      call_.data[i] = static_cast<char*>(cuda_[i].raw_data());
      call_.tensors[i] = &cuda_[i];
    }
  }

  // Asks for the kernel.
  void prepare() {
    print::PointwiseKernel k;
    k.program = call_.program;
    k.type = type_;
    k.dtypes = call_.dtypes;
    pointwise_entry(k, 0, call_.name).function();
  }

  void run_on_cpu() {
    const program::Program& p = *named_.program;
    std::vector<cpu::tiles::Operand> operands;
    for (const Tensor& t : cpu_) {
      operands.push_back(
          {t.raw_data(), static_cast<int64_t>(t.itemsize()), t.dtype()});
    }
    cpu::tiles::run(p, type_, operands.data(), call_.numbers,
                    operands.data() + p.n_inputs, kCount);
    divided_ = cpu::tiles::take_error();
  }

  void check() {
    run_linear(call_, kCount, 0);
    bool divided = false;
    for (size_t i = static_cast<size_t>(named_.program->n_inputs);
         i < cuda_.size(); ++i) {
      Tensor got;
      try {
        got = to_device(cuda_[i], Device(kCPU));
      } catch (const ValueError&) {
        divided = true;
        got = to_device(cuda_[i], Device(kCPU));
      }
      const std::string text = program::program_text(*named_.program);
      EXPECT_EQ(difference(cpu_[i], got, share_of(text)), "")
          << named_.name << ": " << text;
    }
    EXPECT_EQ(divided, divided_) << named_.name;
  }

 private:
  // The relative error of a GPU's logarithm, which gamma functions use.
  double share_of(const std::string& text) const {
    if (!on_gpu() || text.find("gamma(") == std::string::npos) return 0;
    return type_ == ComputeType::f64 ? 1e-12 : 1e-5;
  }

  Named named_;
  ComputeType type_;
  std::vector<Tensor> cpu_, cuda_;
  PointwiseCall call_;
  bool divided_ = false;
};

class Programs : public ::testing::TestWithParam<ComputeType> {};
INSTANTIATE_TEST_SUITE_P(, Programs,
                         ::testing::Values(ComputeType::f32, ComputeType::f64,
                                           ComputeType::u8, ComputeType::i16,
                                           ComputeType::i64, ComputeType::b8),
                         [](const auto& info) {
                           return std::string(
                               dtype_name(program::storage_of(info.param)));
                         });

TEST_P(Programs, have_the_bits_of_the_cpu) {
  const ComputeType type = GetParam();
  const bool usual = type == ComputeType::f32 || type == ComputeType::i64 ||
                     type == ComputeType::b8;
  if (!usual && std::getenv("SY_ALL_KERNELS") == nullptr) {
    GTEST_SKIP() << "runs with SY_ALL_KERNELS=1";
  }
  cpu::tiles::set_isa(
      cpu::tiles::Isa::avx2);  // whose functors are those of devices
  // The interpreters are known, so that kernels are queued and compiled
  // together.
  interpreter(0, type, false);
  if (program::is_floating(type)) interpreter(0, type, true);
  std::deque<Trial> runs;
  for (const Named& p : all_programs(type)) runs.emplace_back(p, type);
  EXPECT_GT(runs.size(), 100u);
  for (Trial& r : runs) r.run_on_cpu();
  set_jit_mode(JitMode::kOff);
  for (Trial& r : runs) r.check();
  set_jit_mode(JitMode::kBackground);
  for (Trial& r : runs) r.prepare();
  finish_compiling();
  set_jit_mode(JitMode::kOff);  // what is there stays
  for (Trial& r : runs) r.check();
}

}  // namespace
}  // namespace sy::cuda
