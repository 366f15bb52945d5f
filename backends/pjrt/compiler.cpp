#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

#include "aten/backend/graph.h"
#include "backends/pjrt/client.h"
#include "backends/pjrt/ffi.h"
#include "backends/pjrt/lower.h"
#include "c10/dispatch/trace.h"
#include "c10/plugin/library.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"

// The engine "pjrt": graphs become programs of a PJRT plugin.

namespace sy::pjrt {

namespace {

// A graph's program with the kernels that it calls.
class GraphProgram final : public graph::Executable {
 public:
  GraphProgram(const graph::Graph& graph, const Client& client) {
    std::map<int, int64_t> ids;
    for (int i = 0; i < static_cast<int>(graph.calls().size()); ++i) {
      if (is_lowered(graph, graph.calls()[size_t(i)])) continue;
      kernels_.emplace_back(
          [this, i](ArrayRef<const void*> inputs, ArrayRef<void*> outputs) {
            run_kernel(i, inputs, outputs);
          });
      ids[i] = kernels_.back().number();
    }
    lowered_ = lower(graph, ids);
    const TraceSpan span("pjrt compile",
                         [&] { return str("{} calls", graph.calls().size()); });
    const auto begin = std::chrono::steady_clock::now();
    program_ = client.compile(lowered_.text, lowered_.input_shapes,
                              lowered_.output_shapes, lowered_.donations);
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - begin;
    text_ = str("{}: {} calls, {} of them our kernels, compiled in {} ms\n",
                client.describe(), graph.calls().size(), kernels_.size(),
                std::lround(took.count()));
  }

  void run(const graph::Graph& graph, ArrayRef<Storage> inputs,
           Storage* outputs) override {
    std::vector<const void*> memory;
    for (const Donation& d : lowered_.donations) {
      outputs[d.output] =
          StorageImpl::allocate(size_of_output(d.output), Device(kCPU));
      memory.push_back(outputs[d.output]->data());
    }
    for (const int v : lowered_.inputs) {
      memory.push_back(inputs[size_t(v)]->data());
    }
    std::vector<Room> numbers(lowered_.numbers.size());
    for (size_t a = 0; a < numbers.size(); ++a) {
      fill(graph, lowered_.numbers[a], &numbers[a]);
      memory.push_back(numbers[a].data());
    }
    // Kernels read the numbers of the graph that runs.
    std::unique_lock lock(mutex_, std::defer_lock);
    if (!kernels_.empty()) {
      lock.lock();
      running_ = &graph;
    }
    std::vector<Storage> results(lowered_.output_shapes.size());
    program_->run({memory.data(), memory.size()}, results.data());
    for (size_t k = 0; k < results.size(); ++k) {
      if (results[k] != nullptr) outputs[k] = own(k, *results[k]);
    }
  }

  std::string text() const override { return text_; }

 private:
  size_t size_of_output(size_t k) const {
    return lowered_.output_shapes[k].nbytes();
  }
  // The plugin's memory cannot be resized.
  Storage own(size_t k, const StorageImpl& theirs) const {
    const size_t n = size_of_output(k);
    Storage ours = StorageImpl::allocate(n, Device(kCPU));
    if (n != 0) std::memcpy(ours->data(), theirs.data(), n);
    return ours;
  }

  struct alignas(kAlignment) Line {
    char bytes[kAlignment];
  };
  struct Room {
    std::vector<Line> lines;
    void* data() { return lines.data(); }
  };

  static void fill(const graph::Graph& graph, const Lowered::Numbers& n,
                   Room* room) {
    const size_t size = program::compute_type_size(n.type);
    room->lines.resize((n.of.size() * size + kAlignment - 1) / kAlignment);
    char* to = static_cast<char*>(room->data());
    for (const Lowered::Number& x : n.of) {
      std::memcpy(
          to, &graph.calls()[size_t(x.call)].uniforms[size_t(x.uniform)], size);
      to += size;
    }
  }

  static Storage memory_at(const void* data, const graph::Layout& l) {
    return StorageImpl::adopt(const_cast<void*>(data), graph::bytes_of(l),
                              Device(kCPU), nullptr, nullptr);
  }

  void run_kernel(int i, ArrayRef<const void*> inputs,
                  ArrayRef<void*> outputs) const {
    const graph::Graph& graph = *running_;
    const graph::Call& c = graph.calls()[size_t(i)];
    std::vector<Tensor> operands;
    for (size_t k = 0; k < c.operands.size(); ++k) {
      const graph::Operand& o = c.operands[k];
      operands.push_back(graph::tensor_in(
          memory_at(inputs[k], graph.values()[size_t(o.value)]), o.layout));
    }
    std::vector<Storage> results(static_cast<size_t>(c.n_results));
    graph.run_call(i, {operands.data(), operands.size()}, results.data());
    for (size_t r = 0; r < results.size(); ++r) {
      const graph::Layout& l = graph.values()[size_t(c.first_result) + r];
      const size_t n = graph::bytes_of(l);
      if (n != 0) std::memcpy(outputs[r], results[r]->data(), n);
    }
    // The number that the next one waits for.
    if (c.draws) std::memset(outputs[results.size()], 0, sizeof(int32_t));
  }

  std::vector<KernelId> kernels_;
  Lowered lowered_;
  std::unique_ptr<pjrt::Executable> program_;
  std::string text_;
  std::mutex mutex_;
  const graph::Graph* running_ = nullptr;
};

class PjrtCompiler final : public graph::Compiler {
 public:
  intrusive_ptr<graph::Executable> compile(const graph::Graph& graph,
                                           std::string_view argument) override {
    SY_CHECK(graph.device().is_cpu(), NotImplemented,
             "[pjrt] expected a graph of the CPU, got one of {}",
             graph.device());
    std::string path(argument);
    if (path.empty()) {
      const char* const given = environment("SWITCHYARD_PJRT_PLUGIN");
      if (given != nullptr) path = given;
    }
    SY_CHECK(!path.empty(), Value,
             "[pjrt] expected the path of a PJRT plugin, as \"pjrt:LIB\" or in "
             "SWITCHYARD_PJRT_PLUGIN");
    return make_intrusive<GraphProgram>(graph, Client::open(path));
  }
};

void open(std::string_view path) { Client::open(std::string(path)); }

// Loading the library adds the engine.
SY_LIBRARY(pjrt, m) {
  static const bool added = [] {
    graph::add_compiler("pjrt", std::make_shared<PjrtCompiler>());
    return true;
  }();
  static_cast<void>(added);
  m.def("open(str path) -> ()", SY_FN(open));
}

}  // namespace

}  // namespace sy::pjrt
