// SPDX-License-Identifier: Apache-2.0
#include "trace/hostlist.hpp"

#include <doctest/doctest.h>

namespace schedmate::trace {
namespace {

using Names = std::vector<std::string>;

std::string fault_of(std::string_view list) {
  const auto names = expand_hosts(list);
  return names ? "" : names.error().message;
}

}  // namespace

TEST_CASE("host lists: ranges keep their zeros, brackets multiply") {
  CHECK(expand_hosts("n[01-03,7],gpu1").value() == Names{"n01", "n02", "n03", "n7", "gpu1"});
  CHECK(expand_hosts("rack[1-2]n[0-1]x").value() ==
        Names{"rack1n0x", "rack1n1x", "rack2n0x", "rack2n1x"});
  CHECK(expand_hosts("n[098-101]").value() == Names{"n098", "n099", "n100", "n101"});
  CHECK(expand_hosts("None assigned").value().empty());
  CHECK(expand_hosts("").value().empty());
  CHECK(expand_hosts("n[0-65535]").value().size() == most_hosts);
}

TEST_CASE("host lists: what is wrong is said, and no list costs more than its limit") {
  CHECK(fault_of("n[1-99999999999]") == "names more than 65536 nodes");
  CHECK(fault_of("n[1-999999999999999999999999]") == "names more than 65536 nodes");
  CHECK(fault_of("a[0-999]b[0-999]") == "names more than 65536 nodes");
  CHECK(fault_of("n[0-40000],m[0-40000]") == "names more than 65536 nodes");
  CHECK(fault_of("n[1-3") == "has a '[' without its ']'");
  CHECK(fault_of("n[1[2]]") == "has a '[' without its ']'");
  CHECK(fault_of("n1-3]") == "has a ']' without its '['");
  CHECK(fault_of("n[3-1]") == "has a range in brackets that runs backwards");
  CHECK(fault_of("n[a-c]") == "has something other than numbers in brackets");
  CHECK(fault_of("n[]") == "has something other than numbers in brackets");
  CHECK(fault_of("n1,,n2") == "has an empty name between commas");
  CHECK(fault_of("n 1") == "has a space in a name");
}

}  // namespace schedmate::trace
