# `make demo` runs the main job, `make test` passes the tests; both need Python 3.11 to 3.13 with venv, git and make.
.PHONY: docs demo demo-real e2e-vllm test campaigns check format bench install dev real everything clean
bin := .venv/bin

# The tests start hundreds of Pythons; without bytecode each of them would compile all of specbench anew.
unexport PYTHONDONTWRITEBYTECODE

demo: install
	$(bin)/specbench run scenarios/code.yaml --profile smoke

# A real llama.cpp and a real small model on this CPU: about 20 s to install (35 MB and 93 MB), five minutes to run.
demo-real: real
	$(bin)/specbench run scenarios/real/llamacpp-ngram.yaml --profile smoke

# A real vLLM on this CPU: four to ten minutes and 4 GB to install, half an hour to run; no part of `make test`.
e2e-vllm: everything
	tools/real/vllm
	$(bin)/python -m pytest -q -s tests/e2e/real_vllm.py

# What rests on timing runs alone: two such tests at once would only measure each other. The others wait more than they compute,
# so four share two cores; a file stays in one process, as its tests share engines and runs, and the long ones come first.
test: everything
	$(bin)/python -m pytest -q -n 4 --dist loadfile --no-loadscope-reorder -m "(beside or not slow) and not campaign"
	$(bin)/python -m pytest -q -m "slow and not beside and not campaign" tests/e2e

# What takes longer than CI allows: tests marked `campaign`, then the whole table of the calibration, an hour and more on two cores.
# Parts of the table that this code has made already are kept, so it may be stopped and called again.
campaigns: everything
	$(bin)/python -m pytest -q -m campaign
	$(bin)/specbench calibrate --jobs 2 --out calibration

check: dev
	$(bin)/ruff format --check .
	$(bin)/ruff check .
	$(bin)/mypy
	$(bin)/lint-imports
	$(bin)/python -m pytest -q -n 2 -m "not slow and not browser and not campaign"

format: dev
	$(bin)/ruff format .
	$(bin)/ruff check --fix .

# What is made from the source: a test says when it is stale.
docs: dev
	$(bin)/python -m specbench.explain.glossary.page >docs/glossary.md
	$(bin)/python -m tests.support.made_docs

bench: dev
	$(bin)/python -m benchmarks

install:
	@tools/venv run

everything:
	@tools/venv dev demo-real
	@tools/real/llamacpp

dev:
	@tools/venv dev

real:
	@tools/real/llamacpp

clean:
	rm -rf .venv .real .mypy_cache .ruff_cache .pytest_cache .hypothesis
