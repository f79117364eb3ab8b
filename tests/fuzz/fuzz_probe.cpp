// SPDX-License-Identifier: Apache-2.0
#include "base/check.hpp"
#include "log/witness/gpu_load.hpp"
#include "probe/dcgm.hpp"
#include "probe/gate.hpp"
#include "probe/kernel_sifter.hpp"
#include "probe/report.hpp"
#include "probe/seal.hpp"
#include "tests/fuzz/targets.hpp"

namespace schedmate::fuzz {
namespace {

void check_sample(const probe::Sample& sample) {
  SCHEDMATE_CHECK(sample.gpus.size() <= probe::most_gpus, "a sample is bounded");
  for (const probe::GpuSample& gpu : sample.gpus) {
    SCHEDMATE_CHECK(!gpu.used_pct || (*gpu.used_pct >= 0 && *gpu.used_pct <= 100),
                    "a percentage is one, or not known");
    SCHEDMATE_CHECK(gpu.pci.empty() || probe::pci_address(gpu.pci) == gpu.pci,
                    "an address is in one form");
  }
}

}  // namespace

/// The same bytes as each thing that a probe or its daemon reads.
void fuzz_probe(std::string_view input) {
  constexpr std::int64_t now_s = 1'790'000'000;
  static const probe::Gate gate(std::string(40, 's'), "abcd");
  if (const auto read = probe::read_sealed(input))
    SCHEDMATE_CHECK(probe::is_node_name(read->message.node), "a message is of a node");
  SCHEDMATE_CHECK(!gate.check(input, now_s), "what nobody has sealed proves nothing");
  if (const auto report = probe::read_report(input)) {
    for (const probe::Sample& sample : report->samples) check_sample(sample);
    const auto again = probe::read_report(probe::report_text(*report));
    SCHEDMATE_CHECK(again, "what was read can be told");
    SCHEDMATE_CHECK(probe::report_text(*again) == probe::report_text(*report), "and is the same");
  }
  (void)probe::read_key_line(input);
  if (const auto sample = probe::read_dcgm(input, now_s)) check_sample(*sample);
  if (const auto gpus = witness::read_loaded_gpus(input))
    check_sample(probe::sample_of(*gpus, now_s));
  static auto sifter = probe::KernelSifter::load("");
  SCHEDMATE_CHECK(sifter, "the built-in tables are good");
  sifter->take(input, now_s);
  sifter->take_record(input, now_s, now_s);
  const auto events = sifter->take_out();
  SCHEDMATE_CHECK(events.size() <= probe::most_events, "events are bounded");
  for (const probe::KernelEvent& event : events)
    SCHEDMATE_CHECK(event.text.size() <= probe::longest_text, "a text is bounded");
  sifter->restart();
}

}  // namespace schedmate::fuzz
