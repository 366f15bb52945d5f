#include <sy/export.h>
#include <sy/nn.h>
#include <sy/sy.h>

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "c10/schema/nearest.h"
#include "tools/sy/model/model.h"
#include "tools/sy/model/model_picture.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

namespace {

std::string bytes_text(int64_t bytes) {
  constexpr double kStep = 1000;
  const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= kStep && unit + 1 < std::size(units)) {
    value /= kStep;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes)
                   : fmt::format("{:.1f} {}", value, units[unit]);
}

int64_t count_of(const ProgramFacts::Held& held) {
  int64_t n = 1;
  for (const int64_t s : held.sizes) n *= s;
  return n;
}

struct Count {
  std::string name;
  int64_t calls = 0;
  bool is_known = true;
};

// The most frequent first.
std::vector<Count> counts_of(const ProgramFacts& facts) {
  std::map<std::string, Count> by_name;
  for (const auto& node : facts.nodes) {
    Count& count = by_name[node.target];
    count.name = node.target;
    count.is_known = node.is_known;
    ++count.calls;
  }
  std::vector<Count> out;
  for (auto& [name, count] : by_name) out.push_back(std::move(count));
  std::stable_sort(out.begin(), out.end(), [](const Count& a, const Count& b) {
    return a.calls > b.calls;
  });
  return out;
}

// Of one call with the export's sizes.
struct Cost {
  int64_t flops, peak_bytes;
};

// None where sizes depend on elements.
std::optional<Cost> cost_of(const ModelOptions& options,
                            const ProgramFacts& facts) {
  try {
    const Program program = load_program(options.file, options.model);
    program->to(Device("meta"));
    const std::vector<ArchiveValue> inputs(facts.example.begin(),
                                           facts.example.end());
    const int64_t peak_bytes = program->peak_bytes(inputs);
    nn::detail::SummaryRun run(*program);
    const NoGradGuard no_grad;
    program->tensors(inputs);
    return Cost{run.finish().rows.at(0).flops, peak_bytes};
  } catch (const Error&) {
    return {};
  }
}

std::string nearest_of(const std::string& name) {
  NearestName nearest(name);
  const auto all = Dispatcher::singleton().operators();
  for (const OperatorHandle& op : all) nearest.consider(op.name());
  return std::string(nearest.best());
}

struct Held {
  int64_t tensors = 0, elements = 0, bytes = 0, trained = 0;
};
std::map<std::string, Held> held_of(const ProgramFacts& facts) {
  std::map<std::string, Held> out;
  for (const auto& held : facts.held) {
    Held& sum = out[held.kind];
    ++sum.tensors;
    sum.elements += count_of(held);
    sum.bytes += held.bytes;
    sum.trained += held.requires_grad;
  }
  return out;
}

Json json_of(const ProgramFacts& facts, const std::vector<Count>& counts,
             const std::optional<Cost>& cost) {
  Json out;
  out["model"] = facts.model;
  out["torch_version"] = facts.torch_version;
  out["inputs"] = facts.inputs;
  out["outputs"] = facts.outputs;
  for (const auto& held : facts.held) {
    out["tensors"].push_back({{"name", held.name},
                              {"kind", held.kind},
                              {"sizes", held.sizes},
                              {"dtype", held.dtype},
                              {"bytes", held.bytes},
                              {"requires_grad", held.requires_grad}});
  }
  if (cost) {
    out["flops"] = cost->flops;
    out["peak_bytes"] = cost->peak_bytes;
  }
  out["operators"] = Json::object();
  out["missing"] = Json::object();
  for (const Count& count : counts) {
    out["operators"][count.name] = count.calls;
    if (!count.is_known) out["missing"][count.name] = nearest_of(count.name);
  }
  return out;
}

void print(const ModelOptions& options, const ProgramFacts& facts,
           const std::vector<Count>& counts, const std::optional<Cost>& cost) {
  fmt::print("{}: '{}', exported by PyTorch {}\n", options.file, facts.model,
             facts.torch_version);
  fmt::print("inputs\n");
  for (const std::string& input : facts.inputs) fmt::print("  {}\n", input);
  fmt::print("results\n");
  for (const std::string& output : facts.outputs) fmt::print("  {}\n", output);
  fmt::print("tensors\n");
  for (const auto& [kind, sum] : held_of(facts)) {
    fmt::print(
        "  {:<10} {:>5}, {:>12} elements, {}{}\n", kind + "s", sum.tensors,
        sum.elements, bytes_text(sum.bytes),
        kind == "parameter" ? fmt::format(", {} trained", sum.trained) : "");
  }
  if (cost) {
    fmt::print(
        "a call with the sizes of the export\n  {:.3f} GFLOPs\n  {} of memory "
        "at once, beside tensors and inputs, without gradients\n",
        static_cast<double>(cost->flops) * 1e-9, bytes_text(cost->peak_bytes));
  } else {
    fmt::print("FLOPs and memory: not known without running it\n");
  }
  fmt::print("operators: {} calls of {}\n", facts.nodes.size(), counts.size());
  for (const Count& count : counts) {
    fmt::print("  {:>5}  {}\n", count.calls, count.name);
  }
}

int print_missing(const std::vector<Count>& counts) {
  int missing = 0;
  for (const Count& count : counts) {
    if (count.is_known) continue;
    const std::string nearest = nearest_of(count.name);
    fmt::print("{}no operator {} ({} calls){}\n",
               missing++ == 0 ? "missing\n  " : "  ", count.name, count.calls,
               nearest.empty() ? "" : ": did you mean '" + nearest + "'?");
  }
  return missing;
}

}  // namespace

int describe_model(const ModelOptions& options) {
  const ProgramFacts facts = describe_program(options.file, options.model);
  const std::vector<Count> counts = counts_of(facts);
  const bool whole = std::all_of(counts.begin(), counts.end(),
                                 [](const Count& c) { return c.is_known; });
  if (!options.picture.empty()) draw_model(facts, options.picture);
  const auto cost = whole ? cost_of(options, facts) : std::nullopt;
  if (options.json) {
    fmt::print("{}\n", dump(json_of(facts, counts, cost), 1));
    return whole ? 0 : 1;
  }
  print(options, facts, counts, cost);
  return print_missing(counts) == 0 ? 0 : 1;
}

}  // namespace sy::tools
