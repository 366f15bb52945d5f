#pragma once

#include <string>
#include <string_view>
#include <vector>

// The hosts of the ranks of `sy launch`.

namespace sy::tools {

struct LaunchHost {
  std::string name;
  int slots;  // how many ranks; 0: not said
};

// "a,b:4". Throws ValueError for anything else, and for a host that is there
// twice.
std::vector<LaunchHost> parse_hosts(std::string_view text);

// Gives each of `ranks` ranks a place: what is not said is shared out evenly.
// ranks 0: as many as the hosts hold, which is `cores` where it is not said.
// Returns the number of ranks. Throws ValueError if they do not fit.
int place_ranks(std::vector<LaunchHost>& hosts, int ranks, int cores);

// Whether all of them are "localhost" or loopback addresses.
bool all_local(const std::vector<LaunchHost>& hosts);

// The IPv4 addresses under which other machines may reach this one, and last
// 127.0.0.1.
std::vector<std::string> own_addresses();

}  // namespace sy::tools
