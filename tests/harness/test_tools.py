from __future__ import annotations

import pytest

from tests.harness.tools import MissingTool, main


def test_every_tool_that_cannot_be_had_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    got: list[str] = []

    def refuse() -> None:
        raise MissingTool("mvn failed:\nno route to host")

    tools = {"one": refuse, "two": lambda: got.append("two"), "three": refuse}
    assert main(tools) == 1
    assert got == ["two"]
    assert capsys.readouterr().err == (
        "Cannot get one: mvn failed:\nno route to host\n"
        "Cannot get three: mvn failed:\nno route to host\n"
    )
    assert main({"two": lambda: got.append("again")}) == 0
