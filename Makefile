# SPDX-License-Identifier: Apache-2.0
# `make help` lists the targets. Each is one script, so that it also works without make.
SHELL := /bin/bash
PREFIX ?= /usr/local
DESTDIR ?=
export PREFIX DESTDIR

.DEFAULT_GOAL := help
.PHONY: help deps build demo live evaluation evaluation-full evaluation-physical test test-live test-san live-slurm live-slurm-order storm bench format tidy deb test-deb portable install clean

help: ## list the targets
	@echo "SchedMate: make TARGET"
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 12

deps: ## install missing Debian packages for building and testing
	scripts/deps.sh build test

build: ## build build/release/schedmate
	scripts/deps.sh build
	scripts/build.sh release -DSCHEDMATE_TESTS=OFF

demo: build ## replay 13 days of a real 1,080-GPU cluster; advise three submissions of the example
	scripts/demo.sh

live: build ## the daemon beside those 13 days until Ctrl-C, with its page on http://127.0.0.1:8642/
	scripts/live.sh

evaluation: build ## compare hosts with host + SchedMate on Venus and Philly: docs/evaluation.md
	build/release/schedmate evaluate experiments/*.toml --cite experiments/full/*.toml --out evaluation \
	  --book docs/evaluation.md --threads "$$(nproc)"

evaluation-full: build ## evaluation plus synthetic traces and ablations (hours; resumes where it stopped)
	build/release/schedmate evaluate experiments/*.toml experiments/full/*.toml --out evaluation \
	  --book docs/evaluation.md --threads "$$(nproc)"

evaluation-physical: ## Table 2 on a real Ray of 72 emulated GPUs (half an hour a run, 12 runs; resumes where it stopped): docs/ray.md
	scripts/deps.sh build test ray
	scripts/build.sh release
	tests/live/ray_physical.sh build/physical "$${SCHEDMATE_SHARED:-../shared}" build/release/{schedmated,schedmate,schedmate-probe,schedmate-reader}

test: ## the gate: build, and run every test whose verdict hangs on no clock (docs/testing.md)
	scripts/deps.sh build test $(if $(CI),monitoring)
	scripts/test.sh

test-live: ## run the tests of real processes, browser, Slurm and Ray, one after the other; as root for Slurm
	scripts/deps.sh build test monitoring browser live ray
	scripts/build.sh release
	ctest --test-dir build/release --output-on-failure --no-tests=error -L '^live$$'

test-san: ## run the gate under the address + undefined, and what has threads under the thread sanitizer
	scripts/deps.sh build test
	scripts/test_san.sh

live-slurm: ## the daemon on a real Slurm of this machine, as root: each situation 20 times, decoys, kills (two hours)
	scripts/deps.sh build test live
	scripts/build.sh release
	ctest --test-dir build/release -C by_hand -L live --output-on-failure

live-slurm-order: ## what SchedMate's order is worth on a real Slurm, and how near the simulator comes, as root (an hour)
	scripts/deps.sh build test live
	scripts/build.sh release
	cmake --build build/release --target slurm_fidelity
	tests/live/slurm_order.sh slurm_order.py "$${SCHEDMATE_SHARED:-../shared}" build/release/schedmated build/release/schedmate \
	  TESTBED build/slurm_order
	python3 tests/live/slurm_fidelity.py build/slurm_order build/release/bench/slurm_fidelity

storm: ## the long tests of loop and journal, then a million seeded disasters (a day of one core)
	scripts/deps.sh build test
	scripts/build.sh release
	ctest --test-dir build/release --output-on-failure --no-tests=error --parallel "$$(nproc)" -L '^storm$$'
	build/release/storm --seeds 1:1000000

bench: ## the long tests, then speed and memory beside published figures
	scripts/deps.sh build test browser
	scripts/build.sh release
	ctest --test-dir build/release --output-on-failure --no-tests=error -L '^bench$$'
	bench/run.sh

format: ## run clang-format on all C++ files
	scripts/deps.sh test
	scripts/format.sh

tidy: ## compile each source alone; check the own rules, clang-format and clang-tidy
	scripts/deps.sh build test
	scripts/build.sh files
	scripts/build.sh release
	ctest --test-dir build/release --output-on-failure -R '^tidy$$|^format$$'
	scripts/clang_tidy.sh build/release

deb: ## build Debian packages: build/deb
	scripts/deps.sh build deb
	scripts/deb.sh

test-deb: deb ## check the packages with lintian and try them on a fresh Debian 12, as root (minutes)
	lintian --fail-on error,warning --tag-display-limit 0 build/deb/schedmate_*.changes
	tests/packages/deb_test.sh build/deb .

portable: build ## the programs with loader and libraries in one tarball, tried in a root of Debian 11, as root: build/portable
	scripts/deps.sh deb
	scripts/portable.sh
	tests/packages/portable_test.sh build/portable/*.tar.gz .

install: build ## install into DESTDIR/PREFIX (default /usr/local)
	DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

clean: ## remove build/ and demo-out/
	rm -rf build demo-out
