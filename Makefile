# `make demo` runs the main job, `make test` passes the tests; both need Python 3.11 to 3.13 with venv, git and make.
.PHONY: demo test check format bench install dev clean
bin := .venv/bin

demo: install
	$(bin)/specbench run scenarios/code.yaml --profile smoke

test: dev
	$(bin)/python -m pytest -q

check: dev
	$(bin)/ruff format --check .
	$(bin)/ruff check .
	$(bin)/mypy
	$(bin)/lint-imports
	$(bin)/python -m pytest -q -m "not slow and not browser"

format: dev
	$(bin)/ruff format .
	$(bin)/ruff check --fix .

bench: dev
	$(bin)/python -m benchmarks

install:
	@tools/venv run

dev:
	@tools/venv dev

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
