#include "backends/cuda/blas/plan.h"

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "backends/cuda/runtime/device_state.h"
#include "c10/process/error.h"

namespace sy::cuda::blas {

namespace {

// NVIDIA's advice for Hopper; smaller devices take as much.
constexpr uint64_t kMostRoom = uint64_t{32} << 20;
// Shapes that never come again must not fill the memory.
constexpr size_t kMostPlans = 1 << 16;

DataType data_type(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return kFloat64;
    case kHalf: return kFloat16;
    case kBFloat16: return kBrain16;
    default: return kFloat32;
  }
}

// Makes descriptors; the first error of the library counts.
class Maker {
 public:
  Maker(const Library& library, const Problem& problem)
      : library_(library), p_(problem), type_(data_type(problem.dtype)) {}

  Plan make() {
    Plan plan = {};
    describe(&plan.description);
    lay_out(p_.b, p_.k, p_.n, &plan.first);
    lay_out(p_.a, p_.m, p_.k, &plan.second);
    lay_out(p_.c, p_.m, p_.n, &plan.result);
    lay_out(p_.added == Added::kMatrix ? p_.d : p_.c, p_.m, p_.n, &plan.added);
    choose(&plan);
    return plan;
  }

 private:
  const Api& api() const { return *library_.api; }
  void check(Result r) {
    if (error_ == kDone) error_ = r;
  }
  template <class T>
  void set(Description* to, DescriptionAttribute what, T value) {
    check(api().describe(to, what, &value, sizeof value));
  }
  template <class T>
  void prefer(Preference* to, PreferenceAttribute what, T value) {
    check(api().prefer(to, what, &value, sizeof value));
  }

  void describe(Description* out) {
    const bool wide = p_.dtype == kDouble;
    check(api().init_description(out, sizeof *out,
                                 wide      ? kCompute64
                                 : p_.tf32 ? kCompute32ByTf32
                                           : kCompute32,
                                 wide ? kFloat64 : kFloat32));
    // Rows that lie together are the columns of the transpose.
    set<int32_t>(out, kTransposeA, p_.b.by_columns);
    set<int32_t>(out, kTransposeB, p_.a.by_columns);
    if (p_.added != Added::kBias) return;
    set<uint32_t>(out, kEpilogue, kAddBias);
    // The choice depends on its alignment; the call brings the true one.
    set<const void*>(
        out, kBiasPointer,
        reinterpret_cast<const void*>(static_cast<uintptr_t>(p_.d.alignment)));
  }

  void lay_out(const Matrix& m, int64_t rows, int64_t columns,
               MatrixLayout* out) {
    if (!m.by_columns) std::swap(rows, columns);
    check(api().init_layout(out, sizeof *out, type_,
                            static_cast<uint64_t>(rows),
                            static_cast<uint64_t>(columns), m.line));
    if (p_.batch == 1) return;
    const auto batch = static_cast<int32_t>(p_.batch);
    check(api().lay_out(out, kBatchCount, &batch, sizeof batch));
    check(api().lay_out(out, kBatchStride, &m.batch, sizeof m.batch));
  }

  void choose(Plan* plan) {
    Preference preference;
    check(api().init_preference(&preference, sizeof preference));
    prefer<uint64_t>(&preference, kMostWorkspace, kMostRoom);
    // Sums of short floats in parts would lose what a sum must not.
    prefer<uint32_t>(&preference, kReductions, kReduceInComputeType);
    const auto align = [&](PreferenceAttribute what, const Matrix& m) {
      prefer<uint32_t>(&preference, what, static_cast<uint32_t>(m.alignment));
    };
    align(kAlignmentA, p_.b);
    align(kAlignmentB, p_.a);
    align(kAlignmentC, p_.added == Added::kMatrix ? p_.d : p_.c);
    align(kAlignmentD, p_.c);
    if (error_ != kDone) return;
    Heuristic best = {};
    int found = 0;
    const Result r = api().choose(library_.handle, &plan->description,
                                  &plan->first, &plan->second, &plan->added,
                                  &plan->result, &preference, 1, &best, &found);
    if (r != kDone || found == 0 || best.state != kDone) return;
    plan->algorithm = best.algorithm;
    plan->workspace = best.workspace;
    plan->works = true;
  }

  const Library& library_;
  const Problem& p_;
  const DataType type_;
  Result error_ = kDone;
};

struct Plans {
  std::shared_mutex mutex;
  std::map<Problem, std::unique_ptr<const Plan>> all;
};

// Never destroyed, as threads may outlive everything.
Plans& plans(int device) {
  static auto* const p = new Plans[kMaxDevices];
  return p[device];
}

}  // namespace

const Plan& plan_of(int device, const Library& library,
                    const Problem& problem) {
  Plans& p = plans(device);
  {
    const std::shared_lock lock(p.mutex);
    if (const auto it = p.all.find(problem); it != p.all.end()) {
      return *it->second;
    }
  }
  auto made = std::make_unique<const Plan>(Maker(library, problem).make());
  static const Plan none = {};
  const std::lock_guard lock(p.mutex);
  if (p.all.size() >= kMostPlans) return none;
  return *p.all.try_emplace(problem, std::move(made)).first->second;
}

}  // namespace sy::cuda::blas
