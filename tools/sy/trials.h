#pragma once

#include <memory>
#include <string>
#include <vector>

#include "c10/dispatcher.h"
#include "tools/sy/case_file.h"
#include "tools/sy/case_runner.h"

namespace sy::tools {

// Calls of one operator that a worker makes one after another, made of its
// recorded cases. The same each time for the same file.
class Trials {
 public:
  virtual ~Trials() = default;
  virtual size_t size() const = 0;
  virtual std::string id(size_t i) const = 0;
  // Throws nothing: what is wrong is a failure of the trial.
  virtual CaseResult run(size_t i) const = 0;
};

// One trial for each case that succeeds.
class CallTrials : public Trials {
 public:
  CallTrials(OperatorHandle op, const CaseFile& file);
  size_t size() const final { return cases_.size(); }
  std::string id(size_t i) const final { return cases_[i]->id; }

 protected:
  OperatorHandle op() const { return op_; }
  const Case& at(size_t i) const { return *cases_[i]; }
  // Fresh ones, on the CPU.
  Arguments arguments(const Case& c) const;

 private:
  OperatorHandle op_;
  const CaseFile& file_;
  std::vector<const Case*> cases_;
};

enum class TrialKind {
  Replay,    // the cases themselves
  Hostile,   // with one argument changed: a result, or an error that names it
  Starved,   // with each allocation failing in turn
  Threaded,  // by one thread and by several, with the same results
};

// Throws ValueError for a kind without that name.
TrialKind trial_kind_of(const std::string& name);

// `file` outlives the trials. Throws Error if its cases cannot be called.
std::unique_ptr<Trials> make_trials(TrialKind kind, OperatorHandle op,
                                    const CaseFile& file,
                                    const CaseRunner::Options& options);

// Each kind but the first is for tensors on the CPU.
std::unique_ptr<Trials> hostile_trials(OperatorHandle op, const CaseFile& file);
std::unique_ptr<Trials> starved_trials(OperatorHandle op, const CaseFile& file);
std::unique_ptr<Trials> threaded_trials(OperatorHandle op,
                                        const CaseFile& file);

}  // namespace sy::tools
