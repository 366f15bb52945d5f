#include "tools/sy/trials/trials.h"

#include <algorithm>

#include "c10/process/error.h"
#include "tools/sy/support/exception_text.h"

namespace sy::tools {

namespace {

class Replays final : public Trials {
 public:
  Replays(OperatorHandle op, const CaseFile& file,
          const CaseRunner::Options& options)
      : op_(op), file_(file), runner_(op, file, options) {}
  size_t size() const override { return file_.cases.size(); }
  std::string id(size_t i) const override { return file_.cases[i].id; }
  CaseResult run(size_t i) const override {
    return runner_.run(file_.cases[i]);
  }
  Arguments arguments(size_t i) const override {
    return bind_arguments(op_.schema(), file_.cases[i], file_.storages,
                          Device(kCPU));
  }

 private:
  OperatorHandle op_;
  const CaseFile& file_;
  CaseRunner runner_;
};

class Few final : public Trials {
 public:
  Few(std::vector<size_t> chosen, std::unique_ptr<Trials> all)
      : chosen_(std::move(chosen)), all_(std::move(all)) {}
  size_t size() const override { return chosen_.size(); }
  std::string id(size_t i) const override { return all_->id(chosen_[i]); }
  CaseResult run(size_t i) const override { return all_->run(chosen_[i]); }
  Arguments arguments(size_t i) const override {
    return all_->arguments(chosen_[i]);
  }

 private:
  std::vector<size_t> chosen_;
  std::unique_ptr<Trials> all_;
};

}  // namespace

CaseResult CallTrials::run(size_t i) const {
  CaseResult result;
  result.non_empty = true;
  try {
    result.why = problem(i, result);
  } catch (...) {
    result.why = current_exception_text();
  }
  if (!result.skipped.empty()) result.non_empty = false;
  return result;
}

TrialKind trial_kind_of(const std::string& name) {
  if (name == "replay") return TrialKind::Replay;
  if (name == "hostile") return TrialKind::Hostile;
  if (name == "starved") return TrialKind::Starved;
  if (name == "threaded") return TrialKind::Threaded;
  if (name == "described") return TrialKind::Described;
  if (name == "strided") return TrialKind::Strided;
  if (name == "aliased") return TrialKind::Aliased;
  if (name == "compiled") return TrialKind::Compiled;
  SY_CHECK(name == "agreed", Value, "no kind of trial is named {}", name);
  return TrialKind::Agreed;
}

std::unique_ptr<Trials> make_trials(TrialKind kind, OperatorHandle op,
                                    const CaseFile& file,
                                    const CaseRunner::Options& options) {
  if (kind == TrialKind::Replay) {
    return std::make_unique<Replays>(op, file, options);
  }
  if (kind == TrialKind::Hostile) {
    return hostile_trials(op, recorded_calls(op, file, true), options.device);
  }
  SY_CHECK(options.device.is_cpu(), Value,
           "only recorded and hostile calls are made on {}", options.device);
  return call_trials(kind, op, recorded_calls(op, file, false));
}

std::unique_ptr<Trials> call_trials(TrialKind kind, OperatorHandle op,
                                    std::shared_ptr<const Calls> calls) {
  switch (kind) {
    case TrialKind::Hostile: return hostile_trials(op, std::move(calls));
    case TrialKind::Starved: return starved_trials(op, std::move(calls));
    case TrialKind::Threaded: return threaded_trials(op, std::move(calls));
    case TrialKind::Described: return described_trials(op, std::move(calls));
    case TrialKind::Strided: return strided_trials(op, std::move(calls));
    case TrialKind::Aliased: return aliased_trials(op, std::move(calls));
    case TrialKind::Compiled: return compiled_trials(op, std::move(calls));
    case TrialKind::Agreed: return agreed_trials(op, std::move(calls));
    case TrialKind::Replay: break;
  }
  fail(ErrorKind::Internal, "only recorded cases can be replayed");
}

std::unique_ptr<Trials> few_trials(std::unique_ptr<Trials> all) {
  const size_t n = all->size();
  if (n <= 3) return all;
  return std::make_unique<Few>(std::vector<size_t>{0, n / 2, n - 1},
                               std::move(all));
}

std::unique_ptr<Trials> few_trials(const CaseFile& file,
                                   std::unique_ptr<Trials> all) {
  std::vector<size_t> succeed, chosen;
  for (size_t i = 0; i < file.cases.size(); ++i) {
    if (!file.cases[i].fails) succeed.push_back(i);
  }
  if (!succeed.empty()) {
    chosen = {succeed.front(), succeed[succeed.size() / 2], succeed.back()};
  }
  for (size_t i = 0; i < file.cases.size(); ++i) {
    if (!file.cases[i].fails) continue;
    chosen.push_back(i);
    break;
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return std::make_unique<Few>(std::move(chosen), std::move(all));
}

}  // namespace sy::tools
