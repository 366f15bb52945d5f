#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/sy/conform/conform.h"
#include "tools/sy/conform/worker.h"
#include "tools/sy/facts/facts.h"
#include "tools/sy/fuzz/fuzz.h"
#include "tools/sy/fuzz/worker.h"
#include "tools/sy/inspect/coverage.h"
#include "tools/sy/inspect/dtypes.h"
#include "tools/sy/launch/launch.h"
#include "tools/sy/launch/rank.h"
#include "tools/sy/model/model.h"
#include "tools/sy/prove/prove.h"

// The commands of bin/sy: a constructor adds them to the program, run() runs
// the one that was given.

namespace CLI {
class App;
}

namespace sy::tools {

// Adds --plugin.
void plugin_option(CLI::App* c, std::vector<std::string>& plugins);

// Commands of one operator, pattern or library.
struct InspectOptions {
  std::string subject;
  std::vector<std::string> plugins;
  bool json = false;
};

// Commands whose plugins are loaded first.
class InspectCommands {
 public:
  explicit InspectCommands(CLI::App& app);
  int run() const;

 private:
  InspectOptions options_;
  std::vector<std::string> words_;
  bool lazily_ = false, compiled_ = false;
  std::string call_words_;
  const CLI::App *ops_, *names_, *completion_, *explain_, *version_;
};

// Commands that run operators, and the workers that these start.
class TrialCommands {
 public:
  explicit TrialCommands(CLI::App& app);
  // nullopt: none of them was given.
  std::optional<int> run();

 private:
  ConformOptions conform_;
  WorkerOptions worker_;
  bool conform_no_grad_ = false, worker_no_grad_ = false;
  ProveOptions prove_;
  FuzzOptions fuzz_;
  FuzzWorkerOptions fuzz_worker_;
  CoverageOptions coverage_;
  DtypesOptions dtypes_, dtypes_part_;
  FactsOptions facts_;
  bool minimal_yaml_ = false, minimal_json_ = false;
  std::string replay_file_;
  const CLI::App *run_conform_, *run_worker_, *run_proof_, *run_fuzzer_,
      *run_fuzz_worker_, *run_coverage_, *run_dtypes_, *run_dtypes_part_,
      *run_facts_, *minimal_, *replay_;
};

// Exported programs.
class ModelCommands {
 public:
  explicit ModelCommands(CLI::App& app);
  // nullopt: it was not given.
  std::optional<int> run() const;

 private:
  ModelOptions options_;
  ModelRunOptions run_options_;
  std::vector<std::string> plugins_;
  const CLI::App *model_, *run_;
};

// Several processes of one program.
class RankCommands {
 public:
  // Takes the program to launch off the arguments.
  RankCommands(CLI::App& app, int& argc, char** argv);
  // nullopt: none of them was given.
  std::optional<int> run() const;

 private:
  LaunchOptions launch_;
  LaunchRankOptions rank_;
  std::string timeline_out_;
  std::vector<std::string> timeline_files_;
  const CLI::App *run_launch_, *run_rank_, *timeline_;
};

}  // namespace sy::tools
