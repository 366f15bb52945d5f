#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/lazy/engine.h"
#include "backends/lazy/value.h"

// The recorded calls that are not computed yet, and how they are computed.

namespace sy::lazy {

// Why recorded calls run.
enum class Cause : uint8_t {
  kAsked,    // sync()
  kRead,     // a copy to another device
  kPointer,  // data_ptr, printing, saving
  kCall,     // a call that cannot be recorded: its results depend on data
  kBound,    // the graph has grown too large
};
inline constexpr int kCauses = 5;
const char* name_of(Cause c);

struct Counters {
  int64_t recorded = 0;          // calls
  int64_t ran_at_once = 0;       // calls that cannot be recorded
  int64_t runs = 0;              // graphs
  int64_t hits = 0, misses = 0;  // of the cache of plans
  int64_t regions = 0;           // that ran, and the calls in them
  int64_t in_regions = 0;
  int64_t kernels = 0;  // calls that ran one by one
  int64_t donated = 0;  // bytes of results in the memory of operands
  int64_t causes[kCauses] = {};
  int64_t blocked_ns = 0;   // threads waited for graphs, or ran them
  int64_t planning_ns = 0;  // plans were made
};

// The caller holds graph_mutex() for these.
Counters& counters();
// Puts a node among those to run.
void add_recorded(const intrusive_ptr<LazyNode>& node);
// Gives up what is not needed after a run.
void forget_finished();

// The caller must not hold graph_mutex() for these: others may be at work on
// what is asked for.

// Runs the graph if it has grown too large. `op` was recorded last.
void run_if_too_large(const char* op);
// Computes a node with all that it needs. `op` names the call that asked.
void compute(LazyNode& node, Cause cause, const OperatorEntry* op);
void compute(ArrayRef<Operand> operands, Cause cause, const OperatorEntry* op);
// Begins to compute these, and returns.
void start(ArrayRef<Operand> operands);
// Computes everything that a tensor still holds; without `wait` begins to.
void compute_all(Cause cause, bool wait);
// Whether a sync that nobody asked for is an error.
void set_strict(bool strict);
// A negative bound stays as it is.
void set_bound(int64_t nodes, int64_t bytes);
// Recorded nodes with a result that a tensor holds.
std::vector<intrusive_ptr<LazyNode>> recorded_roots();

// Some recorded calls that run together. Nodes are in an order in which they
// could run one by one.
struct RecordedGraph {
  std::vector<intrusive_ptr<LazyNode>> nodes;
  std::vector<intrusive_ptr<LazyNode>> data;  // values that they read
  Device device;                              // that computes them
  const GraphEngine* engine = nullptr;        // that runs them
  // Values that are best made in the memory of data that they replace.
  struct Home {
    int node;  // and its result
    int result;
    int data;  // data[-1 - it]
    friend bool operator==(const Home&, const Home&) = default;
  };
  std::vector<Home> homes;
};

// The recorded calls that these nodes need, and the nodes themselves. Values
// that are being computed count as data. Each node gets
// its place as `index`; node i of `data` gets -1 - i.
RecordedGraph collect(const std::vector<intrusive_ptr<LazyNode>>& roots);
}  // namespace sy::lazy
