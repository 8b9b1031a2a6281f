# Everything goes through ./dev, which makes .venv first wherever that is missing or out of date.
# Arguments: make test ARGS="tests/schema -k pattern"

.PHONY: help run test lint typing layers clean

help:
	@./dev --help

run test lint typing layers:
	@./dev $@ $(ARGS)

clean:
	rm -rf .venv .nox build dist .coverage htmlcov
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
