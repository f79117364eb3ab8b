// SPDX-License-Identifier: Apache-2.0
/// A module as schedmate_slurm.so, without a Slurm: two jobs, a node, and what goes wrong with
/// libraries, as a file beside it says.
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "slurm_live/module.hpp"

namespace schedmate::slurm_live {
namespace {

/// The first word of the file `mood` beside this module.
std::string mood() {
  Dl_info info{};
  static const char in_this_module = 0;
  if (::dladdr(&in_this_module, &info) == 0) return {};
  const std::string path = info.dli_fname;
  std::ifstream file(path.substr(0, path.rfind('/')) + "/mood");
  std::string word;
  file >> word;
  return word;
}

void act() {
  const std::string now = mood();
  if (now == "hang") ::sleep(60);  // clock: longer than any deadline
  if (now == "crash") {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would make it an exit
    ::raise(SIGSEGV);
  }
  if (now == "fatal") {
    std::fputs("fatal: Could not establish a configuration source\n", stderr);
    std::exit(1);
  }
  if (now == "garble") {
    const char nonsense[] = "\x05\x00\x00\x00zzzzz";
    (void)::write(0, nonsense, sizeof nonsense - 1);
  }
  if (now == "cut") {
    const char part[] =
        "\xff\x00\x00\x00"
        "b";
    (void)::write(0, part, sizeof part - 1);
    std::exit(0);
  }
  if (now == "huge") {
    const char head[] = "\xff\xff\xff\xff";
    (void)::write(0, head, sizeof head - 1);
  }
}

struct Told {
  const char* number;
  const char* name;
  bool with_orders;
};

void tell_job(const Told& job, SchedmateSlurmTake take, void* whose) {
  take(whose, "JobId", job.number);
  take(whose, "JobState", "PENDING");
  take(whose, "UserId", "ann");
  take(whose, "JobName", job.name);
  take(whose, "Partition", "gpu");
  take(whose, "SubmitTime", "1795714406");
  take(whose, "TRES", "cpu=1,gres/gpu=2");
  take(whose, "BatchFlag", "1");
  if (job.with_orders) take(whose, "SiteFactor", "70");
  take(whose, "AdminComment", "a \"quote\"\n|\x1f\xff");
}

int jobs(std::int64_t* changed, int with_orders, SchedmateSlurmTake take, void* whose) {
  act();
  if (mood() == "down") return schedmate_slurm_failed;
  if (*changed == 1000) return schedmate_slurm_unchanged;
  *changed = 1000;
  tell_job({"7", "first", with_orders != 0}, take, whose);
  tell_job({"8", "second", with_orders != 0}, take, whose);
  return schedmate_slurm_news;
}
int nodes(std::int64_t* changed, SchedmateSlurmTake take, void* whose) {
  act();
  if (*changed == 1000) return schedmate_slurm_unchanged;
  *changed = 1000;
  take(whose, "NodeName", "n0");
  take(whose, "State", "IDLE+DRAIN");
  take(whose, "Gres", "gpu:fake:8");
  take(whose, "Partitions", "gpu,debug");
  take(whose, "Reason", "fan");
  return schedmate_slurm_news;
}
int job(std::uint32_t number, int with_orders, SchedmateSlurmTake take, void* whose) {
  act();
  if (number != 7) return schedmate_slurm_none;
  tell_job({"7", "first", with_orders != 0}, take, whose);
  return schedmate_slurm_news;
}
void begin() { std::fputs("error: slurm.conf has a line twice\n", stderr); }
const char* why() { return "Unable to contact slurm controller (connect failure)"; }

}  // namespace

extern "C" const SchedmateSlurm* schedmate_slurm();
extern "C" const SchedmateSlurm* schedmate_slurm() {
  static const SchedmateSlurm offer{FAKE_INTERFACE, FAKE_VERSION, begin, jobs, nodes, job, why};
  return &offer;
}

}  // namespace schedmate::slurm_live
