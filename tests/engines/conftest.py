from tests.runner.conftest import forge as forge  # noqa: PLC0414  a fixture
