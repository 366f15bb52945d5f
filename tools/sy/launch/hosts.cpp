#include "tools/sy/launch/hosts.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>

#include "c10/process/error.h"

namespace sy::tools {

namespace {

constexpr int kMostSlots = 65536;

LaunchHost parse_host(std::string_view text, std::string_view all) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const bool named =
      !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
      });
  LaunchHost out{std::string(name), 0};
  bool good = named && name.front() != '-';
  if (good && colon != text.npos) {
    const std::string_view number = text.substr(colon + 1);
    const char* const end = number.data() + number.size();
    const auto r = std::from_chars(number.data(), end, out.slots);
    good = r.ec == std::errc() && r.ptr == end && out.slots >= 1 &&
           out.slots <= kMostSlots;
  }
  SY_CHECK(good, Value,
           "[launch] --hosts: expected HOST or HOST:RANKS, with commas between "
           "them, got '{}' in '{}'",
           text, all);
  return out;
}

std::string listed(const std::vector<LaunchHost>& hosts) {
  std::string out;
  for (const LaunchHost& h : hosts) {
    if (!out.empty()) out += ", ";
    out += str("{} {}", h.name, h.slots);
  }
  return out;
}

}  // namespace

std::vector<LaunchHost> parse_hosts(std::string_view text) {
  std::vector<LaunchHost> out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    out.push_back(parse_host(text.substr(begin, end - begin), text));
    for (size_t i = 0; i + 1 < out.size(); ++i) {
      SY_CHECK(out[i].name != out.back().name, Value,
               "[launch] --hosts: '{}' is there twice", out[i].name);
    }
    begin = end + 1;
  }
  return out;
}

int place_ranks(std::vector<LaunchHost>& hosts, int ranks, int cores) {
  int said = 0, open = 0;
  for (const LaunchHost& h : hosts) {
    said += h.slots;
    open += h.slots == 0;
  }
  if (ranks == 0) ranks = said + open * cores;
  SY_CHECK(open != 0 || ranks <= said, Value,
           "[launch] -n: {} ranks do not fit: the hosts hold {} ({})", ranks,
           said, listed(hosts));
  int left = ranks - said;
  SY_CHECK(open == 0 || left >= open, Value,
           "[launch] -n: {} ranks are too few for {} hosts, of which some hold "
           "{}",
           ranks, hosts.size(), said);
  for (LaunchHost& h : hosts) {
    if (h.slots != 0) continue;
    h.slots = (left + open - 1) / open;
    left -= h.slots;
    --open;
  }
  return ranks;
}

bool all_local(const std::vector<LaunchHost>& hosts) {
  return std::all_of(hosts.begin(), hosts.end(), [](const LaunchHost& h) {
    return h.name == "localhost" || h.name.starts_with("127.");
  });
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> out;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) == 0) {
    for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
      if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET ||
          (i->ifa_flags & IFF_LOOPBACK) != 0 || (i->ifa_flags & IFF_UP) == 0) {
        continue;
      }
      char text[INET_ADDRSTRLEN];
      const auto* const at = reinterpret_cast<const sockaddr_in*>(i->ifa_addr);
      if (inet_ntop(AF_INET, &at->sin_addr, text, sizeof text) != nullptr) {
        out.emplace_back(text);
      }
    }
    freeifaddrs(list);
  }
  out.emplace_back("127.0.0.1");
  return out;
}

}  // namespace sy::tools
