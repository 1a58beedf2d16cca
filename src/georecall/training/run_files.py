"""What the JSON files of a run hold, and the notes of its checkpoint."""

from typing import Annotated, Any

from pydantic import Field, Json, RootModel, model_validator

from georecall.storage.json_files import Stored

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0)]


class StoredLook(Stored):
    """What `Checked.to_dict` gives: an entry for each member, None for a number that is not finite."""

    step: Count
    loss: list[float | None]
    recall: list[Share]
    margin: list[float | None]
    held_out_recall: list[Share] | None

    def is_of(self, members: int) -> bool:
        """Whether it has an entry for each of so many members."""
        lists = (self.loss, self.recall, self.margin, self.held_out_recall)
        return all(entries is None or len(entries) == members for entries in lists)


class StoredHistory(RootModel[list[StoredLook]]):
    """`history.json`: every look at the ensemble."""


class StoredMember(Stored):
    """What sets a member apart from the others."""

    learning_rate: float
    seed: Count


class StoredParameters(Stored):
    """How many numbers one member has."""

    trained: Count
    frozen: Count


class StoredResult(Stored):
    """`result.json`: how a run stood when it was last written; `sha256` is that of the model of a finished run."""

    finished: bool
    steps: Count
    last: StoredLook
    members: list[StoredMember]
    questions: Count
    held_out: Count
    parameters: StoredParameters
    seconds: Seconds
    device: str
    threads: Count
    versions: dict[str, str]
    table: str
    config: dict[str, Any]
    sha256: str | None = None

    @model_validator(mode="after")
    def _check_members(self) -> "StoredResult":
        if not self.members or not self.last.is_of(len(self.members)):
            raise ValueError("expected an entry of the last look for each member")
        return self


class CheckpointNotes(Stored):
    """The metadata of a checkpoint: `inputs` is a hash of settings and table, `sha256` one of all the rest."""

    step: Count
    seconds: Seconds
    history: Json[list[StoredLook]]
    inputs: str
    sha256: str
