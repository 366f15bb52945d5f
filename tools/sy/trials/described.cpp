#include "aten/backend/engines.h"
#include "aten/backend/node.h"
#include "c10/device/generator.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/error.h"
#include "tools/sy/cases/arguments.h"
#include "tools/sy/cases/compare.h"
#include "tools/sy/trials/trials.h"

namespace sy::tools {

namespace {

// The call through the operator's description alone, on the CPU.
std::vector<Value> run_node(const NodeDesc& node, const Value* args, size_t n) {
  std::vector<Tensor> results(n);
  const BackendEngines& engines = *engines_of(kCPU);
  if (node.pointwise != nullptr) {
    const PointwiseNode call(node, args);
    if (n == 1) {
      results[0] = engines.pointwise->run(call.op(), call.args());
    } else {
      engines.pointwise->results(call.op(), call.args(), results.data());
    }
  } else if (node.reduce != nullptr) {
    const ReduceNode call(node, args);
    engines.reduce->results(call.op(), call.args(), results.data());
  } else {
    engines.scan->results(*node.scan, scan_node(node, args), results.data());
  }
  std::vector<Value> out;
  for (Tensor& t : results) out.emplace_back(TensorBase(std::move(t)));
  return out;
}

class Described final : public CallTrials {
 public:
  using CallTrials::CallTrials;

 private:
  std::string problem(size_t i, CaseResult& result) const override {
    const Arguments in = arguments(i);
    // infer_results() comes before the call, which may write.
    std::vector<Value> inferred;
    try {
      inferred = infer_results(op(), in.values.data(), in.values.size());
    } catch (const NotImplementedError&) {
      // Results depend on data.
    }
    const FunctionSchema& schema = op().schema();
    const NodeDesc* const node = node_desc(op().entry());
    std::vector<Value> by_node;
    if (node != nullptr && schema.is_functional()) {
      by_node = run_node(*node, in.values.data(), schema.returns().size());
    }
    std::vector<Value> args = in.values;
    std::vector<Value> out(schema.returns().size());
    manual_seed(5);
    {
      const AutoDispatchBelowAutograd no_tape;
      op().call_boxed(args.data(), args.size(), out.data(), out.size());
    }
    std::string why;
    if (!inferred.empty()) {
      why = metadata_difference(inferred, out, false);
      // A kernel of the CPU may choose other strides than Meta for fresh
      // results.
      if (schema.is_functional()) {
        result.note = metadata_difference(inferred, out, true);
      }
    }
    for (size_t i = 0; i < by_node.size() && why.empty(); ++i) {
      why = compare_tensor(read_tensor(by_node[i].to_tensor()),
                           read_tensor(out[i].to_tensor()), Tolerance{});
      if (!why.empty()) why.insert(0, "by its description: ");
    }
    return why;
  }

  static std::string metadata_difference(const std::vector<Value>& inferred,
                                         const std::vector<Value>& out,
                                         bool strides) {
    for (size_t i = 0; i < out.size(); ++i) {
      std::vector<TensorBase> a, b;
      for_each_tensor(inferred[i],
                      [&](const TensorBase& t) { a.push_back(t); });
      for_each_tensor(out[i], [&](const TensorBase& t) { b.push_back(t); });
      if (a.size() != b.size()) {
        return str("inferred {} tensors, got {}", a.size(), b.size());
      }
      for (size_t k = 0; k < a.size(); ++k) {
        if (a[k].defined() != b[k].defined()) return "inferred one undefined";
        if (!a[k].defined() ||
            (a[k].dtype() == b[k].dtype() && a[k].sizes() == b[k].sizes() &&
             (!strides || same_strides(a[k], b[k])))) {
          continue;
        }
        return str("inferred {} with strides {}, got {} with strides {}",
                   describe(a[k]), a[k].strides(), describe(b[k]),
                   b[k].strides());
      }
    }
    return "";
  }

  // Compares strides as far as they have a meaning.
  static bool same_strides(const TensorBase& a, const TensorBase& b) {
    if (a.numel() == 0) return true;
    for (size_t d = 0; d < a.sizes().size(); ++d) {
      if (a.sizes()[d] != 1 && a.strides()[d] != b.strides()[d]) return false;
    }
    return true;
  }
};

}  // namespace

std::unique_ptr<Trials> described_trials(OperatorHandle op,
                                         std::shared_ptr<const Calls> calls) {
  return std::make_unique<Described>(op, std::move(calls));
}

}  // namespace sy::tools
