#include "backends/cuda/dnn/plan.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <shared_mutex>
#include <vector>

#include "c10/process/error.h"
#include "c10/tensor/array_ref.h"

namespace sy::cuda::dnn {

namespace {

constexpr int64_t kMostRoom = int64_t{256} << 20;
constexpr int64_t kMostConfigs = 64;
// Shapes that never come again must not fill the memory.
constexpr size_t kMostPlans = 1 << 13;
// The most refusals that are told.
constexpr size_t kMostTold = 4;

// The names of the tensors in the graph.
constexpr int64_t kIdX = 1, kIdW = 2, kIdY = 3;

DataType data_type(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return kFloat64;
    case kHalf: return kFloat16;
    case kBFloat16: return kBrain16;
    default: return kFloat32;
  }
}

// The attributes of the three operations.
struct OperationNames {
  Kind kind;
  Attribute x, w, y, convolution, alpha, beta;
};
const OperationNames& names_of(ConvolutionPart made) {
  static constexpr OperationNames kNames[] = {
      {kForward, kForwardX, kForwardW, kForwardY, kForwardConvolution,
       kForwardAlpha, kForwardBeta},
      {kBackwardData, kDataDx, kDataW, kDataDy, kDataConvolution, kDataAlpha,
       kDataBeta},
      {kBackwardFilter, kFilterX, kFilterDw, kFilterDy, kFilterConvolution,
       kFilterAlpha, kFilterBeta}};
  return kNames[static_cast<int>(made)];
}

// An engine that the heuristics name.
struct Candidate {
  Object config;
  int64_t engine = -1;
  std::vector<int> notes;

  bool has(NumericalNote note) const {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  }
  // "engine 62 with note 0", as NumericalNote numbers them.
  std::string text() const {
    std::string out = str("engine {}", engine);
    const char* joint = " with note ";
    for (const int note : notes) {
      out += str("{}{}", joint, note);
      joint = ", ";
    }
    return out;
  }
};

// Makes one plan. Its objects are what the plan is made of.
class Maker {
 public:
  Maker(const Library& library, const Problem& problem)
      : library_(library), p_(problem), type_(data_type(problem.dtype)) {}

  // Throws Refusal if no engine can do it.
  void make(Plan* plan) {
    build_graph();
    for (const HeuristicMode mode : {kModeA, kModeFallback}) {
      if (!try_mode(mode, plan)) continue;
      plan->text += refusals();
      return;
    }
    throw Refusal{str("no engine of {}{}", tried_, refusals())};
  }

 private:
  const Api& api() const { return *library_.api; }
  Object& add(Kind kind) { return parts_.emplace_back(api(), kind); }

  Object& add_tensor(const Operand& o, int64_t id) {
    Object& t = add(kTensor);
    t.set(kTensorDataType, kTypeDataType, 1, &type_);
    t.set(kTensorSizes, kTypeInt64, p_.space + 2, o.sizes);
    t.set(kTensorStrides, kTypeInt64, p_.space + 2, o.strides);
    t.set_int(kTensorId, id);
    t.set_int(kTensorAlignment, kAlignment);
    t.finalize();
    return t;
  }

  Object& add_convolution() {
    Object& c = add(kConvolution);
    const DataType compute = p_.dtype == kDouble ? kFloat64 : kFloat32;
    const dnn::ConvolutionMode mode = kCrossCorrelation;
    c.set(kConvolutionComputeType, kTypeDataType, 1, &compute);
    c.set(dnn::kConvolutionMode, kTypeConvolutionMode, 1, &mode);
    c.set_int(kConvolutionDims, p_.space);
    c.set(kConvolutionDilations, kTypeInt64, p_.space, p_.dilation);
    c.set(kConvolutionStrides, kTypeInt64, p_.space, p_.stride);
    c.set(kConvolutionPrePaddings, kTypeInt64, p_.space, p_.padding);
    c.set(kConvolutionPostPaddings, kTypeInt64, p_.space, p_.padding);
    c.finalize();
    return c;
  }

  Object& add_operation() {
    const OperationNames& names = names_of(p_.made);
    const Object& x = add_tensor(p_.x, kIdX);
    const Object& w = add_tensor(p_.w, kIdW);
    const Object& y = add_tensor(p_.y, kIdY);
    const Object& convolution = add_convolution();
    Object& o = add(names.kind);
    o.set_object(names.convolution, convolution);
    o.set_object(names.x, x);
    o.set_object(names.w, w);
    o.set_object(names.y, y);
    const double wide[] = {1, 0};
    const float narrow[] = {1, 0};
    for (int i = 0; i < 2; ++i) {
      const Attribute name = i == 0 ? names.alpha : names.beta;
      if (p_.dtype == kDouble) {
        o.set(name, kTypeDouble, 1, &wide[i]);
      } else {
        o.set(name, kTypeFloat, 1, &narrow[i]);
      }
    }
    o.finalize();
    return o;
  }

  void build_graph() {
    parts_.reserve(kMostParts);  // references stay
    const Object& operation = add_operation();
    Object& graph = add(kGraph);
    graph.set_object(kGraphOperations, operation);
    if (library_.session->handle != nullptr) {
      graph.set(kGraphHandle, kTypeHandle, 1, &library_.session->handle);
    }
    graph.finalize();
    graph_ = &graph;
  }

  void set_device(Object& to, Attribute name) {
    if (library_.session->device == nullptr) return;
    to.set(name, kTypeDescriptor, 1, &library_.session->device);
  }

  std::vector<Candidate> ask(HeuristicMode mode) {
    Object heuristics(api(), kHeuristics);
    heuristics.set_object(kHeuristicsGraph, *graph_);
    heuristics.set(kHeuristicsMode, kTypeHeuristicMode, 1, &mode);
    set_device(heuristics, kHeuristicsDevice);
    heuristics.finalize();
    const int64_t known =
        heuristics.read(kHeuristicsResults, kTypeDescriptor, 0, nullptr);
    const int64_t most = std::min(known, kMostConfigs);
    std::vector<Candidate> out;
    std::vector<Descriptor> descriptors;
    for (int64_t i = 0; i < most; ++i) {
      out.push_back({Object(api(), kEngineConfig), -1, {}});
      descriptors.push_back(out.back().config.get());
    }
    if (most == 0) return out;
    const int64_t count = heuristics.read(kHeuristicsResults, kTypeDescriptor,
                                          most, descriptors.data());
    while (std::ssize(out) > count) out.pop_back();
    for (Candidate& c : out) look(&c);
    return out;
  }

  // Reads the index and the numerical notes of the candidate's engine.
  void look(Candidate* c) const {
    const Object engine(api(), kEngine);
    Descriptor written = engine.get();
    c->config.read(kConfigEngine, kTypeDescriptor, 1, &written);
    engine.read(kEngineIndex, kTypeInt64, 1, &c->engine);
    int notes[kNumericalNotes] = {};
    const int64_t count = engine.read(kEngineNumericalNotes, kTypeNumericalNote,
                                      kNumericalNotes, notes);
    c->notes.assign(notes, notes + std::min<int64_t>(count, kNumericalNotes));
  }

  // Results must be the same each time, and as exact as sums of products in
  // float32 (or float64) are: transforms are not, and spread what is no number.
  const char* excluded(const Candidate& c) const {
    if (c.has(kNotDeterministic)) return "differs from run to run";
    if (c.has(kReducesInShortFloats)) return "adds in short floats";
    if (c.has(kFourier) || c.has(kWinograd)) return "transforms";
    if (c.has(kDownConvertsInputs) && !p_.tf32) return "rounds its operands";
    if (c.has(kTensorCores) && p_.dtype == kFloat && !p_.tf32) return "is TF32";
    return nullptr;
  }

  bool try_mode(HeuristicMode mode, Plan* plan) {
    const char* const name = mode == kModeA ? "mode A" : "the fallback";
    std::vector<Candidate> candidates;
    try {
      candidates = ask(mode);
    } catch (const Refusal& r) {
      tell(str("{}: {}", name, r.why));
    }
    tried_ +=
        str("{}{} of {}", tried_.empty() ? "" : ", ", candidates.size(), name);
    int64_t number = 0;
    for (Candidate& c : candidates) {
      const std::string text = c.text();
      ++number;
      if (const char* const why = excluded(c)) {
        tell(str("{} {}", text, why));
        continue;
      }
      try {
        if (try_candidate(c, plan)) {
          plan->text = str("{}, number {} of {}, {} bytes of workspace", text,
                           number, tried_, plan->workspace);
          return true;
        }
      } catch (const Refusal& r) {
        tell(str("{}: {}", text, r.why));
      }
    }
    return false;
  }

  bool try_candidate(Candidate& c, Plan* plan) {
    Object made(api(), kPlan);
    made.set_object(kPlanConfig, c.config);
    if (library_.session->handle != nullptr) {
      made.set(kPlanHandle, kTypeHandle, 1, &library_.session->handle);
    }
    set_device(made, kPlanDevice);
    made.finalize();
    int64_t room = 0;
    made.read(kPlanWorkspace, kTypeInt64, 1, &room);
    if (room < 0 || room > kMostRoom) {
      tell(str("{} wants {} bytes", c.text(), room));
      return false;
    }
    plan->descriptor = made.get();
    plan->workspace = static_cast<size_t>(room);
    parts_.push_back(std::move(c.config));
    parts_.push_back(std::move(made));
    return true;
  }

  std::string refusals() const {
    std::string out;
    for (const std::string& each : told_) out += "; " + each;
    return out;
  }
  void tell(std::string why) {
    if (told_.size() < kMostTold) told_.push_back(std::move(why));
  }

  static constexpr size_t kMostParts = 16;

  const Library library_;
  const Problem p_;
  const DataType type_;
  std::vector<Object> parts_;
  const Object* graph_ = nullptr;
  std::string tried_;
  std::vector<std::string> told_;
};

}  // namespace

struct Plans {
  std::shared_mutex mutex;
  std::map<Problem, std::unique_ptr<const Plan>> all;

  // nullptr if it was not asked for yet.
  const Plan* find(const Problem& problem) {
    static const Plan none;
    const std::shared_lock lock(mutex);
    const auto it = all.find(problem);
    if (it != all.end()) return it->second.get();
    return all.size() < kMostPlans ? nullptr : &none;
  }
};

Plans* make_plans() { return new Plans; }

std::string text_of(const Problem& p) {
  static constexpr const char* kMade[] = {"y", "dx", "dw"};
  const auto dims = static_cast<size_t>(p.space) + 2;
  const auto list = [&](const Operand& o) {
    return str("{} by {}", IntArrayRef(o.sizes, dims),
               IntArrayRef(o.strides, dims));
  };
  const auto space = [&](const int64_t* v) { return IntArrayRef(v, dims - 2); };
  return str("{} of {}{} x {}, w {}, y {}, stride {}, padding {}, dilation {}",
             kMade[static_cast<int>(p.made)], p.dtype, p.tf32 ? " by TF32" : "",
             list(p.x), list(p.w), list(p.y), space(p.stride), space(p.padding),
             space(p.dilation));
}

Plan make_plan(const Library& library, const Problem& problem) {
  const auto begin = std::chrono::steady_clock::now();
  Plan plan;
  auto maker = std::make_shared<Maker>(library, problem);
  try {
    maker->make(&plan);
    plan.works = true;
    plan.parts = std::move(maker);
  } catch (const Refusal& r) {
    plan.text = r.why;
  }
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  plan.text = str("{}: {}, {} us", text_of(problem), plan.text, took.count());
  return plan;
}

const Plan& plan_of(const Library& library, const Problem& problem) {
  Plans& p = *library.session->plans;
  if (const Plan* const plan = p.find(problem)) return *plan;
  const std::lock_guard asking(library.session->mutex);
  if (const Plan* const plan = p.find(problem)) return *plan;
  auto made = std::make_unique<const Plan>(make_plan(library, problem));
  (made->works ? note_plan : note_refusal)(made->text);
  const std::lock_guard lock(p.mutex);
  return *p.all.try_emplace(problem, std::move(made)).first->second;
}

void give_up(const Library& library, const Problem& problem,
             const std::string& why) {
  note_refusal(str("{}: did not run: {}", text_of(problem), why));
  Plans& p = *library.session->plans;
  const std::lock_guard lock(p.mutex);
  // Others may run the plan that is there.
  p.all[problem].release();
  p.all[problem] = std::make_unique<const Plan>();
}

Object pack_of(const Api& api, const Data& data) {
  Object pack(api, kVariantPack);
  const int64_t ids[] = {kIdX, kIdW, kIdY};
  const void* const pointers[] = {data.x, data.w, data.y};
  pack.set(kPackIds, kTypeInt64, 3, ids);
  pack.set(kPackPointers, kTypePointer, 3, pointers);
  pack.set(kPackWorkspace, kTypePointer, 1, &data.room);
  pack.finalize();
  return pack;
}

Result execute(const Library& library, const Plan& plan, const Data& data,
               void* stream, std::string* why) {
  const Api& api = *library.api;
  const std::lock_guard lock(library.session->mutex);
  const Handle handle = library.session->handle;
  try {
    const Object pack = pack_of(api, data);
    Result r = api.set_stream(handle, static_cast<Stream>(stream));
    if (r == kDone) r = api.execute(handle, plan.descriptor, pack.get());
    if (r != kDone) *why = error_of(api, r);
    return r;
  } catch (const Refusal& r) {
    *why = r.why;
    return kNotSupported;
  }
}

}  // namespace sy::cuda::dnn
