// SPDX-License-Identifier: Apache-2.0
#include "apps/interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "base/output.hpp"

namespace schedmate {
namespace {

extern "C" void leave(int signal_number) {
  remove_part_files();
  ::_exit(128 + signal_number);
}

}  // namespace

void clean_up_when_interrupted() {
  struct sigaction action = {};
  action.sa_handler = leave;
  sigfillset(&action.sa_mask);
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction before = {};
    sigaction(signal_number, nullptr, &before);
    // nohup and background jobs of a script have some of them ignored; that stays so.
    if (before.sa_handler != SIG_IGN) sigaction(signal_number, &action, nullptr);
  }
  // A file beyond `ulimit -f` is then an error of the write, like one on a full disk.
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, nullptr);
}

}  // namespace schedmate
