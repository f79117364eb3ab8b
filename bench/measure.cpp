// SPDX-License-Identifier: Apache-2.0
/// measure RUNS COMMAND [ARG...]: runs a command RUNS times and prints one line,
/// "CPU_S_MIN CPU_S_MEDIAN WALL_S_MEDIAN PEAK_MB": user + system time and the largest resident
/// size of the whole process as the kernel accounts for them. Its output goes to /dev/null; a run
/// that fails ends the measurement with its exit code.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct Usage {
  double cpu_s = 0;
  double wall_s = 0;
  double peak_mb = 0;
  int exit_code = 1;
};

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

Usage run_once(char** command) {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    const int sink = ::open("/dev/null", O_WRONLY);
    ::dup2(sink, STDOUT_FILENO);
    ::execvp(command[0], command);
    std::perror(command[0]);
    std::_Exit(127);
  }
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  Usage usage;
  usage.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  usage.cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  usage.peak_mb = static_cast<double>(used.ru_maxrss) / 1024;
  usage.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return usage;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 2 ? std::atoi(argv[1]) : 0;
  if (runs < 1) {
    std::fprintf(stderr, "usage: measure RUNS COMMAND [ARG...]\n");
    return 2;
  }
  std::vector<double> cpu, wall, peak;
  for (int i = 0; i < runs; ++i) {
    const Usage usage = run_once(argv + 2);
    if (usage.exit_code != 0) return usage.exit_code;
    cpu.push_back(usage.cpu_s);
    wall.push_back(usage.wall_s);
    peak.push_back(usage.peak_mb);
  }
  std::printf("%.4f %.4f %.4f %.1f\n", *std::ranges::min_element(cpu), median(cpu), median(wall),
              *std::ranges::max_element(peak));
  return 0;
}
