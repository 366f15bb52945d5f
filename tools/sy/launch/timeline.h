#pragma once

#include <string>
#include <vector>

// One chrome trace of all ranks, made of one of each (c10/dispatch/trace.h).

namespace sy::tools {

struct RankTrace {
  int rank;
  std::string path;
};

// The time that a rank spent, in milliseconds.
struct RankTime {
  int rank;
  double total;        // from the begin of its first event to the last end
  double collectives;  // in which some collective moved
  double waiting;      // in which some thread waited for one
  // The fraction of the time of collectives in which nobody waited. NaN if
  // there were none.
  double overlap;
};

struct Timeline {
  std::vector<RankTime> ranks;
  std::vector<std::string> warnings;  // clocks that are not aligned
};

// Writes all events to `out`: ranks are processes there, and their clocks are
// one: that of the host on which offsets were measured, from the begin of the
// first trace. Throws ValueError for what is no trace, and for a rank that is
// there twice; Error if `out` cannot be written.
Timeline merge_traces(const std::vector<RankTrace>& parts,
                      const std::string& out);

// Lines of text: a header, and one for each rank.
std::string table_of(const Timeline& timeline);

// The rank that a path ends with ("run.json.rank3"), else `otherwise`.
int rank_of_path(const std::string& path, int otherwise);

// `sy timeline OUT FILE…`
int run_timeline(const std::string& out, const std::vector<std::string>& files);

}  // namespace sy::tools
