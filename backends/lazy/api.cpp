#include "aten/tensor_new.h"
#include "backends/lazy/cache.h"
#include "backends/lazy/graph.h"
#include "backends/lazy/inner_stream.h"
#include "backends/lazy/record.h"
#include "backends/lazy/syncs.h"
#include "backends/lazy/text.h"
#include "c10/plugin/library.h"
#include "c10/process/error.h"

// The operators behind <sy/lazy.h>: a program may call them without linking to
// this library.

namespace sy::lazy {

namespace {

void sync_all(bool wait) {
  compute_all(Cause::kAsked, wait);
  if (wait) wait_for_inner_stream();
}

std::vector<Operand> operands_of(TensorList tensors) {
  std::vector<Operand> operands;
  const std::lock_guard lock(graph_mutex());
  for (const Tensor& t : tensors) {
    if (!is_lazy(t)) continue;
    if (LazyValue* const value = value_of(*t.storage())) {
      Operand o;
      o.node = value->node;
      o.result = value->result;
      operands.push_back(std::move(o));
    }
  }
  return operands;
}

void sync(TensorList tensors, bool wait) {
  const std::vector<Operand> operands = operands_of(tensors);
  if (wait) {
    compute(operands, Cause::kAsked, nullptr);
    wait_for_inner_stream();
  } else {
    start(operands);
  }
}

Tensor count() {
  const std::lock_guard lock(graph_mutex());
  const Counters& c = counters();
  return tensor({c.recorded, c.ran_at_once, c.runs, c.hits, c.misses, c.regions,
                 c.in_regions, c.kernels, c.donated, c.causes[0], c.causes[1],
                 c.causes[2], c.causes[3], c.causes[4], c.blocked_ns,
                 c.planning_ns});
}

std::string counters_table() {
  const std::lock_guard lock(graph_mutex());
  const Counters& c = counters();
  std::string text;
  const auto line = [&](const char* what, int64_t n) {
    text += str("{} {}\n", n, what);
  };
  line("calls recorded", c.recorded);
  line("calls at once", c.ran_at_once);
  line("graphs run", c.runs);
  line("plans found", c.hits);
  line("plans made", c.misses);
  line("regions run", c.regions);
  line("calls in regions", c.in_regions);
  line("calls by their kernels", c.kernels);
  line("bytes donated", c.donated);
  for (int i = 0; i < kCauses; ++i) {
    text +=
        str("{} runs for {}\n", c.causes[i], name_of(static_cast<Cause>(i)));
  }
  text += str("{} blocked in sync() and in readers\n",
              time_text(static_cast<double>(c.blocked_ns)));
  text += str("{} planning\n", time_text(static_cast<double>(c.planning_ns)));
  return text;
}

RecordedGraph graph_of(TensorList tensors) {
  std::vector<intrusive_ptr<LazyNode>> roots;
  if (tensors.empty()) {
    roots = recorded_roots();
  } else {
    for (const Operand& o : operands_of(tensors)) {
      if (o.node->state == LazyNode::kRecorded) roots.push_back(o.node);
    }
  }
  return collect(roots);
}

std::string pending(std::string_view what, TensorList tensors) {
  const std::lock_guard lock(graph_mutex());
  const RecordedGraph graph = graph_of(tensors);
  return what == "dot" ? graph_dot(graph) : graph_text(graph);
}

Tensor tensor_of_text(const std::string& out) {
  Tensor bytes(
      make_tensor(static_cast<int64_t>(out.size()), kByte, Device(kCPU)));
  std::copy(out.begin(), out.end(), static_cast<char*>(bytes.raw_data()));
  return bytes;
}

Tensor explain(std::string_view op) {
  return tensor_of_text(
      how_recorded(Dispatcher::singleton().find_or_throw(op)));
}

Tensor text(std::string_view what, TensorList tensors) {
  const std::string out = what == "counters"   ? counters_table()
                          : what == "miss"     ? explain_last_miss()
                          : what == "plan"     ? last_plan_text()
                          : what == "plan_dot" ? last_plan_dot()
                          : what == "syncs"    ? syncs_text()
                                               : pending(what, tensors);
  return tensor_of_text(out);
}

void set(std::string_view what, int64_t value) {
  if (what == "strict") return set_strict(value != 0);
  if (what == "report_syncs") return set_report_syncs(value != 0);
  if (what == "max_calls") return set_bound(value, -1);
  if (what == "max_bytes") return set_bound(-1, value);
  if (what == "max_plans") {
    return set_cache_capacity(static_cast<size_t>(std::max<int64_t>(value, 1)));
  }
  if (what == "clear_plans") return clear_cache();
  if (what == "collide") return plant_collisions(value != 0);
  SY_CHECK(false, Value, "[lazy::set] what: expected a setting, got '{}'",
           what);
}

void set_engine(std::string_view name) { set_lazy_engine(engine_of(name)); }

SY_LIBRARY(lazy, m) {
  m.def("sync_all(bool wait) -> ()", SY_FN(sync_all));
  m.def("sync(Tensor[] tensors, bool wait) -> ()", SY_FN(sync));
  m.def("counters() -> Tensor", SY_FN(count));
  m.def("text(str what, Tensor[] tensors) -> Tensor", SY_FN(text));
  m.def("explain(str op) -> Tensor", SY_FN(explain));
  m.def("set(str what, int value) -> ()", SY_FN(set));
  m.def("set_engine(str name) -> ()", SY_FN(set_engine));
}

}  // namespace

}  // namespace sy::lazy
