#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <string_view>

#include "c10/error.h"
#include "c10/schema/nearest.h"
#include "codegen/tools/completion.h"
#include "tools/sy/calls/claims.h"
#include "tools/sy/conform/conform.h"
#include "tools/sy/conform/failure_file.h"
#include "tools/sy/conform/worker.h"
#include "tools/sy/facts/facts.h"
#include "tools/sy/fuzz/fuzz.h"
#include "tools/sy/fuzz/worker.h"
#include "tools/sy/inspect/coverage.h"
#include "tools/sy/inspect/dtypes.h"
#include "tools/sy/inspect/inspect.h"
#include "tools/sy/launch/launch.h"
#include "tools/sy/launch/rank.h"
#include "tools/sy/launch/timeline.h"
#include "tools/sy/prove/prove.h"
#include "tools/sy/support/json.h"

// bin/sy: what Switchyard has, and whether it does what it should.

namespace {

using namespace sy::tools;

// Commands of one operator, pattern or library.
struct InspectOptions {
  std::string subject;
  std::vector<std::string> plugins;
  bool json = false;
};

void plugin_option(CLI::App* c, std::vector<std::string>& plugins) {
  c->add_option("--plugin", plugins, "load this library first (repeatable)")
      ->allow_extra_args(false);
}

void jobs_option(CLI::App* c, int& jobs) {
  c->add_option("--jobs", jobs, "worker processes; one per core if not given")
      ->check(CLI::Range(1, 1024));
}

CLI::App* inspect_command(CLI::App& app, const char* name, const char* help,
                          InspectOptions& o) {
  CLI::App* c = app.add_subcommand(name, help);
  plugin_option(c, o.plugins);
  c->add_flag("--json", o.json, "as JSON");
  return c;
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

CLI::App* launch_command(CLI::App& app, LaunchOptions& o) {
  CLI::App* c = app.add_subcommand(
      "launch", "run a program as several ranks: PROGRAM [ARGS...]");
  c->add_option("-n", o.ranks, "how many ranks; one per core if not given")
      ->check(CLI::Range(1, 65536));
  c->add_option("--hosts", o.hosts,
                "where, as a,b:4: four ranks on b, the others on a; else on "
                "this machine");
  c->add_option("--threads-per-rank", o.threads,
                "SWITCHYARD_NUM_THREADS and OMP_NUM_THREADS; the cores of a "
                "host are shared by its ranks if not given")
      ->check(CLI::Range(1, 1024));
  c->add_flag("--survive", o.survive,
              "the other ranks go on when one dies; needs Open MPI 5");
  c->add_option("--trace", o.trace,
                "write a timeline of all ranks to this file, for Perfetto and "
                "chrome://tracing");
  c->add_flag("--no-labels", o.no_labels,
              "lines of output without the rank before them");
  c->add_option("--timeout", o.timeout,
                "seconds that a collective waits for ranks that do not come")
      ->check(CLI::Range(1, 1000000));
  c->add_option("--engine", o.engine, "the engine between ranks, as mpi");
  return c;
}

// Takes the program of `sy launch`, and all that follows, off the end of the
// arguments: options there are the program's own.
std::vector<std::string> take_program(const CLI::App& launch, int& argc,
                                      char** argv) {
  if (argc < 2 || argv[1] != launch.get_name()) return {};
  int at = 2;
  for (; at < argc && *argv[at] == '-'; ++at) {
    const std::string word = argv[at];
    if (word == "--") break;
    const CLI::Option* const o = launch.get_option_no_throw(word);
    if (o != nullptr && o->get_items_expected_max() > 0) ++at;
  }
  if (at >= argc) return {};
  const bool marked = std::string_view(argv[at]) == "--";
  std::vector<std::string> out(argv + at + (marked ? 1 : 0), argv + argc);
  argc = at;
  return out;
}

std::string nearest_of(const std::string& given,
                       const std::vector<std::string>& names) {
  sy::NearestName nearest(given);
  for (const std::string& n : names) nearest.consider(n);
  return nearest.question();
}

std::string unknown_command(const CLI::App& app, const std::string& given) {
  std::vector<std::string> names;
  for (const CLI::App* c : app.get_subcommands(
           [](const CLI::App* c) { return !c->get_group().empty(); })) {
    names.push_back(c->get_name());
  }
  return sy::str("no command '{}'{}", given, nearest_of(given, names));
}

std::string unknown_option(const CLI::App& command, const std::string& given) {
  std::vector<std::string> names;
  for (const CLI::Option* o : command.get_options()) {
    if (o->nonpositional()) names.push_back(o->get_name());
  }
  return sy::str("{} takes no '{}'{}", command.get_name(), given,
                 nearest_of(given, names));
}

// One line, with the nearest name for what is not known.
std::string explain_failure(const CLI::App* app, const CLI::Error& e) {
  std::string text = e.what();
  const std::vector<std::string> rest = app->remaining(true);
  const std::vector<CLI::App*> commands = app->get_subcommands();
  if (!rest.empty()) {
    text = commands.empty() ? unknown_command(*app, rest.front())
                            : unknown_option(*commands.front(), rest.front());
  }
  return sy::str("sy: {} (`sy {}--help`)\n", text,
                 commands.empty() ? "" : commands.front()->get_name() + " ");
}

// `sy fuzz` writes calls, `sy conform` trials.
int replay_failure(const std::string& path) {
  const Json v = parse_json(read_file(path), path);
  const bool call = v.is_object() && v.contains("call");
  return call ? replay_call(path) : replay_trial(path);
}

int run(int argc, char** argv) {
  CLI::App app("Switchyard's operators: list, explain and test them", "sy");
  app.require_subcommand(1);
  app.failure_message(explain_failure);
  InspectOptions inspect;
  CLI::App* ops = inspect_command(app, "ops", "list the operators", inspect);
  ops->add_option("GLOB", inspect.subject, "only those that fit, as add*");
  std::vector<std::string> words;
  ops->add_option("--search", words,
                  "only those with this word in their name or description "
                  "(repeatable)")
      ->allow_extra_args(false);
  const CLI::App* names = app.add_subcommand("operator-names")->group("");
  sy::codegen::add_completion(app);
  CLI::App* explain = inspect_command(
      app, "explain", "the parts of an operator, where calls go", inspect);
  explain->add_option("OP", inspect.subject, "add.Tensor, or add")->required();
  bool lazily = false;
  CLI::Option* const lazy_flag =
      explain->add_flag("--lazy", lazily, "how the lazy device records it");
  bool compiled = false;
  CLI::Option* const jit_flag =
      explain->add_flag("--jit", compiled, "its compiled code, and the times");
  jit_flag->excludes(lazy_flag);
  std::string call_words;
  explain
      ->add_option("--call", call_words,
                   "with --jit: its arguments, as 4096x1000 0.5 (float64 "
                   "becomes float32); else tensors have a million elements")
      ->needs(jit_flag);
  CLI::App* doctor = inspect_command(
      app, "doctor", "why a plugin does or does not load", inspect);
  doctor->add_option("LIB", inspect.subject, "the library")->required();
  CLI::App* version =
      inspect_command(app, "version", "version, layout, compiler", inspect);

  ConformOptions conform;
  WorkerOptions worker;
  bool conform_no_grad = false, worker_no_grad = false;
  CLI::App* run_conform = conform_command(app, conform, conform_no_grad);
  CLI::App* run_worker = app.add_subcommand("conform-worker")->group("");
  worker_options(run_worker, worker, worker_no_grad);
  run_worker->add_flag("--few", worker.few);
  ProveOptions prove;
  const CLI::App* run_proof = prove_command(app, prove);
  FuzzOptions fuzz;
  const CLI::App* run_fuzzer = fuzz_command(app, fuzz);
  FuzzWorkerOptions fuzz_worker;
  CLI::App* run_fuzz_worker_of = app.add_subcommand("fuzz-worker")->group("");
  run_fuzz_worker_of->add_option("--op", fuzz_worker.glob);
  fuzz_worker_options(run_fuzz_worker_of, fuzz_worker);
  CoverageOptions coverage;
  const CLI::App* run_coverage_of = coverage_command(app, coverage);
  DtypesOptions dtypes;
  const CLI::App* run_dtypes_of = dtypes_command(app, dtypes);
  DtypesOptions dtypes_part;
  CLI::App* run_dtypes_part = app.add_subcommand("dtypes-worker")->group("");
  dtypes_options(run_dtypes_part, dtypes_part);
  run_dtypes_part->add_option("--part", dtypes_part.part);
  FactsOptions facts;
  const CLI::App* run_facts_of = facts_command(app, facts);
  CLI::App* minimal = app.add_subcommand(
      "minimal-set", "the operators that a backend must have kernels for");
  bool minimal_yaml = false, minimal_json = false;
  minimal->add_flag("--yaml", minimal_yaml, "as a plugin's YAML lists them");
  minimal->add_flag("--json", minimal_json, "as JSON");
  CLI::App* replay = app.add_subcommand(
      "replay",
      "run a failure of `sy conform` or `sy fuzz` again, in this process");
  std::string replay_file;
  replay->add_option("FILE", replay_file, "a file of --failures")->required();
  LaunchOptions launch;
  const CLI::App* launch_app = launch_command(app, launch);
  launch.command = take_program(*launch_app, argc, argv);
  LaunchRankOptions launch_rank;
  CLI::App* launch_rank_app = app.add_subcommand("launch-rank")->group("");
  launch_rank_app->add_option("ADDRESSES", launch_rank.addresses)->required();
  launch_rank_app->add_option("PORT", launch_rank.port)->required();
  CLI::App* timeline = app.add_subcommand(
      "timeline",
      "join the traces of ranks (RUN.rank0, RUN.rank1…) into one, and print "
      "where their time went");
  std::string timeline_out;
  std::vector<std::string> timeline_files;
  timeline->add_option("OUT", timeline_out, "the file to write")->required();
  timeline->add_option("FILE", timeline_files, "the trace of a rank")
      ->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }

  if (launch_app->parsed()) return run_launch(launch);
  if (launch_rank_app->parsed()) return run_launch_rank(launch_rank);
  if (timeline->parsed()) return run_timeline(timeline_out, timeline_files);
  conform.worker.gradients = !conform_no_grad;
  worker.gradients = !worker_no_grad;
  if (run_conform->parsed()) return sy::tools::run_conform(conform);
  if (run_worker->parsed()) return sy::tools::run_worker(worker);
  if (run_coverage_of->parsed()) return run_coverage(coverage);
  if (run_dtypes_of->parsed()) return run_dtypes(dtypes);
  if (run_facts_of->parsed()) return run_facts(facts);
  if (run_dtypes_part->parsed()) return run_dtypes_worker(dtypes_part);
  if (minimal->parsed()) {
    return print_minimal_set(minimal_yaml   ? ListFormat::Yaml
                             : minimal_json ? ListFormat::Json
                                            : ListFormat::Text);
  }
  if (replay->parsed()) return replay_failure(replay_file);
  if (run_fuzzer->parsed()) return sy::tools::run_fuzz(fuzz);
  if (run_fuzz_worker_of->parsed()) return run_fuzz_worker(fuzz_worker);
  if (run_proof->parsed()) return sy::tools::run_prove(prove);
  load_plugins(inspect.plugins);
  if (app.got_subcommand("completion")) return 0;
  if (names->parsed()) return print_operator_names();
  if (ops->parsed()) {
    return list_operators({inspect.subject, words}, inspect.json);
  }
  if (explain->parsed()) {
    if (compiled) {
      return explain_jit(inspect.subject, call_words, inspect.json);
    }
    return lazily ? explain_recording(inspect.subject, inspect.json)
                  : explain_operator(inspect.subject, inspect.json);
  }
  if (version->parsed()) return print_version(inspect.json);
  return examine_library(inspect.subject, inspect.json);
}

}  // namespace

// 0 all is well, 1 something does not work, 2 the command cannot be run.
int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "sy: {}\n", e.what());
    return 2;
  }
}
