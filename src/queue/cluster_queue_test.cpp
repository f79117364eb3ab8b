// SPDX-License-Identifier: Apache-2.0
#include "queue/cluster_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/cluster_site.hpp"

namespace schedmate::queue {
namespace {

using testing::ClusterSite;

std::string recorded_part(const std::string& name, std::string_view from = "",
                          std::string_view to = "") {
  std::ifstream file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/" + name);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t begin = text.find(from);
  return text.substr(begin, to.empty() ? std::string::npos : text.find(to) - begin);
}

/// A site whose tools print what a real Slurm printed.
struct RecordedSite : ClusterSite {
  RecordedSite() {
    wall_s = 1'795'617'742;  // 2026-11-25 14:42:22
    const std::string queue = "queue_22_05.txt";
    answer("config", recorded_part(queue, "Configuration", "JobId="));
    answer("job", recorded_part(queue, "JobId=", "NodeName="));
    answer("node", recorded_part(queue, "NodeName=", "PartitionName="));
    answer("partition", recorded_part(queue, "PartitionName=", "ReservationName="));
    answer("reservation", recorded_part(queue, "ReservationName="));
    answer("assoc_mgr", recorded_part("assoc_22_05.txt"));
    tool("scontrol", "echo \"$*\" >>'" + here.path("asked") + "'; exec cat '" + here.path("") +
                         "'/\"$2.txt\"\n");
    prints("squeue", recorded_part("squeue_22_05.json"));
  }
  void answer(const std::string& what, std::string_view text) const {
    (void)write(what + ".txt", text);
  }
  [[nodiscard]] std::string asked() const {
    std::ifstream file(here.path("asked"));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] Result<slurm::ClusterQueue> read(const std::string& from = "slurm") const {
    return read_cluster_queue(session(), from);
  }
};

std::string said(const Result<slurm::ClusterQueue>& queue) {
  return queue ? "" : queue.error().message;
}

bool notes_contain(const slurm::ClusterQueue& queue, std::string_view words) {
  return std::ranges::any_of(queue.notes,
                             [&](const std::string& note) { return note.contains(words); });
}

}  // namespace

TEST_CASE("a site's own tools give the queue, with squeue's JSON or without") {
  const RecordedSite site;
  const auto json = site.read();
  REQUIRE_MESSAGE(json, said(json));
  CHECK(json->jobs.size() == 21);
  CHECK(json->limits.size() == 2);
  CHECK(json->notes.empty());
  CHECK_FALSE(site.asked().contains("job"));
  CHECK(site.read("")->jobs.size() == 21);
  for (const char* const script : {"echo 'squeue: error: no JSON here' >&2; exit 1\n",
                                   "echo '{\"jobs\": [{}]}'\n", "echo 'JOBID PARTITION'\n"}) {
    site.tool("squeue", script);
    const auto text = site.read();
    REQUIRE_MESSAGE(text, said(text));
    CHECK(text->jobs.size() == 21);
    CHECK(site.asked().contains("show job -d"));
  }
}

TEST_CASE("a tool that fails or is not there says so") {
  const RecordedSite site;
  site.tool(
      "scontrol",
      "echo 'slurm_load_node error: Unable to contact slurm controller (connect failure)' >&2; "
      "exit 1\n");
  CHECK(said(site.read()) ==
        "scontrol: slurm_load_node error: Unable to contact slurm controller (connect failure) "
        "(exit code 1)");
  auto bare = site.session();
  bare.environment.variable = [](std::string_view name) {
    return name == "PATH" ? std::string("/nowhere") : std::string();
  };
  CHECK(read_cluster_queue(bare, "slurm").error().code == ErrorCode::not_found);
  const auto none = read_cluster_queue(bare, "");
  CHECK(none.error().code == ErrorCode::unsupported);
  for (const char* const form : {"WHERE is slurm", "FILE", "trace:FORMAT:PATH"})
    CHECK(none.error().message.contains(form));
}

TEST_CASE("limits that one may not see are a note, a clock that differs is another") {
  RecordedSite site;
  site.tool("scontrol",
            "[ \"$2\" = assoc_mgr ] && { echo 'slurm_load_assoc_mgr_info error: "
            "Access/permission denied' >&2; exit 1; }\nexec cat '" +
                site.here.path("") + "'/\"$2.txt\"\n");
  site.wall_s += 30;
  const auto queue = site.read();
  REQUIRE_MESSAGE(queue, said(queue));
  CHECK(queue->limits.empty());
  CHECK(notes_contain(*queue, "limits of QOS and accounts are not known: scontrol: "));
  CHECK(notes_contain(*queue, "clock is 30 s ahead of"));
  site.wall_s -= 27;
  CHECK_FALSE(notes_contain(*site.read(), "clock"));
  site.wall_s -= 27;
  CHECK(notes_contain(*site.read(), "clock is 24 s behind"));
}

TEST_CASE("a job that ends while the queue is read: it is read once more") {
  const RecordedSite site;
  const std::string node = recorded_part("queue_22_05.txt", "NodeName=", "PartitionName=");
  std::string other = node;
  other.replace(other.find("GresUsed=gpu:fake:8(IDX:0-7)"), 28, "GresUsed=gpu:fake:0(IDX:N/A)");
  site.answer("node", other);
  // The first answer is of before.
  site.tool("scontrol", "echo \"$*\" >>'" + site.here.path("asked") + "'; cat '" +
                            site.here.path("") + "'/\"$2.txt\"\n[ \"$2\" = config ] && cp '" +
                            site.write("later", node) + "' '" + site.here.path("node.txt") +
                            "'\nexit 0\n");
  const auto queue = site.read();
  REQUIRE_MESSAGE(queue, said(queue));
  CHECK(queue->notes.empty());
  const std::string asked = site.asked();
  CHECK(asked.find("show config") != asked.rfind("show config"));
  site.answer("node", other);
  site.tool("scontrol", "exec cat '" + site.here.path("") + "'/\"$2.txt\"\n");
  CHECK(notes_contain(*site.read(), "n0: 0 in use, 8 held"));
}

TEST_CASE("a recorded file, and one that is not there") {
  const RecordedSite site;
  const auto queue = site.read(SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/queue_22_05.txt");
  REQUIRE_MESSAGE(queue, said(queue));
  CHECK(queue->jobs.size() == 21);
  CHECK(said(site.read(site.here.path("nowhere"))).contains("nowhere"));
  const std::string file = site.write("half", "{\"jobs\": [");
  CHECK(said(site.read(file)) == file + ": 1: the JSON that begins here has no end");
}

}  // namespace schedmate::queue
