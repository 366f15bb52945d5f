#include <CLI/CLI.hpp>

#include "tools/sy/command_line/commands.h"
#include "tools/sy/conform/failure_file.h"
#include "tools/sy/fuzz/worker.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

namespace {

void jobs_option(CLI::App* c, int& jobs) {
  c->add_option("--jobs", jobs, "worker processes; one per core if not given")
      ->check(CLI::Range(1, 1024));
}

void worker_options(CLI::App* c, WorkerOptions& o, bool& no_grad) {
  c->add_option("--cases", o.cases,
                "folder of recorded cases; else those that are installed, and "
                "calls made from signatures");
  c->add_option("--device", o.device,
                "where the tensors lie; cpu, or without --cases the plugin's");
  plugin_option(c, o.plugins);
  c->add_flag("--no-grad", no_grad, "leave gradients out");
  c->add_option(
       "--trials", o.trials,
       "replay: the cases as recorded; hostile: with one argument "
       "changed, which must give a result or an error that names the "
       "operator; starved: with each allocation failing in turn; "
       "threaded: the same results by one thread and by several; "
       "described: as shapes are inferred and programs are described; "
       "aliased: with arguments that share memory with what is "
       "written; compiled: captured and replayed by sy::compile, with the "
       "same results; agreed: the same results by all forms; strided: with "
       "the CPU's strides on Meta and on the lazy device")
      ->check(CLI::IsMember({"replay", "hostile", "starved", "threaded",
                             "described", "aliased", "compiled", "agreed",
                             "strided"}))
      ->capture_default_str();
}

CLI::App* conform_command(CLI::App& app, ConformOptions& o, bool& no_grad) {
  CLI::App* c = app.add_subcommand(
      "conform", "test every operator, on the CPU or on a plugin");
  worker_options(c, o.worker, no_grad);
  c->add_option("--op", o.globs, "overloads, as add.* (repeatable)")
      ->allow_extra_args(false);
  c->add_option("--size", o.size,
                "without --cases: smoke (a few cases of each operator), full, "
                "or soak (also calls with tensors of more sizes; on a plugin's "
                "device every call in every dtype, claimed or not)")
      ->check(CLI::IsMember({"smoke", "full", "soak"}))
      ->capture_default_str();
  c->add_flag("--supported", o.supported,
              "only the operators that the plugin's YAML lists");
  c->add_option("--examples", o.examples,
                "of a plugin: calls of operators whose signatures say too "
                "little, a file of lines 'NAME: WORDS', as `sygen examples` "
                "prints it (repeatable)")
      ->allow_extra_args(false);
  jobs_option(c, o.jobs);
  c->add_option("--timeout", o.timeout, "seconds for one case")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  c->add_option("--json", o.json, "write the report to a file; - for stdout");
  c->add_option("--junit", o.junit, "write it as JUnit XML");
  c->add_option("--html", o.html, "write it as a page");
  c->add_option("--failures", o.failures,
                "folder for failures: C++ programs, and files that `sy "
                "replay` runs");
  c->add_flag("--notes", o.notes, "list what differs without failing");
  c->add_option("--must-pass", o.must_pass,
                "file of overloads; 0 if these work, whatever else does not");
  c->add_option("--update-passing", o.update_passing,
                "add the overloads that work to this file");
  return c;
}

CLI::App* prove_command(CLI::App& app, ProveOptions& o) {
  CLI::App* c = app.add_subcommand(
      "prove", "put operators through every trial, by calls made for them");
  c->add_option("GLOB", o.glob, "operators, as mine::*")->required();
  plugin_option(c, o.plugins);
  c->add_option("--schema", o.schemas,
                "load the operators of this file first (repeatable)")
      ->allow_extra_args(false);
  c->add_option("--args", o.words,
                "a word for each argument, where the signature does not say "
                "enough: 2x3 (a tensor), 4:i5 (int64 below 5), 3:b (bool), "
                "{2x3;3} (a list), 0,1 (ints), 0.5, True, None");
  c->add_option("--examples", o.examples,
                "the same for many operators: a file of lines 'NAME: WORDS', "
                "as `sygen examples` prints it (repeatable)")
      ->allow_extra_args(false);
  c->add_option("--except", o.except,
                "NAME: not these operators; NAME:TRIAL: not this trial of "
                "them, as 'mine::*:starved' or 'mine::*:gradient' "
                "(repeatable)")
      ->allow_extra_args(false);
  c->add_option("--jobs", o.jobs, "processes at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  return c;
}

void fuzz_worker_options(CLI::App* c, FuzzWorkerOptions& o) {
  plugin_option(c, o.plugins);
  c->add_option("--device", o.device,
                "where the tensors lie; the plugin's, else cpu");
  c->add_option("--schema", o.schemas,
                "load the operators of this file first (repeatable)")
      ->allow_extra_args(false);
  c->add_option("--examples", o.examples,
                "calls to begin with: a file of lines 'NAME: WORDS', as `sygen "
                "examples` prints it (repeatable)")
      ->allow_extra_args(false);
  c->add_option("--memory-limit", o.memory,
                "bytes that a call may take, before OutOfMemoryError is right")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

CLI::App* fuzz_command(CLI::App& app, FuzzOptions& o) {
  CLI::App* c = app.add_subcommand(
      "fuzz",
      "call operators with random, aliased, overlapping, undefined, wrong "
      "arguments: a result or a clear error must come of it");
  c->add_option("GLOB", o.worker.glob, "only these operators, as mine::*");
  fuzz_worker_options(c, o.worker);
  c->add_option("--seed", o.seed, "of the calls")->capture_default_str();
  CLI::Option* calls =
      c->add_option("--calls", o.calls, "how many")->capture_default_str();
  c->add_option("--seconds", o.seconds, "for how long, instead")
      ->check(CLI::Range(1, 1000000))
      ->excludes(calls);
  c->add_option("--timeout", o.timeout, "seconds for one call")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  c->add_option("--failures", o.failures,
                "folder for calls that fail, made short: `sy replay` makes "
                "them again");
  jobs_option(c, o.jobs);
  return c;
}

CLI::App* coverage_command(CLI::App& app, CoverageOptions& o) {
  CLI::App* c = app.add_subcommand(
      "coverage", "how a device runs each operator; 0 if it runs all");
  c->add_option("GLOB", o.glob, "only those that fit, as add*");
  plugin_option(c, o.plugins);
  c->add_option("--device", o.device, "of which; the plugin's, else cpu");
  c->add_option("--json", o.json, "write it to a file; - for stdout");
  c->add_option("--html", o.html, "write it as a page; - for stdout");
  return c;
}

void dtypes_options(CLI::App* c, DtypesOptions& o) {
  c->add_option("GLOB", o.glob, "only those that fit, as add*");
  plugin_option(c, o.plugins);
  c->add_option("--device", o.device, "of which; the plugin's, else cpu");
  jobs_option(c, o.jobs);
}

CLI::App* dtypes_command(CLI::App& app, DtypesOptions& o) {
  CLI::App* c = app.add_subcommand(
      "dtypes", "in which dtypes the examples of operators run on a device");
  dtypes_options(c, o);
  c->add_flag("--json", o.json, "as JSON");
  return c;
}

CLI::App* facts_command(CLI::App& app, FactsOptions& o) {
  CLI::App* c = app.add_subcommand(
      "facts",
      "run the operators, and tell as JSON, for `sygen site`: examples "
      "with their output, errors, curves, dtypes, dispatch");
  c->add_option("GLOB", o.glob, "only those that fit, as add*");
  plugin_option(c, o.plugins);
  c->add_option("--schema", o.schemas,
                "load the operators of this file first (repeatable)")
      ->allow_extra_args(false);
  c->add_option("--examples", o.examples,
                "calls to show: a file of lines 'NAME: WORDS', as `sygen "
                "examples` prints it (repeatable)")
      ->allow_extra_args(false);
  c->add_option("--out", o.out, "write it to this file; - for stdout");
  return c;
}

// `sy fuzz` writes calls, `sy conform` trials.
int replay_failure(const std::string& path) {
  const Json v = parse_json(read_file(path), path);
  const bool call = v.is_object() && v.contains("call");
  return call ? replay_call(path) : replay_trial(path);
}

}  // namespace

TrialCommands::TrialCommands(CLI::App& app) {
  run_conform_ = conform_command(app, conform_, conform_no_grad_);
  CLI::App* worker = app.add_subcommand("conform-worker")->group("");
  worker_options(worker, worker_, worker_no_grad_);
  worker->add_flag("--few", worker_.few);
  run_worker_ = worker;
  run_proof_ = prove_command(app, prove_);
  run_fuzzer_ = fuzz_command(app, fuzz_);
  CLI::App* fuzz_worker = app.add_subcommand("fuzz-worker")->group("");
  fuzz_worker->add_option("--op", fuzz_worker_.glob);
  fuzz_worker_options(fuzz_worker, fuzz_worker_);
  run_fuzz_worker_ = fuzz_worker;
  run_coverage_ = coverage_command(app, coverage_);
  run_dtypes_ = dtypes_command(app, dtypes_);
  CLI::App* dtypes_part = app.add_subcommand("dtypes-worker")->group("");
  dtypes_options(dtypes_part, dtypes_part_);
  dtypes_part->add_option("--part", dtypes_part_.part);
  run_dtypes_part_ = dtypes_part;
  run_facts_ = facts_command(app, facts_);
  CLI::App* minimal = app.add_subcommand(
      "minimal-set", "the operators that a backend must have kernels for");
  minimal->add_flag("--yaml", minimal_yaml_, "as a plugin's YAML lists them");
  minimal->add_flag("--json", minimal_json_, "as JSON");
  minimal_ = minimal;
  CLI::App* replay = app.add_subcommand(
      "replay",
      "run a failure of `sy conform` or `sy fuzz` again, in this process");
  replay->add_option("FILE", replay_file_, "a file of --failures")->required();
  replay_ = replay;
}

std::optional<int> TrialCommands::run() {
  conform_.worker.gradients = !conform_no_grad_;
  worker_.gradients = !worker_no_grad_;
  if (run_conform_->parsed()) return run_conform(conform_);
  if (run_worker_->parsed()) return run_worker(worker_);
  if (run_coverage_->parsed()) return run_coverage(coverage_);
  if (run_dtypes_->parsed()) return run_dtypes(dtypes_);
  if (run_facts_->parsed()) return run_facts(facts_);
  if (run_dtypes_part_->parsed()) return run_dtypes_worker(dtypes_part_);
  if (minimal_->parsed()) {
    return print_minimal_set(minimal_yaml_   ? ListFormat::Yaml
                             : minimal_json_ ? ListFormat::Json
                                             : ListFormat::Text);
  }
  if (replay_->parsed()) return replay_failure(replay_file_);
  if (run_fuzzer_->parsed()) return run_fuzz(fuzz_);
  if (run_fuzz_worker_->parsed()) return run_fuzz_worker(fuzz_worker_);
  if (run_proof_->parsed()) return run_prove(prove_);
  return std::nullopt;
}

}  // namespace sy::tools
