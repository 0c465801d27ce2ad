# Nightdesk. `make demo` and `make test` set everything up by themselves; pip only, into .venv.
.DEFAULT_GOAL := help
.PHONY: help setup demo test check unit integration e2e bench bench-memory bench-locomo bench-logs bench-logsize bench-alarms chaos chaos-memory up down

# relative on purpose: the checkout's path may hold a blank
PYTHON := .venv/bin/python

help:  ## show the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

setup:  ## make .venv from the locked requirements (once; later runs take no time)
	@sh ops/setup.sh

demo: setup  ## run the main job on a real failing service and print the report
	@$(PYTHON) ops/demo/run.py --yes

test: setup  ## set up and run every check that CI runs
	@sh ops/test.sh

check: setup  ## format, lint, types, import direction, house rules
	@sh ops/test.sh check

unit: setup  ## run the tests that start nothing
	@sh ops/test.sh unit

integration: setup  ## run the tests that start real services
	@sh ops/test.sh integration

e2e: setup  ## run the tests that start the whole desk
	@sh ops/test.sh e2e

bench: setup  ## measure runs per second, latency, memory and start-up
	@$(PYTHON) ops/bench/run.py

bench-memory: setup  ## measure recall, ingest, the nightly pass and the rebuild of the memory (five minutes)
	@$(PYTHON) ops/bench/memory.py

bench-locomo: setup  ## measure evidence recall on conversations in LoCoMo's shape (LOCOMO=path of a JSON file)
	@$(PYTHON) ops/bench/locomo.py $(if $(LOCOMO),"$(LOCOMO)")

bench-logs: setup  ## measure log templates: accuracy and lines/s beside drain3 (DATA=folder of loghub_2k)
	@$(PYTHON) -m ops.bench.logs $(if $(DATA),"$(DATA)")

bench-logsize: setup  ## measure the reading of large logs, by one process and by several (SIZES=megabytes, default 1,10,100,1000)
	@$(PYTHON) ops/bench/logsize.py --sizes "$(or $(SIZES),1,10,100,1000)" $(if $(JSON),--json)

bench-alarms: setup  ## measure alarms on labelled lines and on minutes of faults (DATA=folder with loghub_2k and nezha)
	@$(PYTHON) -m ops.bench.alarms $(if $(DATA),"$(DATA)")

chaos: setup  ## kill everything while runs pass and count what the world saw (CHAOS_RUNS, CHAOS_SEED, CHAOS_SECONDS)
	@$(PYTHON) -m tests.chaos.run

chaos-memory: setup  ## kill -9 the memory in the middle of its writes, 200 times on one folder (KILLS, SEED)
	@$(PYTHON) -m tests.chaos.memory_kills --kills $(or $(KILLS),200) --seed $(or $(SEED),1)

up: setup  ## start the desk on this machine (Ctrl-C stops it)
	@$(PYTHON) -P -c 'from coordinator.cli import main; main()' up

down: setup  ## stop the desk
	@$(PYTHON) -P -c 'from coordinator.cli import main; main()' down
