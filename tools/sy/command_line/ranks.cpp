#include <CLI/CLI.hpp>

#include <string_view>

#include "tools/sy/command_line/commands.h"
#include "tools/sy/launch/timeline.h"

namespace sy::tools {

namespace {

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

}  // namespace

RankCommands::RankCommands(CLI::App& app, int& argc, char** argv) {
  run_launch_ = launch_command(app, launch_);
  launch_.command = take_program(*run_launch_, argc, argv);
  CLI::App* rank = app.add_subcommand("launch-rank")->group("");
  rank->add_option("ADDRESSES", rank_.addresses)->required();
  rank->add_option("PORT", rank_.port)->required();
  run_rank_ = rank;
  CLI::App* timeline = app.add_subcommand(
      "timeline",
      "join the traces of ranks (RUN.rank0, RUN.rank1…) into one, and print "
      "where their time went");
  timeline->add_option("OUT", timeline_out_, "the file to write")->required();
  timeline->add_option("FILE", timeline_files_, "the trace of a rank")
      ->required();
  timeline_ = timeline;
}

std::optional<int> RankCommands::run() const {
  if (run_launch_->parsed()) return run_launch(launch_);
  if (run_rank_->parsed()) return run_launch_rank(rank_);
  if (timeline_->parsed()) return run_timeline(timeline_out_, timeline_files_);
  return std::nullopt;
}

}  // namespace sy::tools
