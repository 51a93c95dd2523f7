"""Messages from people to a task's agents, and how many the agents were given."""

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal, in_session, unsettled
from convoy.events.fact import TaskEvent, clause
from convoy.model.attempt import Message
from convoy.model.state import Moment, State, Task


class TaskTold(TaskEvent, frozen=True, kw_only=True, tag="task.told"):
    """A person sent a message to the task's agents, present and future."""

    by: str
    text: str
    """The message, cleaned."""

    def sentence(self) -> str:
        return f"{self.by} tells task {self.task}: {clause(self.text)}."

    def task_after(self, task: Task, _now: Moment) -> Task:
        attempt = task.attempt
        if attempt is not None:
            said = Message(by=self.by, text=self.text)
            attempt = replace(attempt, messages=(*attempt.messages, said))
        notes = (*task.notes, f"{self.by} says: {self.text}")
        told = task.after_words_of(self.by)
        return replace(told, notes=notes, attempt=attempt)


class TaskHeard(TaskEvent, frozen=True, kw_only=True, tag="task.heard"):
    """The running attempt's engine was given messages that people sent meanwhile."""

    attempt: int
    messages: int
    """How many of the messages sent during the attempt it was given so far."""

    def sentence(self) -> str:
        return (
            f"The engine of task {self.task}, attempt {self.attempt}, was given "
            f"what people told it: {self.messages} so far."
        )

    def task_after(self, task: Task, _now: Moment) -> Task:
        attempt = task.attempt and replace(task.attempt, heard=self.messages)
        return replace(task, attempt=attempt)


class TellTask(Command, frozen=True, kw_only=True):
    """A person sends a message to a task's agents."""

    convoy: str
    task: int
    by: str
    text: str

    def decide(self, state: State) -> Decision:
        """Keep a message for the running attempt and every later one."""
        task = unsettled(state, self.convoy, self.task)
        if isinstance(task, Refusal):
            return task
        return (
            TaskTold(
                convoy=self.convoy,
                task=task.number,
                by=self.by,
                text=self.text,
            ),
        )


class NoteHeard(Command, frozen=True, kw_only=True):
    """The running attempt's engine was given this many of its messages."""

    convoy: str
    task: int
    attempt: int
    messages: int

    def decide(self, state: State) -> Decision:
        """Note how many messages the attempt's engine was given, if that is new."""
        task = in_session(state, self.convoy, self.task, self.attempt)
        if isinstance(task, Refusal):
            return task
        attempt = task.attempt
        if attempt is None or not attempt.heard < self.messages <= len(
            attempt.messages
        ):
            return Refusal(f"task {task.number} has no such message")
        return (
            TaskHeard(
                convoy=self.convoy,
                task=task.number,
                attempt=attempt.number,
                messages=self.messages,
            ),
        )
