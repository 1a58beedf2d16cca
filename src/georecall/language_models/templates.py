"""The sentences in which a model is shown a subject, and asked for a fact about it."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from georecall.errors import FolderError, ProbingError
from georecall.language_models.prompts import Template
from georecall.storage.json_files import read_json_model

DEFAULT_SUBJECT = "Let us talk about {subject}"
REMEDY = 'expected a file of templates, as {"subject": "…", "relations": {"capital": ["…", …]}}'


class Templates(BaseModel):
    """Where the subject's state is read, and how each relation is asked.

    subject   : the sentence in which the state of the subject's last token is read. No relation may be named before
                the subject, so that one state serves all of them.
    relations : for each relation the beginnings of sentences that the answer continues; the first is also the
                one used for linear relations and for the causal check.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    subject: str = DEFAULT_SUBJECT
    relations: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    def completed(self, relations: Iterable[str]) -> "Templates":
        """The same, with "The {relation} of … is" for every relation of the table that has no template.

        Raises:
            ProbingError: a template does not hold `{subject}` exactly once, or is for a relation the table lacks.
        """
        names = tuple(relations)
        unknown = [name for name in self.relations if name not in names]
        if unknown:
            raise ProbingError(
                f"expected templates for relations of the table, {', '.join(map(repr, names))}; "
                f"got {', '.join(map(repr, unknown))}"
            )
        every = {name: self.relations.get(name) or (f"The {name} of {{subject}} is",) for name in names}
        for text in (self.subject, *(text for texts in every.values() for text in texts)):
            Template(text)
        return Templates(subject=self.subject, relations=every)


def read_templates(path: Path, relations: Iterable[str]) -> Templates:
    """The templates in a JSON file `{"subject": "…", "relations": {"capital": ["…", …]}}`, completed.

    Both parts are optional.

    Raises:
        ProbingError: the file is missing, or is not of this form, or as `Templates.completed`; it is named.
    """
    try:
        return read_json_model(path, Templates, remedy=REMEDY).completed(relations)
    except FolderError as error:
        raise ProbingError(str(error)) from error
    except ProbingError as error:
        raise ProbingError(f"{path}: {error}") from error
