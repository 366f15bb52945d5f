#include "tools/sy/prove/prove.h"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "autograd/gradcheck.h"
#include "c10/process/error.h"
#include "runtime/load_schema.h"
#include "tools/sy/calls/claims.h"
#include "tools/sy/calls/examples.h"
#include "tools/sy/calls/words.h"
#include "tools/sy/cases/compare.h"
#include "tools/sy/device/device_trials.h"
#include "tools/sy/prove/associative.h"
#include "tools/sy/prove/excuses.h"
#include "tools/sy/prove/schema_texts.h"
#include "tools/sy/prove/special_points.h"
#include "tools/sy/support/alone.h"
#include "tools/sy/support/names.h"
#include "tools/sy/trials/trials.h"

namespace sy::tools {

namespace {

constexpr unsigned kSeconds = 120;  // for one operator
constexpr int kNotProven = 3;       // an exit status

constexpr const char* kKinds[] = {"agreed",   "described", "strided", "aliased",
                                  "threaded", "starved",   "hostile"};

// The end of the line of an operator whose results record no gradient.
constexpr char kNoGradient[] = "  gradient none";

struct Report {
  std::string line;      // what was done
  std::string problems;  // what is wrong, a line each
  std::string unfit;     // why the arguments prove nothing
  std::string unproven;  // what could not be tried
};

// The facts that a proof of an operator takes besides its arguments.
struct Known {
  const Excused& excused;
  Hints hints;
  std::string no_derivative;  // why it has none
  std::string device;         // a plugin's, or ""
};

bool has_elements(const Value& v) {
  bool any = false, some = false;
  for_each_tensor(v, [&](const TensorBase& t) {
    any = true;
    some |= t.defined() && t.numel() > 0;
  });
  return some || !any;
}

bool has_nan(const Value& v) {
  bool found = false;
  for_each_tensor(v, [&](const TensorBase& t) {
    const HostTensor h = read_tensor(t);
    for (const int64_t i : element_indices(h.sizes, h.strides, h.offset)) {
      const double e = element_value(h, i);
      found |= e != e;
    }
  });
  return found;
}

// Why a call with these words says little of the operator; "" if it does.
std::string unfit(OperatorHandle op, const std::string& words) {
  std::vector<Value> results;
  const std::vector<Value> args = parse_arguments(op, words);
  try {
    results = call_with(op, args);
  } catch (const InternalError&) {
    throw;
  } catch (const Error& e) {
    std::string why(e.message());
    std::replace(why.begin(), why.end(), '\n', ' ');
    return why;
  }
  for (const Value& v : results) {
    if (has_nan(v)) return "the result has NaN";
  }
  const auto none = [](const std::vector<Value>& values) {
    return !values.empty() &&
           std::none_of(values.begin(), values.end(), has_elements);
  };
  if (none(results)) return "the result has no elements";
  return "";
}

// Whether a trial is to be left out; says so if it is.
bool leave_out(const Excused& excused, const char* trial, Report* out) {
  if (!excused.contains(trial)) return false;
  out->line += str("  {} excused", trial);
  return true;
}

void prove_trials(OperatorHandle op, const std::string& words,
                  const Excused& excused, Report* out) {
  std::shared_ptr<const Calls> calls = made_calls(op, words);
  for (const char* kind : kKinds) {
    if (leave_out(excused, kind, out)) continue;
    const auto trials = call_trials(trial_kind_of(kind), op, calls);
    size_t failed = 0;
    for (size_t i = 0; i < trials->size(); ++i) {
      const CaseResult r = trials->run(i);
      if (r.why.empty()) continue;
      if (++failed > 3) continue;
      out->problems += str("  {}, {}: {}\n", kind, trials->id(i), r.why);
    }
    if (failed > 3) {
      out->problems += str("  {}: and {} more\n", kind, failed - 3);
    }
    out->line += str("  {} {}", kind, trials->size());
  }
}

// The fault of the first or of the second order; "" if it is right.
std::string gradient_problem(OperatorHandle op, const std::vector<Value>& args,
                             bool second_order) {
  autograd::GradcheckOptions options;
  options.second_order = second_order;
  try {
    return autograd::gradcheck_op(op, args.data(), args.size(), options)
        .problem;
  } catch (const NotImplementedError& e) {
    return str("it is missing: {}", e.message());
  }
}

// Whether a gradient is recorded that throws when it is wanted.
bool throws_in_backward(OperatorHandle op, const std::vector<Value>& args) {
  try {
    autograd::gradcheck_op(op, args.data(), args.size());
    return false;
  } catch (const NotImplementedError&) {
    return true;
  }
}

bool records_gradient(OperatorHandle op, const std::vector<Value>& args) {
  bool recorded = false;
  for (const Value& v : call_with(op, args)) {
    for_each_tensor(v, [&](const TensorBase& t) {
      recorded |= t.defined() && Tensor(t).requires_grad();
    });
  }
  return recorded;
}

// Results that record no gradient must not depend on the arguments.
void prove_constant(OperatorHandle op, const std::vector<Value>& args,
                    const Known& known, Report* out) {
  if (!known.no_derivative.empty()) {
    out->line += str("  gradient none, because {}", known.no_derivative);
    return;
  }
  if (leave_out(known.excused, "constant", out)) return;
  const PointsReport points = prove_points(op, args, known.hints, 0);
  out->problems += points.problems;
  if (!points.problems.empty()) {
    out->problems +=
        "  write 'derivative:' as a formula, or a reason: 'none, because …' or "
        "'non_differentiable, because …'\n";
  }
  out->line += kNoGradient;
}

void prove_at_points(OperatorHandle op, const std::vector<Value>& args,
                     const Known& known, Report* out) {
  const auto excused = [&](const char* trial) {
    return known.excused.contains(trial);
  };
  const int orders = excused("second") || excused("orders") ? 1
                     : excused("third")                     ? 2
                                                            : 3;
  if (!leave_out(known.excused, "points", out)) {
    const PointsReport points = prove_points(op, args, known.hints, orders);
    out->line += str("  points {}", points.tried);
    out->problems += points.problems;
  }
  if (!leave_out(known.excused, "values", out)) {
    const PointsReport values = prove_values(op, args, known.hints, 1);
    out->line += str("  values {}", values.tried);
    out->problems += values.problems;
  }
}

bool any_argument(const std::vector<Value>& args,
                  bool (*fits)(const TensorBase&)) {
  bool found = false;
  for (const Value& v : args) {
    for_each_tensor(
        v, [&](const TensorBase& t) { found |= t.defined() && fits(t); });
  }
  return found;
}

// Calls that ask for no gradient: their tensors of floats are all as `2x3!`.
bool asks_nothing(const std::vector<Value>& args) {
  return any_argument(args,
                      [](const TensorBase& t) {
                        return is_floating_type(t.scalar_type());
                      }) &&
         !any_argument(args, [](const TensorBase& t) {
           return Tensor(t).requires_grad();
         });
}

void prove_gradients(OperatorHandle op, const std::string& words,
                     const Known& known, Report* out) {
  const std::vector<Value> args = parse_arguments(op, words);
  const bool has_derivative = op.entry().has_flag(OperatorDef::kDifferentiable);
  if (has_derivative && asks_nothing(args)) {
    if (!leave_out(known.excused, "gradient", out)) {
      out->unproven = "the gradient: no argument of the example asks for one";
    }
    out->line += kNoGradient;
    return;
  }
  const bool says_none = !known.no_derivative.empty();
  if (!has_derivative || !records_gradient(op, args) ||
      (says_none && throws_in_backward(op, args))) {
    return prove_constant(op, args, known, out);
  }
  if (says_none) {
    out->problems +=
        "  it says 'derivative: none', and its result records a gradient\n";
    return;
  }
  for (const char* order : {"gradient", "second"}) {
    if (leave_out(known.excused, order, out)) break;
    const std::string why =
        gradient_problem(op, args, std::string_view(order) == "second");
    out->line += str("  {}", order);
    if (why.empty()) continue;
    out->problems += str("  {}: {}\n", order, why);
    return;  // other points would say the same
  }
  if (!known.excused.contains("gradient"))
    prove_at_points(op, args, known, out);
}

void prove_associative(OperatorHandle op, const std::string& words,
                       const Excused& excused, Report* out) {
  if (leave_out(excused, "associative", out)) return;
  bool tried = false;
  const std::string why =
      combine_problem(op, parse_arguments(op, words), &tried);
  if (tried) out->line += "  associative";
  if (!why.empty()) out->problems += str("  associative: {}\n", why);
}

// Compares with the results and gradients of the CPU.
void prove_on_device(OperatorHandle op, const std::string& words,
                     const Known& known, Report* out) {
  if (known.device.empty() || leave_out(known.excused, "device", out)) return;
  std::unique_ptr<Trials> trials;
  try {
    trials = made_trials(op, device_of_tensors(known.device), "", words,
                         nullptr, true);
  } catch (const InternalError&) {
    throw;
  } catch (const Error& e) {
    out->unproven += str("{}on {}: {}", out->unproven.empty() ? "" : "; ",
                         known.device, e.message());
    return;
  }
  size_t failed = 0;
  for (size_t i = 0; i < trials->size(); ++i) {
    const CaseResult r = trials->run(i);
    if (r.why.empty() || ++failed > 3) continue;
    out->problems +=
        str("  on {}, {}: {}\n", known.device, trials->id(i), r.why);
  }
  out->line += str("  {} {}", known.device, trials->size());
}

Report prove(OperatorHandle op, const std::string& words, const Known& known) {
  Report out;
  try {
    if (!leave_out(known.excused, "fit", &out)) out.unfit = unfit(op, words);
    if (!out.unfit.empty()) return out;
    prove_trials(op, words, known.excused, &out);
    prove_associative(op, words, known.excused, &out);
    prove_gradients(op, words, known, &out);
    prove_on_device(op, words, known, &out);
  } catch (const std::exception& e) {
    out.problems += str("  {}\n", e.what());
  }
  return out;
}

// The text in one line.
std::string flat(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// A process that proves an operator, and may crash.
struct Child {
  std::string name;
  pid_t pid;
  int answer;
  bool known = false;  // its arguments are an author's
};

Child start(const std::string& name, OperatorHandle op,
            const std::string& words, const Known& known) {
  int ends[2];
  SY_CHECK(pipe(ends) == 0, Error, "prove: no pipe: {}", std::strerror(errno));
  const pid_t pid = fork();
  SY_CHECK(pid >= 0, Error, "prove: no process: {}", std::strerror(errno));
  if (pid == 0) {
    close(ends[0]);
    alarm(kSeconds);
    const Alone alone;
    const Report r = prove(op, words, known);
    const std::string text = str("{}\n{}\n{}\n{}", r.line, flat(r.unfit),
                                 flat(r.unproven), r.problems);
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t n = write(ends[1], text.data() + done, text.size() - done);
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    // No destructors run: their end must not look like a crash of a call.
    _exit(0);
  }
  close(ends[1]);
  return {name, pid, ends[0], false};
}

Report finish(const Child& child) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(child.answer, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  close(child.answer);
  int status = 0;
  waitpid(child.pid, &status, 0);
  Report out;
  for (std::string* field : {&out.line, &out.unfit, &out.unproven}) {
    const size_t end = text.find('\n');
    *field = text.substr(0, end);
    text.erase(0, end == text.npos ? end : end + 1);
  }
  out.problems = text;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    out.problems += signal == SIGALRM
                        ? str("  takes more than {} seconds\n", kSeconds)
                        : str("  ends with {}\n", strsignal(signal));
  } else if (WEXITSTATUS(status) != 0) {
    out.problems += str("  ends with status {}\n", WEXITSTATUS(status));
  }
  return out;
}

class Proof {
 public:
  Proof(const ProveOptions& options, std::string device)
      : options_(options),
        device_(std::move(device)),
        excuses_(options.except),
        examples_(read_examples(options.examples)),
        no_derivatives_(read_no_derivatives(options.examples)),
        texts_(options.schemas) {}

  void add(const std::string& name, OperatorHandle op) {
    const Excused excused = excuses_.of(name);
    if (excused.contains("")) {
      ++excused_;
      return;
    }
    const auto example = examples_.find(name);
    const bool known = !options_.words.empty() || example != examples_.end();
    const Known facts{excused, texts_.hints(name), no_derivative(name),
                      device_};
    if (!known && !signature_suffices(op)) return add_unknown(name);
    if (running_.size() >= static_cast<size_t>(options_.jobs)) next();
    const std::string& words =
        options_.words.empty() && known ? example->second : options_.words;
    running_.push_back(start(name, op, words, facts));
    running_.back().known = known;
  }

  // The exit status.
  int end() {
    while (!running_.empty()) next();
    for (const std::string& name : unknown_) {
      fmt::print("{}  needs --args\n", name);
    }
    for (const std::string& text : unproven_) {
      fmt::print("not proven: {}\n", text);
    }
    if (!no_gradient_.empty()) {
      fmt::print("no gradient is checked, as no result records one, of:{}\n",
                 no_gradient_);
    }
    const std::vector<std::string> unused = excuses_.unused();
    for (const std::string& u : unused) {
      fmt::print("FAIL --except {}: it excuses nothing\n", u);
    }
    fmt::print(
        "{}, {} {}, {} {}{}\n",
        proven_ == 1 ? "1 operator holds" : str("{} operators hold", proven_),
        failed_, failed_ == 1 ? "does not" : "do not", unknown_.size(),
        unknown_.size() == 1 ? "needs --args" : "need --args",
        excused_ == 0   ? ""
        : excused_ == 1 ? ", 1 is excused"
                        : str(", {} are excused", excused_));
    if (failed_ != 0 || !unused.empty()) return 1;
    if (!unknown_.empty() || !unproven_.empty()) return kNotProven;
    return proven_ != 0 ? 0 : 1;
  }

 private:
  // Why the operator has none, by its schema; "" if that says nothing.
  std::string no_derivative(const std::string& name) const {
    std::string own = texts_.no_derivative(name);
    if (!own.empty()) return own;
    const auto known = no_derivatives_.find(name);
    return known == no_derivatives_.end() ? "" : known->second;
  }

  void next() {
    const Child child = running_.front();
    running_.pop_front();
    const Report r = finish(child);
    if (!r.unfit.empty() && !child.known) return add_unknown(child.name);
    const bool holds = r.problems.empty() && r.unfit.empty();
    fmt::print("{}{}{}\n{}{}", holds ? "" : "FAIL ", child.name, r.line,
               r.problems, r.unfit.empty() ? "" : str("  {}\n", r.unfit));
    std::fflush(stdout);
    ++(holds ? proven_ : failed_);
    if (!r.unproven.empty()) {
      unproven_.push_back(str("{}: {}", child.name, r.unproven));
    }
    if (r.line.ends_with(kNoGradient)) no_gradient_ += " " + child.name;
  }

  void add_unknown(const std::string& name) { unknown_.push_back(name); }

  const ProveOptions& options_;
  std::string device_;
  Excuses excuses_;
  ExampleWords examples_, no_derivatives_;
  SchemaTexts texts_;
  std::deque<Child> running_;
  std::vector<std::string> unknown_, unproven_;
  std::string no_gradient_;
  size_t proven_ = 0, failed_ = 0, excused_ = 0;
};

}  // namespace

int run_prove(const ProveOptions& options) {
  init();
  // A library may have kernels for the operators of a file, not the reverse.
  for (const std::string& file : options.schemas) load_schema(file).keep();
  const std::vector<Plugin> plugins = load_plugins(options.plugins);
  const std::string device = choose_device(plugins, "");
  Proof proof(options, device == "cpu" ? "" : device);
  bool found = false;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    std::string name = short_name(op.name());
    if (!matches(options.glob, name) || !op.schema().is_functional()) continue;
    found = true;
    proof.add(name, op);
  }
  SY_CHECK(found, Value, "no functional operator fits {}", options.glob);
  return proof.end();
}

}  // namespace sy::tools
