// SPDX-License-Identifier: Apache-2.0
#include "trace/csv.hpp"

#include <doctest/doctest.h>

namespace schedmate::trace {
namespace {

std::vector<std::string> row_of(const CsvRows& rows) {
  std::vector<std::string> fields;
  for (Column c = 0; c < rows.header().size(); ++c) fields.emplace_back(rows.field(c));
  return fields;
}
using Cells = std::vector<std::string>;

}  // namespace

TEST_CASE("fields are found by header whatever their order and letter case") {
  auto rows = CsvRows::open("JobID,user\n1,ann\n2,bob\n", "t").value();
  REQUIRE(rows.next());
  CHECK(rows.field(rows.find("USER")) == "ann");
  CHECK(rows.field(rows.find("jobid")) == "1");
  CHECK(rows.field(rows.find("nobody")).empty());
  REQUIRE(rows.next());
  CHECK(row_of(rows) == Cells{"2", "bob"});
  CHECK(!rows.next());
}

TEST_CASE("quoted fields may hold delimiters, doubled quotes and line ends") {
  auto rows = CsvRows::open("a,b\r\n\"x,\"\"y\"\"\",\"1\n2\"\r\nz,w", "t").value();
  REQUIRE(rows.next());
  CHECK(row_of(rows) == Cells{"x,\"y\"", "1\n2"});
  CHECK(rows.line() == 2);
  REQUIRE(rows.next());
  CHECK(row_of(rows) == Cells{"z", "w"});
  CHECK(rows.line() == 4);
  CHECK(!rows.next());
}

TEST_CASE("blank lines are passed over and lines still counted") {
  auto rows = CsvRows::open("\n\na,b\n\r\n \n1,2\n", "t").value();
  CHECK(rows.line() == 3);
  REQUIRE(rows.next());
  CHECK(rows.line() == 6);
  CHECK(!rows.next());
}

TEST_CASE("positions count characters from the begin of the line") {
  auto rows = CsvRows::open("a|b|c\nxx|\"q\"|\n", "t", '|').value();
  REQUIRE(rows.next());
  CHECK(rows.position(0) == 1);
  CHECK(rows.position(1) == 4);
  CHECK(rows.position(2) == 8);
  CHECK(rows.position(absent) == 0);
}

TEST_CASE("a broken row has a fault and the next line is read") {
  auto rows = CsvRows::open("a,b\n1\n1,2,3\n\"x\"y,2\n\"open,2\nlast,2\n", "t").value();
  const std::vector<std::string> faults = {"fewer fields than the header line has",
                                           "more fields than the header line has",
                                           "text after a closing quote", "a quote is not closed"};
  for (std::size_t i = 0; i < faults.size(); ++i) {
    REQUIRE(rows.next());
    CHECK(rows.fault() == faults[i]);
    CHECK(rows.line() == i + 2);
  }
  REQUIRE(rows.next());
  CHECK(rows.fault().empty());
  CHECK(row_of(rows) == Cells{"last", "2"});
}

TEST_CASE("many stray quotes do not make the reading slow") {
  std::string text = "a,b\n";
  for (int i = 0; i < 200'000; ++i) text += "\"\"\"\"x,\n";
  auto rows = CsvRows::open(text, "t").value();
  int broken = 0;
  while (rows.next()) broken += rows.fault().empty() ? 0 : 1;
  CHECK(broken == 200'000);
}

TEST_CASE("an empty text and a broken header line are errors") {
  CHECK(CsvRows::open("", "t").error().message.find("empty") != std::string::npos);
  CHECK(CsvRows::open("\n \n", "t").error().code == ErrorCode::invalid);
  CHECK(CsvRows::open("\"a,b\n1,2\n", "t").error().message.starts_with("t:1:"));
}

TEST_CASE("a missing column is named together with its nearest neighbour") {
  const auto rows = CsvRows::open("job_id,gpu_nums\n", "t").value();
  const auto column = rows.need("gpu_num");
  REQUIRE(!column);
  CHECK(column.error().message.find("nearest: gpu_nums") != std::string::npos);
}

}  // namespace schedmate::trace
