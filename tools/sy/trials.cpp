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

CallTrials::CallTrials(OperatorHandle op, const CaseFile& file)
    : op_(op), file_(file) {
  for (const Case& c : file.cases) {
    if (!c.fails) cases_.push_back(&c);
  }
}

Arguments CallTrials::arguments(const Case& c) const {
  return bind_arguments(op_.schema(), c, file_.storages, Device(kCPU));
}

TrialKind trial_kind_of(const std::string& name) {
  if (name == "replay") return TrialKind::Replay;
  if (name == "hostile") return TrialKind::Hostile;
  if (name == "starved") return TrialKind::Starved;
  SY_CHECK(name == "threaded", Value, "no kind of trial is named ", name);
  return TrialKind::Threaded;
}

std::unique_ptr<Trials> make_trials(TrialKind kind, OperatorHandle op,
                                    const CaseFile& file,
                                    const CaseRunner::Options& options) {
  SY_CHECK(kind == TrialKind::Replay || options.device.is_cpu(), Value,
           "only recorded calls are made on ", options.device);
  switch (kind) {
    case TrialKind::Hostile: return hostile_trials(op, file);
    case TrialKind::Starved: return starved_trials(op, file);
    case TrialKind::Threaded: return threaded_trials(op, file);
    case TrialKind::Replay: break;
  }
  return std::make_unique<Replays>(op, file, options);
}

}  // namespace sy::tools
