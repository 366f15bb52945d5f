#pragma once

#include <memory>
#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "tools/sy/calls/calls.h"
#include "tools/sy/cases/case_file.h"
#include "tools/sy/cases/case_runner.h"

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
  // The arguments of trial i, fresh, on the CPU. Throws Error.
  virtual Arguments arguments(size_t i) const = 0;
};

// One trial for each call.
class CallTrials : public Trials {
 public:
  CallTrials(OperatorHandle op, std::shared_ptr<const Calls> calls)
      : op_(op), calls_(std::move(calls)) {}
  size_t size() const final { return calls_->size(); }
  std::string id(size_t i) const final { return calls_->id(i); }
  CaseResult run(size_t i) const final;
  Arguments arguments(size_t i) const final { return calls_->arguments(i); }

 protected:
  // The fault of call i; "" if there is none. May throw, and set `note` and
  // `skipped` of the result.
  virtual std::string problem(size_t i, CaseResult& result) const = 0;

  OperatorHandle op() const { return op_; }
  const Calls& calls() const { return *calls_; }

 private:
  OperatorHandle op_;
  std::shared_ptr<const Calls> calls_;
};

enum class TrialKind {
  Replay,     // the cases themselves
  Hostile,    // with one argument changed: a result, or an error that names it
  Starved,    // with each allocation failing in turn
  Threaded,   // by one thread and by several, with the same results
  Described,  // as infer_results() and the operator's program say
  Agreed,     // all forms, layouts and floating dtypes give the same results
  Strided,    // strides on Meta and lazy are those of the CPU
  Aliased,    // with arguments that share memory with what is written
  Compiled,   // captured and replayed, with the same results
};

// Throws ValueError for a kind without that name.
TrialKind trial_kind_of(const std::string& name);

// `file` outlives the trials. Throws Error if its cases cannot be called.
std::unique_ptr<Trials> make_trials(TrialKind kind, OperatorHandle op,
                                    const CaseFile& file,
                                    const CaseRunner::Options& options);

// Trials of every kind but Replay.
std::unique_ptr<Trials> call_trials(TrialKind kind, OperatorHandle op,
                                    std::shared_ptr<const Calls> calls);

std::unique_ptr<Trials> hostile_trials(OperatorHandle op,
                                       std::shared_ptr<const Calls> calls,
                                       Device device = Device(kCPU));
std::unique_ptr<Trials> starved_trials(OperatorHandle op,
                                       std::shared_ptr<const Calls> calls);
std::unique_ptr<Trials> threaded_trials(OperatorHandle op,
                                        std::shared_ptr<const Calls> calls);
std::unique_ptr<Trials> described_trials(OperatorHandle op,
                                         std::shared_ptr<const Calls> calls);
// Trials by the first of the calls.
std::unique_ptr<Trials> strided_trials(OperatorHandle op,
                                       std::shared_ptr<const Calls> calls);
std::unique_ptr<Trials> agreed_trials(OperatorHandle op,
                                      std::shared_ptr<const Calls> calls);
std::unique_ptr<Trials> aliased_trials(OperatorHandle op,
                                       std::shared_ptr<const Calls> calls);
std::unique_ptr<Trials> compiled_trials(OperatorHandle op,
                                        std::shared_ptr<const Calls> calls);

// The first, one in the middle and the last.
std::unique_ptr<Trials> few_trials(std::unique_ptr<Trials> all);
// Replays of the first, a middle and the last of the cases that succeed, and of
// the first that must not.
std::unique_ptr<Trials> few_trials(const CaseFile& file,
                                   std::unique_ptr<Trials> all);

}  // namespace sy::tools
