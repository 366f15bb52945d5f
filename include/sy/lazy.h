#pragma once

#include <cstdint>
#include <string>

#include "aten/tensor.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/process/graphviz.h"

// The lazy device records calls and runs them together, fused, when a value is
// asked for. docs/lazy.md explains it.
//
//   auto lazy = sy::load_library("lazy");
//   Tensor x = randn({64, 128}).to("lazy");
//   Tensor y = (x * 2 + 1).tanh();    // recorded
//   sy::lazy::sync();                 // computed
//
// The functions throw NotImplementedError if the library is not loaded. They
// may be called by any thread.

namespace sy::lazy {

// Counts since the process started.
struct Counters {
  int64_t recorded = 0;     // calls
  int64_t ran_at_once = 0;  // calls that cannot be recorded
  int64_t runs = 0;         // graphs that ran
  int64_t hits = 0;         // of the cache of plans
  int64_t misses = 0;       // graphs that were planned
  int64_t regions = 0;      // that ran
  int64_t in_regions = 0;   // calls that ran in regions
  int64_t kernels = 0;      // calls that ran by themselves
  int64_t donated = 0;      // bytes of results in the memory of operands
  // Runs by what asked for them.
  int64_t by_sync = 0, by_read = 0, by_pointer = 0, by_call = 0, by_bound = 0;
  // Nanoseconds that threads spent in sync() and in readers, running what they
  // asked for or waiting for it; and that plans took to make.
  int64_t blocked_ns = 0, planning_ns = 0;
};

namespace detail {
inline std::string text_of(const Tensor& t) {
  return {static_cast<const char*>(t.const_data_ptr()),
          static_cast<size_t>(t.numel())};
}
inline void set(std::string_view what, int64_t value) {
  static constinit KnownOperator<void(std::string_view, int64_t)> op(
      "lazy::set");
  op.call(what, value);
}
inline std::string text(std::string_view what, TensorList tensors = {}) {
  static constinit KnownOperator<Tensor(std::string_view, TensorList)> op(
      "lazy::text");
  return text_of(op.call(what, tensors));
}
}  // namespace detail

// Begins to compute what tensors of the device still hold, and returns, so that
// the program records on meanwhile. A reader of a value waits for it.
// sync(kWait) returns when all is computed. Throws what a kernel has thrown
// since the last call: calls that did not run stay recorded.
enum Wait : bool { kNoWait = false, kWait = true };
inline void sync(Wait wait = kNoWait) {
  static constinit KnownOperator<void(bool)> op("lazy::sync_all");
  op.call(wait);
}
// The same for what these tensors need.
inline void sync(TensorList tensors, Wait wait = kNoWait) {
  static constinit KnownOperator<void(TensorList, bool)> op("lazy::sync");
  op.call(tensors, wait);
}

inline Counters counters() {
  static constinit KnownOperator<Tensor()> op("lazy::counters");
  const Tensor t = op.call();
  const int64_t* const v = t.const_data_ptr<int64_t>();
  return {v[0], v[1], v[2],  v[3],  v[4],  v[5],  v[6],  v[7],
          v[8], v[9], v[10], v[11], v[12], v[13], v[14], v[15]};
}
// The counters, one per line.
inline std::string counters_text() { return detail::text("counters"); }

// Why the last graph had to be planned: the nearest plan that there was, and
// the first difference to it, with the operator.
inline std::string explain() { return detail::text("miss"); }
// The steps of the plan that ran last, with the mean time of a run and the
// bytes that it reads and writes; and its graph for graphviz, with a box for
// each region.
inline std::string plan_text() { return detail::text("plan"); }
inline std::string plan_dot() { return detail::text("plan_dot"); }
// The recorded calls that these tensors need; of all tensors if there are none.
// graph_text() lists them, graph_dot() is for graphviz, with a box for each
// region.
inline std::string graph_text(TensorList tensors = {}) {
  return detail::text("graph", tensors);
}
inline std::string graph_dot(TensorList tensors = {}) {
  return detail::text("dot", tensors);
}
// The same as SVG pictures, drawn by graphviz's program `dot`. They throw
// NotImplementedError if there is none on PATH.
inline std::string plan_svg() { return svg_of_dot(plan_dot()); }
inline std::string graph_svg(TensorList tensors = {}) {
  return svg_of_dot(graph_dot(tensors));
}

// Says in a sentence what becomes of calls of an operator, "aten::add.Tensor",
// on the device. Throws NotImplementedError if there is no such operator.
inline std::string explain_operator(std::string_view op) {
  static constinit KnownOperator<Tensor(std::string_view)> explain(
      "lazy::explain");
  return detail::text_of(explain.call(op));
}

// From now on, remembers which code makes graphs run: 64 frames are looked at
// for each sync. SWITCHYARD_LAZY_SYNCS=1 does so from the start. syncs_text()
// has a line for each cause, operator and place, most frequent first; a place
// is the function outside of Switchyard that called, if the program is linked
// with -rdynamic, and an offset for addr2line.
inline void report_syncs(bool on) { detail::set("report_syncs", on); }
inline std::string syncs_text() { return detail::text("syncs"); }

// Chooses what runs the graphs, by its name: "jit", "interpret", "debug", or an
// engine that a library or the program adds (docs/compile.md, Backends).
// SWITCHYARD_LAZY_ENGINE says what a process begins with. Throws ValueError
// that lists the names there are.
inline void set_engine(std::string_view name) {
  static constinit KnownOperator<void(std::string_view)> op("lazy::set_engine");
  op.call(name);
}

// Only sync() runs anything in strict mode: code that reads a value that is not
// computed gets a ValueError.
inline void set_strict(bool strict) { detail::set("strict", strict); }
// A graph that grows beyond so many calls, or bytes of their results, runs by
// itself, and says so once. 20,000 calls and 4 GiB by default.
inline void set_max_calls(int64_t n) { detail::set("max_calls", n); }
inline void set_max_bytes(int64_t n) { detail::set("max_bytes", n); }
// How many plans are kept; 256 by default. The least recently used goes first.
inline void set_max_plans(int64_t n) { detail::set("max_plans", n); }
inline void clear_plans() { detail::set("clear_plans", 0); }

}  // namespace sy::lazy
