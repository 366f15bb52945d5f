#include "tools/sy/facts/facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "aten/tensor.h"
#include "c10/dispatch/introspect.h"
#include "c10/memory/allocator.h"
#include "c10/process/error.h"
#include "codegen/text.h"
#include "runtime/load_schema.h"
#include "tools/sy/calls/claims.h"
#include "tools/sy/calls/words.h"
#include "tools/sy/facts/curves.h"
#include "tools/sy/facts/errors.h"
#include "tools/sy/facts/example.h"
#include "tools/sy/facts/flow.h"
#include "tools/sy/facts/page_words.h"
#include "tools/sy/inspect/dtypes.h"
#include "tools/sy/support/alone.h"
#include "tools/sy/support/child.h"
#include "tools/sy/support/names.h"

namespace sy::tools {

namespace {

constexpr unsigned kSeconds = 20;  // for the operators of one process
constexpr size_t kTogether = 64;   // so many
constexpr int64_t kMemory = int64_t{256} << 20;

std::string base_of(OperatorHandle op) {
  const std::string name = short_name(op.name());
  const size_t at = name.find("::");
  return name.substr(0, name.find('.', at == name.npos ? 0 : at));
}

// "schemas/ops/activation.yaml:116" is ("schemas/ops/activation.yaml", 116).
std::pair<std::string, int> place_of(OperatorHandle op) {
  const OperatorInfo* const info = op.entry().info();
  const std::string source = info == nullptr ? "" : info->source;
  const size_t colon = source.rfind(':');
  if (colon == source.npos) return {source, 0};
  return {source.substr(0, colon), std::atoi(source.c_str() + colon + 1)};
}

// The words of an operator's example. Operators that only write show the words
// of those that return.
std::string words_for(OperatorHandle op, const ExampleWords& examples) {
  const std::string name = short_name(op.name());
  auto found = examples.find(name);
  if (found == examples.end() && op.schema().is_inplace()) {
    const OperatorName& n = op.schema().name();
    const std::string overload(n.overload.view());
    found = examples.find(n.functional_name() +
                          (overload.empty() ? "" : "." + overload));
  }
  return found == examples.end() ? shown_words(name) : found->second;
}

struct Subject {
  std::string name;
  std::vector<OperatorHandle> overloads;
};

// The overload that has none in its name first, `vec` last: C++ takes its calls
// for those of another.
int rank_of(OperatorHandle op) {
  const std::string_view overload = op.schema().name().overload.view();
  return overload.empty() ? 0 : overload == "vec" ? 2 : 1;
}

// The operators by base name, those of one by rank and in the order of their
// file. Forms of others, which stand at the same place of a file, are left out.
std::vector<Subject> subjects(const std::string& glob) {
  const std::vector<OperatorHandle> all = Dispatcher::singleton().operators();
  std::map<std::string, std::vector<OperatorHandle>> bases;
  std::set<std::pair<std::string, int>> places;
  for (const OperatorHandle op : all) {
    if (!op.schema().is_functional()) continue;
    bases[base_of(op)].push_back(op);
    places.insert(place_of(op));
  }
  for (const OperatorHandle op : all) {
    const bool writes = !op.schema().is_functional() && !op.schema().is_out();
    if (writes && place_of(op).second != 0 && !places.contains(place_of(op))) {
      bases[base_of(op)].push_back(op);
    }
  }
  std::vector<Subject> out;
  for (auto& [name, ops] : bases) {
    if (!glob.empty() && !matches(glob, name)) continue;
    std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) {
      return std::tuple(rank_of(a), place_of(a)) <
             std::tuple(rank_of(b), place_of(b));
    });
    out.push_back({name, std::move(ops)});
  }
  SY_CHECK(!out.empty(), Value, "no operator fits {}", glob);
  return out;
}

// Calls f(). The signature and the words may suggest arguments that make no
// call.
template <class F>
void attempt(const F& f) {
  try {
    f();
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
  }
}

Json dispatch_rows(OperatorHandle op) {
  Json out = Json::array();
  for (const DispatchInfo& d : dispatch_of(op)) {
    using Route = DispatchInfo::Route;
    if (d.route == Route::Fallthrough) continue;
    if (d.route == Route::Missing) {
      out.push_back({d.key, route_name(d.route), ""});
      continue;
    }
    out.push_back({d.key, str("{}: {}", route_name(d.route), d.kernel.key),
                   kernel_place(d.kernel, "")});
  }
  return out;
}

// An overload and the words of its example.
using Callable = std::pair<OperatorHandle, std::string>;

// The curves of the first operator that has any. Operators of one tensor that
// begins come first, then others of one tensor, the simplest first; then
// operators of two, if it is the one that is shown or works on numbers.
Json curves_among(const std::vector<Callable>& callable,
                  OperatorHandle speaker) {
  std::vector<Callable> ranks[3];
  for (const Callable& c : callable) {
    const auto args = c.first.schema().arguments();
    const auto tensors = std::count_if(
        args.begin(), args.end(),
        [](const Argument& a) { return a.type == TypeKind::kTensor; });
    const OperatorInfo* const info = c.first.entry().info();
    if (tensors == 1) {
      ranks[args[0].type == TypeKind::kTensor ? 0 : 1].push_back(c);
    } else if (tensors == 2 &&
               (c.first.name() == speaker.name() ||
                (info != nullptr && info->kind == OperatorInfo::kPointwise))) {
      ranks[2].push_back(c);
    }
  }
  Json out;
  for (auto& rank : ranks) {
    std::stable_sort(rank.begin(), rank.end(),
                     [](const auto& a, const auto& b) {
                       return a.first.schema().arguments().size() <
                              b.first.schema().arguments().size();
                     });
    for (const auto& c : rank) {
      if (!out.is_null()) return out;
      attempt([&] { out = curves_of(c.first, c.second); });
    }
  }
  return out;
}

}  // namespace

Json facts_of(const std::vector<OperatorHandle>& overloads,
              const ExampleWords& examples,
              const std::vector<Device>& devices) {
  std::vector<Callable> callable;
  for (const bool known : {true, false}) {
    for (const OperatorHandle op : overloads) {
      const std::string own = words_for(op, examples);
      if (own.empty() != known && (known || signature_suffices(op))) {
        callable.emplace_back(op, own);
      }
    }
  }
  Json out = Json::object();
  OperatorHandle speaker = overloads[0];
  std::string words;
  std::optional<FactsExample> best;
  for (const auto& [op, own] : callable) {
    std::optional<FactsExample> e;
    const std::string shown = shown_words(short_name(op.name()));
    attempt([&] { e = example_of(op, shown.empty() ? own : shown); });
    if (!e || (best && best->faults <= e->faults)) continue;
    best = std::move(e);
    speaker = op;
    words = own;
    if (best->faults == 0) break;
  }
  if (best) {
    out["example"] = {{"lines", best->call.lines},
                      {"call", codegen::wrap(best->text)},
                      {"output", best->output}};
    attempt([&] {
      const Json errors = errors_of(speaker, *best);
      if (!errors.empty()) out["errors"] = errors;
    });
    for (const Device device : devices) {
      attempt([&] {
        const auto ways = by_way(dtypes_of(speaker, words, device));
        if (!ways.empty()) out["dtypes"][str("{}", device)] = ways;
      });
    }
  }
  for (const auto& [op, own] : callable) {
    const std::string name = short_name(op.name()), shown = shown_words(name);
    attempt([&, &op = op, &own = own] {
      Json flow = flow_of(op, shown.empty() ? own : shown);
      if (!flow.is_null()) out["flows"][name] = std::move(flow);
    });
  }
  Json curves = curves_among(callable, speaker);
  if (!curves.is_null()) out["curves"] = std::move(curves);
  out["dispatch"] = dispatch_rows(speaker);
  return out;
}

int run_facts(const FactsOptions& options) {
  init();
  for (const std::string& file : options.schemas) load_schema(file).keep();
  const std::vector<Plugin> plugins = load_plugins(options.plugins);
  std::vector<Device> devices = {Device(kCPU)};
  for (const Plugin& p : plugins) {
    for (const std::string& d : p.devices) {
      devices.push_back(device_of_tensors(d));
    }
  }
  const ExampleWords examples = read_examples(options.examples);
  const std::vector<Subject> all = subjects(options.glob);

  Json out = {{"version", 1}, {"operators", Json::object()}};
  for (const Device d : devices) out["devices"].push_back(str("{}", d));
  // False if the process did not come to its end.
  const auto run = [&](size_t first, size_t last) {
    const ChildResult r = in_child(kSeconds, [&] {
      set_memory_limit(kMemory);
      const Alone alone;
      Json part = Json::object();
      for (size_t i = first; i < last; ++i) {
        part[all[i].name] = facts_of(all[i].overloads, examples, devices);
      }
      return dump(part);
    });
    if (r.status != 0) return false;
    out["operators"].update(parse_json(r.answer, "facts"));
    return true;
  };
  for (size_t i = 0; i < all.size(); i += kTogether) {
    const size_t end = std::min(all.size(), i + kTogether);
    if (run(i, end)) continue;
    for (size_t k = i; k < end; ++k) {
      if (run(k, k + 1)) continue;
      fmt::print(stderr, "sy facts: {} ends the process\n", all[k].name);
    }
  }
  const std::string text = dump(out) + "\n";
  if (options.out == "-") {
    std::fputs(text.c_str(), stdout);
  } else {
    write_file(options.out, text);
  }
  return 0;
}

}  // namespace sy::tools
