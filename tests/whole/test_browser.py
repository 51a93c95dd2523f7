"""The dashboard in a real browser, beside the real thing, from the label to the end."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.whole.test_dashboard import running
from tests.world import browser as browsers
from tests.world.browser import PROGRAM
from tests.world.terminal import left_running
from tests.world.words import NO_BOX, engine, project

pytestmark = [pytest.mark.timeout(600), pytest.mark.needs(PROGRAM)]

SCRIPT = "<script>document.title = 'owned'</script>"
AGENT = f"""
n=0; while [ $n -lt 9 ]; do n=$((n+1)); echo "line $n {SCRIPT}"; done
until [ -e {{gates}}/agent-$BRAT_ATTEMPT ]; do sleep 0.1; done
echo the last line
[ $BRAT_ATTEMPT = 2 ] || exit 3
echo hi > hi.txt
"""
"""It goes on when the test lets it, and so does CI."""
CONFIG = f"""
[witness]
attempts = 1
[ci]
command = "until [ -e {{gates}}/ci ]; do sleep 0.1; done"
{NO_BOX}"""


async def test_a_session_is_watched_and_its_task_retried(tmp_path: Path) -> None:
    agent = AGENT.format(gates=tmp_path)
    terminal = project(tmp_path, engine(agent, CONFIG.format(gates=tmp_path)))
    terminal.done("brat init")
    terminal.done("brat mayor start --task 'Say hi'")
    with running(terminal, "up", "--port", "0") as url:
        async with browsers.launched() as browser, browsers.tab(browser) as tab:
            await tab.page.goto(url)
            agents = tab.page.get_by_role("region", name="Working agents")
            await agents.get_by_role("link").click()
            printed = tab.page.locator("#printed")
            await expect(printed).to_contain_text(f"line 9 {SCRIPT}")
            await tab.picture("session-tail")
            (tmp_path / "agent-1").touch()
            await expect(printed).to_contain_text("the last line")
            heading = tab.page.get_by_role("heading", level=1)
            await expect(heading).to_contain_text("blocked")
            title = await tab.page.title()
            await tab.page.get_by_role("button", name="retry task 1").click()
            await expect(heading).to_contain_text("running")
            await tab.page.goto(url)
            for state, gate in (("running", "agent-2"), ("needs-review", "ci")):
                bar = tab.page.get_by_role("link", name=f"1 {state}")
                await expect(bar).to_be_visible()
                (tmp_path / gate).touch()
            await expect(tab.page.get_by_text("1 of 1 merged")).to_be_visible()

    assert "owned" not in title
    assert tab.complaints == []
    assert "Task 1 was queued again (retry)" in terminal.done("brat log show")
    assert left_running(terminal.cwd) == []
