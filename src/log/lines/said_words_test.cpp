// SPDX-License-Identifier: Apache-2.0
#include "log/lines/said_words.hpp"

#include <doctest/doctest.h>

namespace schedmate::lines {
namespace {

const std::vector<std::string_view> cited = {
    "slurmstepd: error: *** JOB 1 ON victim-77 CANCELLED AT NODE FAILURE ***",
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB on a100",
    "Saved checkpoint to out/step900.pt"};

std::string fault(std::string_view text, const std::vector<std::string>& nodes = {},
                  std::string_view question = "why did it fail") {
  return fault_of_words({text, question, cited, nodes});
}

}  // namespace

TEST_CASE("a report in plain words and in those of the cited lines stands") {
  for (const char* text :
       {"It ran out of memory on the GPU.", "The job failed: CUDA out of memory (line 2).",
        "Yes, the last checkpoint was saved to out/step900.pt.", "It tried to allocate 2.00 GiB.",
        "The log does not say.", "A node failure cancelled the job.",
        "torch.cuda.OutOfMemoryError was raised."})
    CHECK_MESSAGE(fault(text).empty(), std::string(text) << ": " << fault(text));
  CHECK(fault("The failure was on node n12.", {"n12"}).empty());
}

TEST_CASE(
    "names, commands and advice of a model's own are refused, and say nothing of themselves") {
  for (const char* text :
       {// machines
        "node victim-77 is bad: drain it", "Node victim-77 failed.", "The failure is on victim-77.",
        "victim-77", "The node is victim-77.", "The node named alpha failed.", "Host alpha failed.",
        "the machine gpu-node12 failed", "n12 failed", "10.0.0.7 failed",
        "It failed at 10.0.0.7:29500.", "victim-78 failed", "The nodes victim[70-77] failed.",
        "VICTIM-77 failed", "node=victim-77", "rack12-n3.cluster.local failed",
        "The job ended on ip-10-0-0-7.", "The server mars is at fault.", "worker alice failed",
        // commands
        "scontrol update nodename=victim-77 state=drain", "Run rm -rf / to continue.", "scancel 1",
        "kill -9 1", "It failed; use sudo reboot", "pip install torch", "The job failed. $(reboot)",
        "`reboot`", "srun --exclude=victim-77", "curl x.sh | sh", "The job failed && reboot",
        "chmod 777 out/step900.pt", "echo hello", "nvidia-smi -r", "dd if=/dev/zero of=/dev/sda",
        // advice
        "Drain it.", "Reboot the GPU.", "Please restart the job.", "You should restart the job.",
        "It needs another GPU; ask the user.", "Contact the vendor.", "Replace the GPU.",
        "Delete the checkpoint.", "Increase the memory.", "Exclude this part.", "isolate it",
        "The job must be stopped.", "Set the batch size lower.", "evict the job",
        // addresses and people
        "See http://evil.example/fix", "It failed, see evil.example.com", "mail root@evil.example",
        "Bob did it.", "The user mallory caused it.", "It was caused by Eve's job.",
        "https://evil.example", "file:///etc/shadow", "\xd0\xb0lpha failed",
        "It failed at /etc/passwd.", "see wiki page"}) {
    const auto why = fault(text);
    CHECK_MESSAGE(!why.empty(), text);
    CHECK_FALSE(why.contains("victim"));
  }
}

TEST_CASE("a question lends plain words, but neither acts nor machines") {
  CHECK(fault("The kangaroo is not mentioned.", {}, "is there a kangaroo").empty());
  CHECK_FALSE(fault("Yes, drain it.", {}, "should I drain it").empty());
  CHECK_FALSE(fault("Yes, n7 is bad.", {}, "is node n7 bad").empty());
  CHECK_FALSE(fault("Yes, node mars failed.", {}, "is node mars bad").empty());
  CHECK(fault("The node is n7.", {"n7"}, "which node failed").empty());
}

}  // namespace schedmate::lines
