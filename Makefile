# Everything is made by what needs it: `make demo` and `make test` run on a clean clone with
# Java 17 and Python, and are quick the second time.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

read = $(shell sed -n 's/$(1)/\1/p' $(2))
VERSION := $(call read,^__version__ = "\(.*\)",python/sash/_version.py)
SBT_VERSION := $(call read,^sbt.version=\(.*\),project/build.properties)
COMPILED_FOR := $(call read,^ *val compile = "\(.*\)",project/SparkVersions.scala)
TESTED_ON := $(shell sed -n '/val tested/s/[^0-9. ]//gp' project/SparkVersions.scala)

# sbt comes from Maven by way of jgo, which pip installs; without a terminal it never asks
SBT = $(BIN)/jgo --system-java run org.scala-sbt:sbt-launch:$(SBT_VERSION)
NO_TERMINAL := </dev/null

JAR := python/sash/jars/sash-spark_2.13-$(VERSION).jar
# hatch_build.py has the same list
JAR_SOURCES := $(shell find scala/core scala/spark -type f) build.sbt python/sash/_version.py \
	$(wildcard project/*.sbt project/*.scala project/*.properties)
TOOLS := $(VENV)/.tools
DEMO := $(VENV)/.demo
INSTALLED := $(VENV)/.installed
# the demo's extra, as words for pip
comma := ,
DEMO_PACKAGES := $(subst "$(comma) "," ",$(call read,^demo = \[\(.*\)\],python/pyproject.toml))
FETCH := tests/python/fetch.py
FLINK := $(VENV)/fetched/flink/made-of
LINTED_PYTHON := python tests/release_check.py tests/python tests/mutants docs/conf.py docs/images $(wildcard examples benchmarks)
# progress bars are the benchmarks'
MUTANTS = PYTHONPATH=benchmarks $(BIN)/python tests/mutants/mutants.py

# examples run as users run them
SUBMIT = PATH="$(abspath $(BIN)):$$PATH" PYSPARK_PYTHON="$(abspath $(BIN))/python" \
	$(BIN)/spark-submit --jars $(JAR)
EXAMPLES := call_centre glucose debs2012 budget business_days one_long_series own_monoid python_aggregator \
	features refresh_features \
	training_set alerts live_chart hops_of_a_day warm_start upgrade_features merge_corrections \
	kafka_features real_time_features pipeline
# behind $(SUBMIT), whose last word is a list of jars
and-jars = $$(ls $(VENV)/fetched/$(1)/*.jar | sed 's/^/,/' | tr -d '\n')
DELTA_SETTINGS := --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension \
	--conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog

KILLS := 100
MINUTES := 60

STREAM_SUITES := EventTimeWatermarkSuite StreamingAggregationSuite
LONG_STREAM_SUITES := RocksDBStateStoreStreamingAggregationSuite StreamingSessionWindowSuite \
	TransformWithStateUnsafeRowSuite TransformWithStateChainingSuite \
	TransformWithListStateSuite TransformWithMapStateSuite TransformWithValueStateTTLSuite
GOLDEN_FILES := 'spark/sparkSuites SQLQueryTestSuite -z window'

MAKE_WHEEL = $(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist ./python

# Installs for one PySpark in the environment $(1). A constraint tells pip the version $(2) before it
# looks; a second requirement does not, and pip then collects each newer one, 450 MB apiece.
pip-for-pyspark = echo 'pyspark==$(2)' >$(1)/constraints.txt && \
	$(1)/bin/pip install --quiet --constraint $(1)/constraints.txt

step = @printf '\033[1m== %s\033[0m\n' "$(1)"

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: venv
venv: $(INSTALLED) ## the virtual environment with Sash and all that tests and examples need

.PHONY: jar
jar: $(JAR) ## the plugin's jar

.PHONY: wheel
wheel: $(INSTALLED) ## the wheel, with the jar in it, in dist/
	$(call step,wheel)
	$(MAKE_WHEEL)
	@ls dist/*.whl

# The project's page, which a release names: that of the clone's remote. A clone of a folder has
# none, and tries with an address that cannot exist; the check of a tag refuses that.
REMOTE := $(shell git config --get remote.origin.url)
PAGE := $(if $(filter https://% git@%,$(REMOTE)),,https://sash.invalid)

.PHONY: release-check
release-check: export SASH_URL := $(or $(SASH_URL),$(PAGE))
release-check: $(INSTALLED) ## what a release would publish: metadata, the same bytes twice, and each way to install it
	$(call step,release check)
	rm -rf dist target/repository
	$(BIN)/pip install --quiet -e './python[release]'
	$(MAKE_WHEEL)
	$(SBT) core/mimaReportBinaryIssues papers/mimaReportBinaryIssues \
		core/publish papers/publish spark/publish $(NO_TERMINAL)
	$(BIN)/python tests/release_check.py dist target/repository $(COMPILED_FOR)

# SONA=sonaBundle makes the signed bundle in target/sona-staging, and sends nothing
SONA := sonaUpload

.PHONY: central
central: $(TOOLS) ## sign what release-check has made, and send it to Maven Central, where a maintainer releases it
	$(call step,Maven Central)
	rm -rf target/sona-staging
	cp -r target/repository target/sona-staging
	find target/sona-staging -name '*.jar' -o -name '*.pom' | \
		xargs -n 1 gpg --batch --yes --armor --detach-sign
	$(SBT) $(SONA) $(NO_TERMINAL)

.PHONY: demo
demo: $(DEMO) $(JAR) ## questions on real flights and weather, answered by Sash and by Spark; needs no other tools
	$(call step,demo)
	$(SUBMIT) examples/rolling_flights.py --chart target/demo/rolling_flights.png

.PHONY: examples
examples: $(EXAMPLES:%=example-%) ## every other example; says where its chart is

example-merge_corrections example-refresh_features: example-%: $(INSTALLED)
	$(call step,$*)
	$(SUBMIT)$(call and-jars,delta) $(DELTA_SETTINGS) examples/$*.py

example-kafka_features: $(INSTALLED)
	$(call step,kafka_features)
	$(BIN)/python tests/python/broker.py env \
		$(SUBMIT)$(call and-jars,kafka-source) examples/kafka_features.py

# in the environment of Spark 4.3, with a slot for each task of its two queries
example-real_time_features: .venvs/4.3.0/.installed
	$(call step,real_time_features)
	PATH="$(abspath .venvs/4.3.0/bin):$$PATH" .venvs/4.3.0/bin/python tests/python/broker.py \
		spark-submit --master 'local[8]' \
		--jars $(JAR),$$(ls .venvs/4.3.0/fetched/kafka-source/*.jar | paste -sd,) \
		examples/real_time_features.py

example-pipeline: $(INSTALLED)
	$(call step,pipeline)
	rm -rf target/pipeline /tmp/sash-pipeline && mkdir -p target/pipeline
	cd target/pipeline && PATH="$(abspath $(BIN)):$$PATH" spark-pipelines run \
		--jars $(abspath $(JAR)) --spec $(abspath examples/pipeline/spark-pipeline.yml)

example-%: $(INSTALLED)
	$(call step,$*)
	$(SUBMIT) examples/$*.py

.PHONY: quick
quick: $(INSTALLED) ## the loop while writing: lint, the kernel's tests and two suites of Spark queries
	$(call step,quick)
	$(BIN)/ruff check $(LINTED_PYTHON)
	$(BIN)/mypy
	$(SBT) scalafmtCheckAll core/test \
		'spark/testOnly *.PlanSuite *.WindowKindsSuite' $(NO_TERMINAL)

# The tests of SASH_TEST=$(1), those in Scala by $(2). They wait as much as they compute, and so
# Scala's run beside Python's.
define both
	$(call step,$(1) tests; those in Scala write to target/test-$(1).log)
	@mkdir -p target
	@SASH_TEST=$(1) $(SBT) $(2) $(NO_TERMINAL) >target/test-$(1).log 2>&1 & scala=$$!; \
	SASH_TEST=$(1) $(BIN)/pytest; python=$$?; \
	wait $$scala; scala=$$?; \
	grep -E 'FAILED|Tests: |^.error' target/test-$(1).log | tail -50; \
	test $$scala -eq 0 && test $$python -eq 0
endef

.PHONY: test
test: $(INSTALLED) ## every kind of test, Scala and Python: a sample, in twelve minutes
	$(call both,quick,test)

.PHONY: test-long
test-long: $(INSTALLED) ## more of the sample, and Spark's suites of windows, in twenty minutes; the rest is in test-all
	$(call both,long,papers/test spark/test spark/sparkSuites)

.PHONY: test-all
test-all: $(INSTALLED) ## all of them, the thorough ones, too, Spark's suites of streams, its golden files and some mutants; three hours
	$(call step,Scala tests - all)
	SASH_TEST=all $(SBT) test spark/sparkSuites hive/sparkSuites \
		'spark/sparkSuites $(STREAM_SUITES:%=streaming.%)' \
		'spark/sparkSuites $(LONG_STREAM_SUITES:%=streaming.%)' \
		$(GOLDEN_FILES) $(NO_TERMINAL)
	$(call step,Python tests - all)
	SASH_TEST=all $(BIN)/pytest
	$(MAKE) mutants SAMPLE=40

.PHONY: test-scala
test-scala: $(TOOLS) ## the Scala tests
	$(SBT) test $(NO_TERMINAL)

.PHONY: test-threads
test-threads: $(INSTALLED) ## a thousand spills while another thread reads the rows, each way, on the heap and off
	# over four frames there, and two here
	SASH_TEST_ROUNDS=250 $(SBT) 'spark/testOnly io.sash.spark.memory.*ThreadsSuite' $(NO_TERMINAL)
	SASH_TEST_ROUNDS=500 $(BIN)/pytest tests/python/test_threads.py

.PHONY: test-spark-suites
test-spark-suites: $(TOOLS) ## Spark's own window suites, under the extension
	$(SBT) spark/sparkSuites $(NO_TERMINAL)

.PHONY: test-spark-hive
test-spark-hive: $(TOOLS) ## Spark's suites of windows and aggregates in a session with Hive
	$(SBT) hive/sparkSuites $(NO_TERMINAL)

.PHONY: test-spark-golden
test-spark-golden: $(TOOLS) ## Spark's golden files of windows: the queries and their answers
	$(SBT) $(GOLDEN_FILES) $(NO_TERMINAL)

.PHONY: test-spark-streams
test-spark-streams: $(TOOLS) ## Spark's own suites of streams, under the extension
	$(SBT) 'spark/sparkSuites $(STREAM_SUITES:%=streaming.%)' $(NO_TERMINAL)

.PHONY: test-spark-streams-long
test-spark-streams-long: $(TOOLS) ## those of sessions and transformWithState
	$(SBT) 'spark/sparkSuites $(LONG_STREAM_SUITES:%=streaming.%)' $(NO_TERMINAL)

.PHONY: test-python
test-python: $(INSTALLED) ## the Python tests
	$(BIN)/pytest --junitxml target/pytest.xml

# The newest Spark for which Iceberg and Comet have releases, too
NEIGHBOURS := 4.1.4

.PHONY: test-neighbours
test-neighbours: .venvs/$(NEIGHBOURS)/.installed ## Iceberg, Comet and Delta in one session with Sash
	$(call step,beside Iceberg - Comet and Delta - on PySpark $(NEIGHBOURS))
	.venvs/$(NEIGHBOURS)/bin/python $(FETCH) neighbours
	SASH_TEST=all .venvs/$(NEIGHBOURS)/bin/pytest -s tests/python/test_neighbours.py tests/python/test_delta.py

# the last line of versions; a preview stands before its release
NEWEST := $(BIN)/jgo info versions org.apache.spark:spark-sql_2.13 | sed -n 's/^ *\([0-9][^ ]*\).*/\1/p' | tail -1

.PHONY: test-newest
test-newest: $(INSTALLED) ## on Maven's newest Spark, a preview, too: missing links, compilation, golden files
	@newest=$$($(NEWEST)); echo "== Spark $$newest"; test -n "$$newest" || exit 1; \
	SASH_LINKED=$$newest $(SBT) spark/linkReports $(NO_TERMINAL); links=$$?; \
	SASH_SPARK=$$newest $(SBT) spark/Test/compile $(GOLDEN_FILES) $(NO_TERMINAL); golden=$$?; \
	test $$links -eq 0 && test $$golden -eq 0

.PHONY: test-kill
test-kill: $(INSTALLED) ## streams of Kafka, of labels, begun with tables, of late rows, changed: each KILLS=100 times
	SASH_TEST=all SASH_TEST_KILLS=$(KILLS) $(BIN)/pytest -s -k "kill or kafka" tests/python/test_kafka.py \
		tests/python/test_label_kills.py tests/python/test_history.py \
		tests/python/test_changed_query.py tests/python/test_late_rows.py

.PHONY: test-flights
test-flights: $(INSTALLED) ## three million flights as a stream that arrives out of order
	SPARK_DRIVER_MEMORY=6g SASH_TEST_FLIGHTS=all $(BIN)/pytest -s tests/python/test_flights.py

.PHONY: test-versions
test-versions: $(TESTED_ON:%=test-pyspark-%) test-upgrade ## the Python tests on every PySpark of the table

.PHONY: test-upgrade
test-upgrade: $(TESTED_ON:%=.venvs/%/.installed) ## streams that begin on each PySpark go on with the latest
	$(call step,streams go on with PySpark $(lastword $(TESTED_ON)))
	.venvs/$(lastword $(TESTED_ON))/bin/python tests/python/upgrade.py \
		$(patsubst %,.venvs/%/bin/python,$(lastword $(TESTED_ON)) $(TESTED_ON))

test-pyspark-%: .venvs/%/.installed
	$(call step,Python tests on PySpark $*)
	.venvs/$*/bin/pytest

.PHONY: mutants
mutants: $(TOOLS) ## faults made on purpose: does a suite notice? ONLY="words" selects by name, SAMPLE=40 at random
	$(call step,mutants)
	$(MUTANTS) --sbt '$(abspath $(BIN))/jgo $(wordlist 2,9,$(SBT))' \
		$(SAMPLE:%=--sample %) $(SEED:%=--seed %) $(ONLY)

.PHONY: lint
lint: $(INSTALLED) ## formats, types, lints, scaladoc, links to each Spark, programs against the library
	$(call step,lint)
	$(BIN)/ruff check $(LINTED_PYTHON)
	$(BIN)/ruff format --check $(LINTED_PYTHON)
	$(BIN)/mypy
	$(MUTANTS) --check
	$(SBT) scalafmtCheckAll outside/scalafmtCheckAll scalafmtSbtCheck outside/runOutside \
		spark/linkReports spark/doc $(NO_TERMINAL)

.PHONY: fmt
fmt: $(INSTALLED) ## format all sources
	$(BIN)/ruff check --fix $(LINTED_PYTHON)
	$(BIN)/ruff format $(LINTED_PYTHON)
	$(SBT) scalafmtAll outside/scalafmtAll scalafmtSbt $(NO_TERMINAL)

.PHONY: bench-window
bench-window: $(INSTALLED) ## Sash, Spark, DuckDB and Polars side by side
	$(call step,benchmark)
	$(BIN)/python benchmarks/bench_window.py

.PHONY: bench-order
bench-order: $(INSTALLED) ## the order below a window: hashing, Spark's sort, DuckDB
	$(call step,benchmark of the order)
	$(BIN)/python benchmarks/bench_window.py --order

.PHONY: bench-monoids
bench-monoids: $(INSTALLED) ## DISTINCT, medians, lists, lambdas, window kinds, shared ranges
	$(call step,benchmark of monoids and windows)
	$(SBT) papers/package $(NO_TERMINAL)
	$(BIN)/python benchmarks/bench_monoids.py

.PHONY: bench-python
bench-python: $(INSTALLED) ## aggregators in Python beside Spark's pandas UDF, Catalyst and pandas
	$(call step,benchmark of aggregators in Python)
	$(BIN)/python benchmarks/bench_python.py

.PHONY: bench-limits
bench-limits: $(INSTALLED) ## windows of own widths beside fixed ones, and windows that outgrow a heap of 1 GiB
	$(call step,benchmark of limits)
	$(BIN)/python benchmarks/bench_limits.py
	$(BIN)/python benchmarks/bench_limits.py --memory

.PHONY: bench-labels
bench-labels: $(INSTALLED) ## windows at another table's times: Sash, DuckDB and Spark
	$(call step,benchmark of windows at another table's times)
	$(BIN)/python benchmarks/bench_labels.py

.PHONY: bench-few-labels
bench-few-labels: $(INSTALLED) ## few labels beside 20 million events: Sash, DuckDB and Spark
	$(call step,benchmark of few labels beside many events)
	$(BIN)/python benchmarks/bench_labels.py --few

.PHONY: bench-asof
bench-asof: .venvs/4.3.0/.installed ## as-of joins: Sash, DuckDB and Spark's ASOF JOIN, which it has since 4.3
	$(call step,benchmark of as-of joins)
	$(call pip-for-pyspark,.venvs/4.3.0,4.3.0) -e './python[bench]'
	.venvs/4.3.0/bin/python benchmarks/bench_labels.py --asof

.PHONY: bench-stream
bench-stream: $(INSTALLED) $(FLINK) ## OVER on streams beside Spark's tumbling windows and Flink
	$(call step,benchmark of streams)
	$(BIN)/python benchmarks/bench_stream.py

.PHONY: bench-day
bench-day: $(INSTALLED) ## a stream with a day of state: 100 million rows in windows, and a restart
	$(call step,benchmark of a day of state)
	$(BIN)/python benchmarks/bench_day.py

.PHONY: bench-batches
bench-batches: $(INSTALLED) ## a thousand micro-batches of OVER, one by one: is one of them slow?
	$(call step,benchmark of micro-batches)
	$(BIN)/python benchmarks/bench_day.py --batches

.PHONY: bench-split
bench-split: $(INSTALLED) ## windows without PARTITION BY: divided, in one task, and ORDER BY
	$(call step,benchmark of windows without PARTITION BY)
	$(BIN)/python benchmarks/bench_split.py

.PHONY: bench-warm-start
bench-warm-start: $(INSTALLED) ## a stream that starts from a table, beside a replay
	$(call step,benchmark of the start from a table)
	$(BIN)/python benchmarks/bench_day.py --warm-start

.PHONY: bench-refresh
bench-refresh: $(INSTALLED) ## 100 million events in Delta: refreshed windows, whole runs, dbt's way, DuckDB
	$(call step,benchmark of refreshed windows)
	$(BIN)/python benchmarks/bench_refresh.py

.PHONY: soak
soak: $(INSTALLED) ## MINUTES=60 of streams with everything on, stopped and started: are they flat?
	$(call step,soak)
	$(BIN)/python benchmarks/bench_soak.py --minutes $(MINUTES)

.PHONY: bench-real-time
bench-real-time: .venvs/4.3.0/.installed ## the latency of OVER in real-time mode, which Spark has since 4.3
	$(call step,benchmark of real-time mode)
	.venvs/4.3.0/bin/python tests/python/broker.py .venvs/4.3.0/bin/python \
		benchmarks/bench_real_time.py \
		--jars $$(ls .venvs/4.3.0/fetched/kafka-source/*.jar | paste -sd,)

.PHONY: bench-hops
bench-hops: $(INSTALLED) ## hops in batch beside Spark's copies of rows
	$(call step,benchmark of hops)
	$(BIN)/python benchmarks/bench_hops.py
	$(BIN)/python benchmarks/bench_hops.py --below

.PHONY: flink
flink: $(FLINK) ## Flink SQL, which bench-stream fetches: 200 MB from Maven

.PHONY: bench-core
bench-core: $(INSTALLED) ## the papers' algorithms; CPP=directory puts the authors' C++ beside
	$(call step,benchmark of the algorithms)
	$(BIN)/python benchmarks/bench_core.py $(if $(CPP),--cpp $(CPP))

.PHONY: docs
docs: docs/configuration.md docs/functions.md docs/images/rolling_flights.png docs/images/streaming.svg docs/images/training_sets.svg docs/images/rooms.svg pages suites ## what is generated in docs

.PHONY: pages
pages: $(INSTALLED) ## run the code of the task pages, and write what it prints
	$(BIN)/python tests/python/pages.py

.PHONY: suites
suites: $(INSTALLED) ## list the suites in tests/README.md, with the seconds of the last reports
	$(BIN)/python tests/python/suites.py

.PHONY: who-runs-what
who-runs-what: $(INSTALLED) ## plan every function over every window, and write the tables of the page
	SASH_WRITE_PAGE=1 SASH_TEST=all $(SBT) 'spark/testOnly *WhoRunsWhatSuite' $(NO_TERMINAL)
	$(BIN)/python tests/python/scan_tables.py

.PHONY: site
site: $(INSTALLED) ## docs and the Python package's reference as HTML, in target/site
	$(call step,site)
	$(BIN)/sphinx-build --fail-on-warning --keep-going --fresh-env --quiet docs target/site
	@echo target/site/index.html

docs/configuration.md: $(JAR) | $(INSTALLED)
	java -cp "$(JAR):$$($(BIN)/find_spark_home.py)/jars/*" io.sash.spark.ConfigurationDoc >$@

docs/functions.md: $(JAR) | $(INSTALLED)
	java -cp "$(JAR):$$($(BIN)/find_spark_home.py)/jars/*" io.sash.spark.names.FunctionsDoc >$@

docs/images/rolling_flights.png: $(JAR) examples/rolling_flights.py examples/helpers/window_sweep.py | $(INSTALLED)
	$(SUBMIT) examples/rolling_flights.py --chart $@

docs/images/streaming.svg: docs/images/streaming.py | $(INSTALLED)
	$(BIN)/python $<

docs/images/training_sets.svg: docs/images/training_sets.py | $(INSTALLED)
	$(BIN)/python $<

docs/images/rooms.svg: docs/images/rooms.py tests/scala/core/resources/rooms.txt | $(INSTALLED)
	$(BIN)/python $<

.PHONY: clean
clean: ## remove everything that was made
	rm -rf $(VENV) .venvs target project/target project/project dist python/sash/jars
	rm -rf .mypy_cache .pytest_cache .ruff_cache spark-warehouse metastore_db derby.log artifacts

$(TOOLS):
	$(call step,virtual environment)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet 'hatchling>=1.27' 'jgo[cli]>=3.2,<4'
	@touch $@

$(JAR): $(JAR_SOURCES) python/hatch_build.py | $(TOOLS)
	$(call step,jar)
	$(BIN)/python python/hatch_build.py
	@touch $@

# sbt compiles while pip fetches PySpark; Sash is installed when its jar is there
$(DEMO): python/pyproject.toml project/SparkVersions.scala | $(TOOLS)
	$(call step,PySpark $(COMPILED_FOR) by pip - and beside it the jar by sbt)
	@$(MAKE) --no-print-directory jar & jar=$$!; \
	$(call pip-for-pyspark,$(VENV),$(COMPILED_FOR)) pyspark $(DEMO_PACKAGES); python=$$?; \
	wait $$jar && test $$python -eq 0
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -e ./python
	@touch $@

$(INSTALLED): $(DEMO) $(FETCH) | $(JAR)
	$(call step,tools for tests and examples)
	$(call pip-for-pyspark,$(VENV),$(COMPILED_FOR)) \
		-e './python[connect,demo,examples,bench,docs,test,lint]'
	$(BIN)/python $(FETCH)
	@touch $@

$(FLINK): $(FETCH) | $(INSTALLED)
	$(call step,Flink)
	$(BIN)/python $(FETCH) flink
	@touch $@

.PRECIOUS: .venvs/%/.installed
.venvs/%/.installed: python/pyproject.toml $(FETCH) | $(JAR)
	$(call step,PySpark $*)
	$(PYTHON) -m venv .venvs/$*
	.venvs/$*/bin/pip install --quiet 'hatchling>=1.27' 'jgo[cli]>=3.2,<4'
	$(call pip-for-pyspark,.venvs/$*,$*) \
		-e './python[connect,demo,examples,test]'
	.venvs/$*/bin/python $(FETCH)
	@touch $@
