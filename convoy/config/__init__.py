"""What a repository may say in `.brat/config.toml`, and what holds if it does not.

The models are the only description of the file: the messages for people, the JSON
Schema for editors and the table in docs/configuration.md are made from them.
"""

import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, Self

from msgspec import convert
from msgspec.structs import replace
from pydantic import Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from convoy.config.engine_section import EngineTable, Table
from convoy.config.schema_faults import encoding_fault, field_faults, syntax_fault
from convoy.config.sections import (
    PARALLEL,
    BudgetTable,
    CiTable,
    GateTable,
    LocksTable,
    MayorTable,
    NotifyTable,
    RefineryTable,
    RunnerTable,
    ScheduleTable,
    TriggersTable,
    TrustTable,
    WitnessTable,
)
from convoy.config.values import (
    ENGINES,
    SCHEDULES,
    EngineName,
    ScheduleName,
    TomlSchema,
)
from convoy.model.records import PLANNER, EngineSpec, Settings
from convoy.text.nearest import did_you_mean
from grite.errors import BratError


class ConfigError(BratError):
    """The configuration cannot be used; its text has one line for each fault."""

    @property
    def faults(self) -> tuple[str, ...]:
        """Lines of the form `file: key: what is wrong; what is allowed`."""
        return self.args

    def __str__(self) -> str:
        return "\n".join(self.faults)


class Config(Table):
    """How brat works in this repository; every table may be left out."""

    staged: bool = False
    """Whether convoys are only planned and shown: nothing starts, and nothing is
    written to the forge but a convoy's comment and answers to people."""
    engine: Annotated[
        Mapping[EngineName, EngineTable],
        Field(json_schema_extra={"x-allowed": ENGINES, "additionalProperties": False}),
    ] = {}
    refinery: RefineryTable = RefineryTable()
    witness: WitnessTable = WitnessTable()
    runner: RunnerTable = RunnerTable()
    mayor: MayorTable = MayorTable()
    ci: CiTable = CiTable()
    triggers: TriggersTable = TriggersTable()
    schedule: Annotated[
        Mapping[ScheduleName, ScheduleTable],
        Field(
            json_schema_extra={"x-allowed": SCHEDULES, "additionalProperties": False}
        ),
    ] = {}
    budget: BudgetTable = BudgetTable()
    notify: NotifyTable = NotifyTable()
    locks: LocksTable = LocksTable()
    gate: GateTable = GateTable()
    trust: TrustTable = TrustTable()

    @model_validator(mode="after")
    def _knows_its_planner(self) -> Self:
        name, known = self.mayor.engine, {"default", *self.engine}
        if name and name not in known:
            near = did_you_mean(name, known)
            raise PydanticCustomError(
                "told",
                "mayor.engine: there is no {wanted}",
                {"wanted": f"[engine.{name}]{near}"},
            )
        if name and self.mayor.planner:
            raise PydanticCustomError(
                "told", "mayor.planner: an engine plans already: leave out mayor.engine"
            )
        return self

    def settings(self, cores: int | None = None) -> Settings:
        """Return what is frozen with a convoy. `[ci]` is not in it: it is local only.

        Without `[engine.default]` the default engine is `claude-code`.

        Args:
            cores: how many the machine has on which CI runs; None: a forge runs it.
        """
        engines = {"default": EngineTable(type="claude-code"), **self.engine}
        timeout_s = self.witness.timeout
        specs = {name: engine.spec(timeout_s) for name, engine in engines.items()}
        planner = self.mayor.engine
        if self.mayor.planner:
            planner = PLANNER + self.mayor.planner
            specs[planner] = EngineSpec(type=planner, timeout_s=timeout_s)
        frozen = {
            "engines": specs,
            "planner": "" if self.staged else planner,
            "splitter": self.mayor.engine if self.mayor.split else "",
            "locks": self.locks.policy,
            "limits": replace(
                self.budget.capped(self.gate.limits()),
                setup_s=self.witness.setup,
                acceptance_s=self.witness.acceptance,
                checkpoint_s=self.witness.checkpoint,
            ),
            "gate": self.gate.gate(),
            "budget": self.budget.budget(),
            "staged": self.staged,
            "max_parallel": self._parallel(cores),
            "notify": self.notify.on,
        }
        return convert({**self._same_named(), **frozen}, Settings)

    def _parallel(self, cores: int | None) -> int:
        """Return how many candidates CI judges at once."""
        if self.refinery.max_parallel is not None:
            return self.refinery.max_parallel
        slots = 0 if cores is None else self.ci.slots or cores
        return max(PARALLEL, slots + 1)

    def _same_named(self) -> dict[str, object]:
        """Return the keys of these tables that a convoy freezes under their own name.

        So a new key takes its line in the table and its line in `Settings`.
        """
        tables = (self.refinery, self.witness, self.mayor, self.runner)
        return {
            name: getattr(table, name)
            for table in tables
            for name in type(table).model_fields
            if name in Settings.__struct_fields__
        }


def load(text: str | bytes, *, source: str) -> Config:
    """Read the text of a configuration file; an empty one gives all defaults.

    Args:
        text: TOML 1.0, which is UTF-8 where it is bytes.
        source: what the messages call the file, such as `.brat/config.toml`.

    Raises:
        ConfigError: it is no TOML, or has unknown keys or values that are not allowed.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            raise ConfigError(encoding_fault(source, error)) from error
    text = text.removeprefix("\ufeff")
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(syntax_fault(source, text, error)) from error
    try:
        return Config.model_validate(table)
    except ValidationError as error:
        raise ConfigError(*field_faults(source, error, schema())) from error


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the file, for editors and documents."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Config.model_json_schema(schema_generator=TomlSchema),
        "title": "brat configuration",
    }
