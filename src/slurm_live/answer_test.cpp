// SPDX-License-Identifier: Apache-2.0
/// On what the library of Slurm 22.05.8 answered of a small cluster (tests/fixtures/slurm_library).
#include "slurm_live/answer.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/input.hpp"
#include "slurm_live/rows.hpp"
#include "tests/support/need.hpp"

namespace schedmate::slurm_live {
namespace {

using testing::need;

std::string answered(const std::string& what) {
  return need(read_file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm_library/" + what));
}

SeenJob shown_job(const std::vector<Row>& rows, const std::string& id) {
  const auto found = std::ranges::find(rows, id, [](const Row& row) { return row.seen.id; });
  REQUIRE(found != rows.end());
  return found->seen;
}

TEST_CASE("jobs as the library of Slurm 22.05 tells them") {
  const LibraryAnswer answer = need(read_answer(answered("jobs")));
  CHECK(answer.kind == LibraryAnswer::Kind::news);
  CHECK(answer.changed == 1'795'732'628);
  const auto rows = need(rows_of(answer.records, {}, at(1'795'732'629)));
  CHECK(rows.size() == 8);
  const SeenJob failed = shown_job(rows, "1");
  CHECK(failed.name == "evil\n   JobState=FAILED|x");
  CHECK(failed.end_state == EndState::failed);
  CHECK(failed.gpus == 8);
  CHECK(failed.limit == Seconds(3600));
  const SeenJob het = shown_job(rows, "2");
  CHECK(het.gpus == 3);
  CHECK(het.nodes == std::vector<NodeGpus>{{"n0", {4}}, {"n1", {4, 5}}});
  CHECK(het.output == "/tmp/slurm-2.out");
  const SeenJob task = shown_job(rows, "4_0");
  CHECK(task.phase == JobPhase::running);
  CHECK(task.nodes == std::vector<NodeGpus>{{"n0", {0}}});
  CHECK(shown_job(rows, "4_3").phase == JobPhase::queued);
  CHECK(shown_job(rows, "5").held);
  CHECK(!shown_job(rows, "6").held);
}

TEST_CASE("nodes as the library of Slurm 22.05 tells them") {
  const auto nodes = need(nodes_of(need(read_answer(answered("nodes"))).records));
  REQUIRE(nodes.size() == 3);
  CHECK(nodes[0] == SeenNode{"n0", "gpu", 8, NodeState::up, ""});
  CHECK(nodes[2] == SeenNode{"n2", "gpu", 8, NodeState::drained, "schedmate:main.ab12/9 Xid 79"});
}

TEST_CASE("an answer that is cut off anywhere is none") {
  const std::string whole = answered("nodes");
  for (std::size_t length = 0; length < whole.size(); ++length)
    CHECK(!read_answer(whole.substr(0, length)));
  CHECK(!read_answer(whole + "x"));
}

TEST_CASE("what is written is read, and what is no answer is not") {
  AnswerWriter writer(LibraryAnswer::Kind::failed);
  writer.put("no \xff");
  const std::string frame = std::move(writer).finish();
  CHECK(frame_bytes(frame) == frame.size() - frame_head_bytes);
  const LibraryAnswer read = need(read_answer(frame.substr(frame_head_bytes)));
  CHECK(read.kind == LibraryAnswer::Kind::failed);
  CHECK(read.text == "no ?");
  CHECK(!frame_bytes("ab"));
  CHECK(!frame_bytes("\xff\xff\xff\xff"));
  CHECK(!read_answer(""));
  CHECK(!read_answer("z"));
  CHECK(!read_answer("cmore"));
  const auto news = [](const std::vector<std::string>& parts) {
    AnswerWriter made(LibraryAnswer::Kind::news);
    for (const std::string& part : parts) made.put(part);
    return read_answer(std::move(made).finish().substr(frame_head_bytes)).has_value();
  };
  CHECK(news({"LastUpdate", "0"}));
  CHECK(news({"JobId", "1", "JobName", "", "LastUpdate", "0"}));
  CHECK(!news({}));
  CHECK(!news({"JobId", "1"}));
  CHECK(!news({"JobName", "before any job", "LastUpdate", "0"}));
  CHECK(!news({"LastUpdate", "soon"}));
  CHECK(!news({"LastUpdate", "-1"}));
  CHECK(!news({"LastUpdate", "0", "JobId", "1"}));
}

TEST_CASE("more than can be told is said") {
  AnswerWriter writer(LibraryAnswer::Kind::news);
  const std::string much(std::size_t{1} << 26U, 'x');
  for (int i = 0; i < 6; ++i) writer.put(much);
  const LibraryAnswer read = need(read_answer(std::move(writer).finish().substr(frame_head_bytes)));
  CHECK(read.kind == LibraryAnswer::Kind::failed);
}

}  // namespace
}  // namespace schedmate::slurm_live
