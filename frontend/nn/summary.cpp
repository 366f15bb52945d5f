#include "frontend/nn/summary.h"

#include <algorithm>
#include <ostream>
#include <unordered_map>
#include <unordered_set>

#include "c10/dispatch/thread_state.h"
#include "frontend/nn/flops.h"

namespace sy::nn {

namespace detail {

struct SummaryRun::State {
  // A module that is running, and what was counted before it.
  struct Running {
    const Module* module;
    int64_t flops;
  };

  std::vector<std::pair<std::string, Module*>> modules;
  std::unordered_map<const Module*, Summary::Row> rows;
  std::vector<Running> running;
  std::vector<HookHandle> hooks;
  NoGradGuard no_grad;
  FlopCounter flops;

  ~State() {
    for (HookHandle& h : hooks) h.remove();
  }
};

namespace {

void add_tensors_of(const Module& m, Summary::Row* row) {
  for (const Tensor& t : m.parameters()) {
    row->parameters += t.numel();
    if (t.requires_grad()) row->trained += t.numel();
    row->bytes += t.numel() * t.element_size();
  }
  for (const Tensor& t : m.buffers()) {
    row->bytes += t.numel() * t.element_size();
  }
}

}  // namespace

SummaryRun::SummaryRun(Module& model) : state_(std::make_unique<State>()) {
  State* const s = state_.get();
  for (const auto& [path, m] : model.named_modules()) {
    Summary::Row& row = s->rows[m.get()];
    row.path = path;
    row.type = m->name();
    add_tensors_of(*m, &row);
    s->modules.emplace_back(path, m.get());
    s->hooks.push_back(
        m->register_forward_pre_hook([s](Module& module, std::vector<Tensor>&) {
          s->running.push_back({&module, s->flops.count()});
        }));
    s->hooks.push_back(m->register_forward_hook(
        [s](Module& module, TensorList, std::vector<Tensor>& outputs) {
          Summary::Row& r = s->rows[&module];
          ++r.calls;
          r.outputs.clear();
          for (const Tensor& t : outputs) {
            r.outputs.push_back(t.defined() ? to_string(t.sizes()) : "none");
          }
          // A call that threw has left its entry.
          while (s->running.back().module != &module) s->running.pop_back();
          r.flops += s->flops.count() - s->running.back().flops;
          s->running.pop_back();
        }));
  }
}

SummaryRun::~SummaryRun() = default;

Summary SummaryRun::finish() {
  Summary result;
  for (const auto& [path, m] : state_->modules) {
    result.rows.push_back(state_->rows[m]);
  }
  return result;
}

}  // namespace detail

namespace {

// 1234567 as 1,234,567.
std::string grouped(int64_t n) {
  const std::string digits = std::to_string(n);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string outputs_of(const Summary::Row& r) {
  if (r.calls == 0) return "-";
  std::string text;
  for (const std::string& o : r.outputs) {
    text += (text.empty() ? "" : " ") + o;
  }
  return r.calls > 1 ? str("{} x {}", r.calls, text) : text;
}

std::string label_of(const Summary::Row& r) {
  if (r.path.empty()) return r.type;
  const auto depth =
      static_cast<size_t>(std::count(r.path.begin(), r.path.end(), '.'));
  const std::string name = r.path.substr(r.path.rfind('.') + 1);
  return std::string(2 * depth + 2, ' ') + name + " (" + r.type + ")";
}

}  // namespace

std::string Summary::table() const {
  using Line = std::vector<std::string>;
  std::vector<Line> lines{{"module", "output", "parameters", "bytes", "FLOPs"}};
  for (const Row& r : rows) {
    lines.push_back({label_of(r), outputs_of(r), grouped(r.parameters),
                     grouped(r.bytes), grouped(r.flops)});
  }
  std::vector<size_t> widths(lines[0].size());
  for (const Line& line : lines) {
    for (size_t c = 0; c < line.size(); ++c) {
      widths[c] = std::max(widths[c], line[c].size());
    }
  }
  std::string text;
  for (const Line& line : lines) {
    for (size_t c = 0; c < line.size(); ++c) {
      const std::string gap(widths[c] - line[c].size(), ' ');
      // Words to the left, numbers to the right.
      text += c < 2 ? line[c] + gap : gap + line[c];
      text += c + 1 < line.size() ? "  " : "\n";
    }
  }
  if (!rows.empty()) {
    const Row& all = rows[0];
    text += str("{} of {} parameters require a gradient\n",
                grouped(all.trained), grouped(all.parameters));
  }
  return text;
}

std::ostream& operator<<(std::ostream& stream, const Summary& summary) {
  return stream << summary.table();
}

}  // namespace sy::nn
