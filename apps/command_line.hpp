// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What stands on the command line, as values.

#include <string>
#include <vector>

#include "apps/advise_command.hpp"
#include "apps/ask_command.hpp"
#include "apps/diagnose_command.hpp"
#include "apps/evaluate_command.hpp"
#include "apps/facts_command.hpp"
#include "apps/generate_command.hpp"
#include "apps/history_command.hpp"
#include "apps/simulate_command.hpp"
#include "apps/track_command.hpp"
#include "apps/whatif_command.hpp"

namespace schedmate {

struct CommandLine {
  std::string command;
  bool json = false;
  std::string config;                 ///< settings file, "" = the usual one
  std::vector<std::string> settings;  ///< "key=value" of --set
  std::string state_dir, mode, report, seed, threads, estimate, similarity, llm, embedder;
  bool strict = false;
  SimulateRequest simulate;
  GenerateRequest generate;
  FactsRequest facts;
  AdviseRequest advise;
  HistoryRequest history;
  TrackRequest track;
  DiagnoseRequest diagnose;
  AskRequest ask;
  WhatifRequest whatif;
  EvaluateRequest evaluate;
  std::string table;  ///< of list
  std::string shell;  ///< of completion
};

/// Whether all is there that the command cannot do without. Errors: unsupported.
[[nodiscard]] Result<void> check_complete(const CommandLine& line);

/// The settings in effect: the settings file, then --set, then the flags. Errors: as Settings.
[[nodiscard]] Result<Settings> settle(const CommandLine& line, const Environment& environment);

}  // namespace schedmate
