// SPDX-License-Identifier: Apache-2.0
#include "tests/support/broken_dumps.hpp"

#include <algorithm>
#include <string_view>

namespace schedmate {
namespace {

const std::string header =
    "JobID|User|Partition|State|Submit|Start|End|TimelimitRaw|AllocTRES|NodeList\n";
const std::string good =
    "1|ann|gpu|COMPLETED|2024-03-01T10:00:00|2024-03-01T10:01:00|2024-03-01T11:00:00|60|"
    "gres/gpu=4,gres/gpu:a100=4|n[01-02]\n";

/// One row with one field changed.
struct Row {
  std::string id = "2", user = "bob", partition = "gpu", state = "COMPLETED";
  std::string submit = "2024-03-01T10:00:00", start = "2024-03-01T10:01:00";
  std::string end = "2024-03-01T11:00:00", limit = "60", tres = "gres/gpu=4", nodes = "n1";
};
std::string text(const Row& r) {
  return header + good + r.id + "|" + r.user + "|" + r.partition + "|" + r.state + "|" + r.submit +
         "|" + r.start + "|" + r.end + "|" + r.limit + "|" + r.tres + "|" + r.nodes + "\n";
}

std::string utf16(std::string_view ascii, bool mark) {
  std::string out = mark ? "\xff\xfe" : "";
  for (const char c : ascii) out += {c, '\0'};
  return out;
}

/// A JSON dump with one job; `time` and `rest` are written as they are.
std::string json(const std::string& time, const std::string& rest) {
  return "{\"jobs\": [\n{\"job_id\": 7, \"user\": \"ann\", \"partition\": \"gpu\", \"time\": " +
         time + ", " + rest + "}\n]}\n";
}
const std::string ended = R"("state": {"current": ["COMPLETED"]})";
const std::string four =
    R"("tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 4}]}, "nodes": "n1")";
const std::string hour =
    R"({"submission": 1709287200, "eligible": 1709287200, "start": 1709287260, "end": 1709290860})";

void add_headers(std::vector<BrokenDump>& all) {
  all.push_back({"empty", "", {"FILE:1", "is empty", "--parsable2"}});
  all.push_back({"blank lines", "\n \n\n", {"is empty", "--parsable2"}});
  all.push_back({"header alone", header, {"no job that started", "--starttime"}});
  all.push_back({"no header", good, {"FILE:1", "--noheader"}});
  all.push_back(
      {"wrong header", "a|b|c\n1|2|3\n", {"FILE:1", "JobID, User, Partition", "make the"}});
  all.push_back({"missing columns",
                 "JobID|User|Partition|Submit|AllocTRES\n1|a|g|2024-03-01T10:00:00|gres/gpu=1\n",
                 {"FILE:1", "has no State, Start, End", "sacct --allusers"}});
  all.push_back({"commas",
                 "JobID,User,State\n1,ann,COMPLETED\n",
                 {"FILE:1", "separated by commas", "--parsable2"}});
  all.push_back({"tabs", "JobID\tUser\tState\n", {"FILE:1", "separated by tabs", "--parsable2"}});
  all.push_back({"semicolons", "JobID;User;State\n", {"FILE:1", "separated by ';'"}});
  all.push_back({"screen table",
                 "JobID           JobName  Partition\n------------ ---------- ----------\n",
                 {"FILE:1", "a table formatted for the screen", "--parsable2"}});
}

void add_bytes(std::vector<BrokenDump>& all) {
  all.push_back({"UTF-16", utf16(header + good, true), {"FILE", "UTF-16", "iconv"}, true});
  all.push_back({"UTF-32",
                 utf16(utf16(header, false), false).insert(0, "\xff\xfe\0\0", 4),
                 {"FILE", "UTF-32", "iconv"},
                 true});
  all.push_back({"UTF-32, big end first",
                 std::string("\0\0\xfe\xff\0\0\0J", 8),
                 {"FILE", "UTF-32", "iconv"},
                 true});
  all.push_back({"UTF-16 unmarked", utf16(header + good, false), {"FILE:1", "NUL", "UTF-16"}});
  all.push_back(
      {"NUL", header + good + std::string("2|b\0b|", 6), {"FILE:3", "NUL byte", "again"}});
  all.push_back({"binary",
                 std::string("\x7f"
                             "ELF\x02\x01\x01\0\0\0",
                             10),
                 {"FILE:1", "binary"}});
  all.push_back({"binary without NUL",
                 "\x7f\x02\x01\tx\t\x03" + std::string("\xc3\x01\n\x05"),
                 {"FILE:1", "not text", "binary"}});
  std::string carriage = header + good;
  std::ranges::replace(carriage, '\n', '\r');
  all.push_back({"CR alone", carriage, {"FILE:1", "end in CR alone", "tr '"}});
  all.push_back(
      {"half a gzip", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\xab", 11), {"FILE"}, true});
  all.push_back(
      {"truncated", header + good + "2|bob|gpu|COMPL", {"FILE:3:1", "truncated", "again"}});
  all.push_back({"bar in a name",
                 header + "2|bob|gpu|x" + good.substr(1),
                 {"FILE:2:1", "more fields", "'|'", "--json"}});
  all.push_back({"huge line",
                 header + std::string(std::size_t{3} << 19U, 'x') + "\n",
                 {"FILE:2", "more than 1 MiB"}});
}

void add_values(std::vector<BrokenDump>& all) {
  all.push_back({"no date",
                 text({.submit = "yesterday"}),
                 {"FILE:3:21", "submit is neither a date", "2024-03-01T10:00:00"}});
  all.push_back({"local date",
                 text({.submit = "01.03.2024 10:00:00"}),
                 {"FILE:3:21", "submit is neither a date", "unset SLURM_TIME_FORMAT"}});
  all.push_back(
      {"negative time", text({.start = "-5"}), {"FILE:3:41", "start is not a time between 1970"}});
  all.push_back({"end before start",
                 text({.end = "2024-03-01T10:00:30"}),
                 {"FILE:3:61", "end is before Start", "TZ=UTC"}});
  all.push_back({"start before submit",
                 text({.start = "2024-03-01T09:59:59"}),
                 {"FILE:3:41", "start is before Submit", "TZ=UTC"}});
  all.push_back({"runs a century",
                 text({.end = "2123-03-01T10:00:30"}),
                 {"FILE:3:61", "more than ten years after Start"}});
  all.push_back({"unknown state",
                 text({.state = "EXPLODED"}),
                 {"FILE:3:11", "state is not a Slurm state", "shifted"}});
  all.push_back({"ended without end",
                 text({.end = "Unknown"}),
                 {"FILE:3", "end is not known", "runawayjobs"}});
  all.push_back({"no id", text({.id = ""}), {"FILE:3", "jobid is empty"}});
  all.push_back({"huge GPUs",
                 text({.tres = "gres/gpu=99999999999999999999"}),
                 {"FILE:3", "alloctres has no plausible number"}});
  all.push_back({"negative GPUs",
                 text({.tres = "cpu=1,gres/gpu=-4"}),
                 {"FILE:3", "alloctres has no plausible number"}});
  all.push_back(
      {"bad limit", text({.limit = "-60"}), {"FILE:3", "timelimitraw is neither", "UNLIMITED"}});
  all.push_back({"huge host list",
                 text({.nodes = "n[1-99999999999]"}),
                 {"FILE:3", "nodelist names more than 65536 nodes"}});
  all.push_back(
      {"open bracket", text({.nodes = "n[1-3"}), {"FILE:3", "nodelist has a '[' without"}});
  all.push_back({"no nodes",
                 header + good.substr(0, good.find("n[")) + "\n",
                 {"names no nodes", "NodeList", "--cluster"},
                 true});
  all.push_back({"nothing started",
                 text({.start = "None", .end = "Unknown"}).substr(0, header.size()) +
                     "2|bob|gpu|PENDING|2024-03-01T10:00:00|Unknown|Unknown|60||None assigned\n",
                 {"no job that started", "still waiting"}});
}

/// A dump whose rows name their cluster.
std::string of_clusters(const std::string& a, const std::string& b) {
  const std::string row = "2" + good.substr(1);
  return "Cluster|" + header + a + "|" + good + b + "|" + row;
}
/// A JSON dump whose one job names its cluster.
std::string cluster_job(const std::string& cluster) {
  return R"({"job_id": 7, "cluster": ")" + cluster + R"(", "time": )" + hour + ", " + ended + ", " +
         four + "}";
}

void add_mixtures(std::vector<BrokenDump>& all) {
  all.push_back({"two clusters",
                 of_clusters("west", "east"),
                 {"FILE: ", "several clusters (east, west)", "sacct --clusters NAME"}});
  all.push_back({"two clusters in JSON",
                 "{\"jobs\": [" + cluster_job("a") + "," + cluster_job("b") + "]}",
                 {"FILE: ", "several clusters (a, b)", "sacct --clusters NAME"}});
  all.push_back({"two JSON texts",
                 json(hour, ended + ", " + four) + json(hour, ended + ", " + four),
                 {"FILE:4", "text follows the end", "jq -s"}});
  all.push_back({"a message before JSON",
                 "sacct: warning: old\n" + json(hour, ended + ", " + four),
                 {"FILE:1", "the JSON starts at line 2", "2>/dev/null"}});
  all.push_back({"GRES without a number",
                 text({.tres = "gpu:a100"}),
                 {"FILE:3", "alloctres has no plausible number"}});
}

void add_json(std::vector<BrokenDump>& all) {
  all.push_back({"broken JSON",
                 "{\"jobs\": [{\"job_id\": 1, \"time\": {]}",
                 {"FILE:1", "truncated", "sacct --json"}});
  all.push_back({"truncated JSON",
                 json(hour, ended + ", " + four).substr(0, 150),
                 {"FILE:2", "truncated", "sacct --json"}});
  all.push_back({"JSON without jobs",
                 "{\"meta\": {}, \"errors\": []}",
                 {"FILE:1", "no array \"jobs\"", "sacct --json"}});
  all.push_back({"JSON that is no job", "{\"jobs\": [17]}", {"FILE:1", "expected a JSON object"}});
  all.push_back({"not JSON inside",
                 "{\"jobs\": [{\"job_id\": }]}",
                 {"FILE:1", "job object 1 of the array", "not valid JSON"}});
  all.push_back(
      {"JSON without times", "{\"jobs\": [{\"job_id\": 1}]}", {"FILE:1", "no object \"time\""}});
  all.push_back({"JSON without resources",
                 json(hour, ended + R"(, "tres": {"allocated": []}, "nodes": "n1")"),
                 {"FILE: ", "none of the 1 jobs", "tres.allocated", "is empty"},
                 true});
  all.push_back({"unset number",
                 json(R"({"submission": {"set": false, "number": 0}, "start": 1709287260})", ended),
                 {"FILE:2", "job 7: time.submission is not known"}});
  all.push_back({"number as a word",
                 json(R"({"submission": "soon"})", ended),
                 {"FILE:2", "time.submission is not a whole number"}});
  all.push_back({"JSON end before start",
                 json(R"({"submission": {"set": true, "number": 1709287200}, "start": 1709287260, )"
                      R"("end": {"set": true, "infinite": false, "number": 1709287259}})",
                      ended + ", " + four),
                 {"FILE:2", "time.end is before Start"}});
}

}  // namespace

std::vector<BrokenDump> broken_dumps() {
  std::vector<BrokenDump> all;
  add_headers(all);
  add_bytes(all);
  add_values(all);
  add_json(all);
  add_mixtures(all);
  return all;
}

}  // namespace schedmate
