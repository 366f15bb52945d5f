#include "tools/sy/trials.h"

#include "c10/error.h"

namespace sy::tools {

namespace {

class Replays final : public Trials {
 public:
  Replays(OperatorHandle op, const CaseFile& file,
          const CaseRunner::Options& options)
      : file_(file), runner_(op, file, options) {}
  size_t size() const override { return file_.cases.size(); }
  std::string id(size_t i) const override { return file_.cases[i].id; }
  CaseResult run(size_t i) const override {
    return runner_.run(file_.cases[i]);
  }

 private:
  const CaseFile& file_;
  CaseRunner runner_;
};

}  // namespace

CaseResult CallTrials::run(size_t i) const {
  CaseResult result;
  result.non_empty = true;
  try {
    result.why = problem(i, &result.note);
  } catch (...) {
    result.why = current_exception_text();
  }
  return result;
}

TrialKind trial_kind_of(const std::string& name) {
  if (name == "replay") return TrialKind::Replay;
  if (name == "hostile") return TrialKind::Hostile;
  if (name == "starved") return TrialKind::Starved;
  if (name == "threaded") return TrialKind::Threaded;
  if (name == "described") return TrialKind::Described;
  SY_CHECK(name == "agreed", Value, "no kind of trial is named ", name);
  return TrialKind::Agreed;
}

std::unique_ptr<Trials> make_trials(TrialKind kind, OperatorHandle op,
                                    const CaseFile& file,
                                    const CaseRunner::Options& options) {
  SY_CHECK(kind == TrialKind::Replay || options.device.is_cpu(), Value,
           "only recorded calls are made on ", options.device);
  if (kind == TrialKind::Replay) {
    return std::make_unique<Replays>(op, file, options);
  }
  return call_trials(kind, op,
                     recorded_calls(op, file, kind == TrialKind::Hostile));
}

std::unique_ptr<Trials> call_trials(TrialKind kind, OperatorHandle op,
                                    std::shared_ptr<const Calls> calls) {
  switch (kind) {
    case TrialKind::Hostile: return hostile_trials(op, std::move(calls));
    case TrialKind::Starved: return starved_trials(op, std::move(calls));
    case TrialKind::Threaded: return threaded_trials(op, std::move(calls));
    case TrialKind::Described: return described_trials(op, std::move(calls));
    case TrialKind::Agreed: return agreed_trials(op, std::move(calls));
    case TrialKind::Replay: break;
  }
  fail(ErrorKind::Internal, "only recorded cases can be replayed");
}

}  // namespace sy::tools
