// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The model of the fake server: reads which job a request is about and which fields are open, and
/// answers in the agent's format.

#include <memory>
#include <mutex>

#include "bench/fake_llm/witness.hpp"
#include "tests/support/fake_llm.hpp"

namespace schedmate::bench {

struct Totals {
  std::int64_t requests = 0, unknown_jobs = 0, claims = 0, without_line = 0;
};

class Witnesses {
 public:
  Witnesses(std::vector<LabelledJob> jobs, bool lies) : jobs_(std::move(jobs)), lies_(lies) {}

  [[nodiscard]] std::string answer(const testing::FakeCall& call);
  [[nodiscard]] Totals totals() const;

 private:
  [[nodiscard]] const LabelledJob* job_of(const testing::FakeCall& call) const;
  const Library& library_of(const std::string& tree);
  std::string answer_for(const LabelledJob& job, const std::vector<std::string>& gaps);

  std::vector<LabelledJob> jobs_;
  bool lies_;
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Library>> libraries_;
  Totals totals_;
};

}  // namespace schedmate::bench
