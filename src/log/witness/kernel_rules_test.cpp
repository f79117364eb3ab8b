// SPDX-License-Identifier: Apache-2.0
#include "log/witness/kernel_rules.hpp"

#include <doctest/doctest.h>
#include <toml++/toml.h>

#include <fstream>

#include "tests/support/scratch.hpp"

namespace schedmate::witness {
namespace {

std::optional<WitnessFinding> judge(std::string_view message) {
  static const auto xids = XidTable::load("");
  static const auto rules = KernelRules::load("");
  REQUIRE_MESSAGE(rules, rules.error().message);
  return rules->judge(message, *xids);
}

}  // namespace

TEST_CASE("each test line of kernel_log.toml is judged by its own row") {
  const toml::table table = toml::parse_file(SCHEDMATE_SOURCE_DIR "/rules/kernel_log.toml");
  for (const auto& node : *table["event"].as_array()) {
    const toml::table& row = *node.as_table();
    REQUIRE(row["test"].is_array());
    for (const auto& each : *row["test"].as_array()) {
      const auto line = *each.value<std::string>();
      CAPTURE(line);
      const auto finding = judge(line);
      REQUIRE(finding);
      CHECK(finding->means.rule == *row["name"].value<std::string>());
    }
  }
}

TEST_CASE("an Xid has the vendor's action") {
  const auto lost = judge("NVRM: Xid (PCI:0000:9b:00): 79, pid='<unknown>', name=<unknown>, GPU");
  REQUIRE(lost);
  CHECK(lost->means.rule == "xid 79");
  CHECK(lost->means.recommendation == Recommendation::restart_elsewhere);
  CHECK(lost->decides);
  CHECK(judge("NVRM: Xid (PCI:0000:9b:00): 74, pid=1, NVLink: fatal error")->means.component ==
        Component::nvlink);
  const auto noise = judge("NVRM: Xid (PCI:0000:9b:00): 45, pid=1, Ch 00000008");
  CHECK(noise->means.recommendation == Recommendation::notify);
  CHECK_FALSE(noise->explains);
  CHECK(judge("NVRM: Xid (PCI:0000:9b:00): 999, pid=1")->means.recommendation ==
        Recommendation::notify);
}

TEST_CASE("a name that a user gave a process forges nothing") {
  for (const char* text :
       {"NVRM: Xid (PCI:[12]: segfault at 0 ip 0 sp 0 error 4 in x): 79, pid=1, x",
        "NVRM: Xid (PCI:[12]: bad frame in x): 79, pid=1",
        "x NVRM: Xid (PCI:0000:9b:00): 79, pid=1", "EDAC MC0: 1 UE [12]: bad frame in error on x",
        "Kernel panic - invoked oom-killer: gfp",
        "Kernel panic - : page allocation failure: order:0",
        "NVRM: GPU[12]: segfault at 0 ip 0 sp 0 error 4 in has fallen off the bus",
        "NVRM: Xid (PCI:9b:00): , pid", "NVRM: Xid (PCI:9b:00): x", "NVRM: Xid (PCI:", ""}) {
    CAPTURE(text);
    const auto finding = judge(text);
    CHECK((!finding || finding->means.rule == "segmentation fault"));
  }
}

TEST_CASE("ordinary lines of a kernel mean nothing") {
  for (const char* text :
       {"Linux version 6.1.0", "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14",
        "nfs: server store1 OK", "mlx5_core 0000:1a:00.0 ib0: Link up",
        "EXT4-fs (sda1): mounted filesystem with ordered data mode",
        "nvidia-nvlink: Nvlink Core is being initialized"})
    CHECK_MESSAGE(!judge(text), text);
}

TEST_CASE("an operator's row comes first, and a wrong one is an error with its place") {
  const testing::Scratch folder;
  std::ofstream(folder.path("kernel_log.toml"))
      << "[[event]]\nname = \"fan\"\nclass = \"infrastructure\"\ncomponent = \"node\"\n"
         "any = [\"^ipmi: fan*\"]\nreason = \"r\"\nrecommendation = \"notify\"\nadvice = \"a\"\n"
         "confidence = 0.5\n";
  const auto xids = XidTable::load("");
  const auto rules = KernelRules::load(folder.path(""));
  REQUIRE_MESSAGE(rules, rules.error().message);
  CHECK(rules->judge("ipmi: fan 3 stopped", *xids)->means.rule == "fan");
  std::ofstream(folder.path("kernel_log.toml")) << "[[event]]\nname = \"fan\"\nclass = \"odd\"\n";
  const auto bad = KernelRules::load(folder.path(""));
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message.contains("kernel_log.toml:1"));
}

}  // namespace schedmate::witness
