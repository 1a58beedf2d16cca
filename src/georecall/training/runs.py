"""A training run as a folder: whole at every moment, resumed bit for bit, and read back without running code."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from georecall.errors import FolderError, TrainingError
from georecall.facts.table import FactTable
from georecall.facts.table_files import read_parquet, write_parquet
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress, no_progress
from georecall.storage.drafts import tidy
from georecall.storage.files import write_bytes, write_text
from georecall.storage.folders import claimed, sha256_of, whole_folder
from georecall.storage.json_files import fields_of, read_json_model
from georecall.storage.kinds import Kind, has
from georecall.storage.paths import check_utf8
from georecall.storage.tensors import TensorForm, open_tensors
from georecall.training.config import TrainConfig
from georecall.training.run_files import CheckpointNotes, StoredHistory, StoredLook, StoredResult
from georecall.training.settings import check_room
from georecall.training.trainer import Checked, Trainer, fresh_model, questions_of

CONFIG, TABLE, HISTORY, RESULT = "config.json", "facts.parquet", "history.json", "result.json"
CHECKPOINT, MODEL = "checkpoint.safetensors", "model.safetensors"
HASH = "sha256"
"""Entry of a checkpoint that says what the rest of it hashes to."""

SECONDS_BETWEEN_CHECKPOINTS = 5.0

RUN = Kind(
    name="a run",
    markers=(CONFIG,),
    is_ours=has("dim", "width", "hops", "mode", "freeze", "learning_rates", "seeds", "steps", "batch"),
    files=lambda _: (
        *(CONFIG, TABLE, HISTORY, RESULT, CHECKPOINT, MODEL, "history.html"),
        *("transfer-*.json", "insertion-*.json", "analysis/*.json", "analysis/*.html", "analysis/*.png"),
    ),
)
"""A run is told by its settings; what was found out about it goes when it is replaced."""


@dataclass(frozen=True, kw_only=True)
class TrainedRun:
    """What a finished run left: its config, its table, the ensemble, and what was measured at the end."""

    config: TrainConfig
    table: FactTable
    model: RecallTransformer
    result: dict[str, Any]

    @property
    def digest(self) -> str:
        """SHA-256 of all that the ensemble is: its weights, its table and its settings."""
        parts = (self.result["sha256"], self.table.digest(), self.config.model_dump_json())
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()


def start_run(folder: Path, table: FactTable, config: TrainConfig, *, replace: bool = False) -> None:
    """Make the folder of a run that has not begun; one that is being trained is not replaced.

    Raises:
        TrainingError, GeorecallError: as `questions_of`; nothing is written.
        FolderError: as `storage.folders.whole_folder`.
    """
    check_utf8(folder)
    questions_of(table, config)
    tidy(folder.resolve().parent)
    with whole_folder(folder, kind=RUN, replace=replace, wait=0.0) as draft:
        (draft / CONFIG).write_text(_json(config.model_dump(mode="json")), encoding="utf-8")
        write_parquet(table, draft / TABLE)


def continue_run(
    folder: Path,
    *,
    device: torch.device | None = None,
    until: int | None = None,
    progress: Progress = no_progress,
) -> list[Checked]:
    """Train the run of a folder from where it stands to its end, or until a number of steps is done.

    A checkpoint is written every 5 seconds and at the end; a run that is stopped or killed, at whatever step, goes
    on from the last one, and ends as one that was not (bit for bit on one thread). A finished run is checked and
    left as it is. Returns the history.

    Raises:
        FolderError: a file of the folder is missing or altered, or another command trains the run.
        TrainingError: as `Trainer` and its `run`.
    """
    _present(folder / CONFIG)
    with claimed(folder, wait=0.0):
        return _continue(folder, device, until, progress)


def _continue(
    folder: Path, device: torch.device | None, until: int | None, progress: Progress
) -> list[Checked]:
    config, table = _inputs(folder)
    if (folder / RESULT).is_file():
        if describe_run(folder)["finished"]:
            return _history(folder / HISTORY, config, last=load_run(folder).result["last"])
        _present(folder / CHECKPOINT)
    trainer = Trainer(table, config, device=device or torch.device("cpu"))
    spent = _restore(folder / CHECKPOINT, trainer)
    started = saved = time.monotonic()

    def keep(trainer: Trainer) -> None:
        nonlocal saved
        if time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS:
            saved = time.monotonic()
            _save(folder, trainer, spent + saved - started)

    trainer.run(until=until, progress=progress, after_check=keep)
    if trainer.step:
        _save(folder, trainer, spent + time.monotonic() - started)
    return trainer.history


def describe_run(folder: Path) -> dict[str, Any]:
    """How a run stood when it was last written: steps, recall of every member, parameters, time, versions.

    Raises FolderError if the folder is no run, or the run has not been written yet.
    """
    if (folder / CONFIG).is_file() and not (folder / RESULT).exists():
        raise FolderError(_unfinished(folder))
    found = read_json_model(folder / RESULT, StoredResult, remedy=_way_out(folder / RESULT))
    return found.model_dump(mode="json", exclude_unset=True)


def load_run(folder: Path) -> TrainedRun:
    """A finished run.

    Raises FolderError if it is not finished, or a file is missing or altered.
    """
    config, table = _inputs(folder)
    result = describe_run(folder)
    if not result["finished"]:
        raise FolderError(_unfinished(folder))
    if table.digest() != result.get("table"):
        raise _refusal(folder / TABLE, "altered: not the table that the run was trained on")
    if config.model_dump(mode="json") != result.get("config"):
        raise _refusal(folder / CONFIG, "altered: not the settings that the run was trained with")
    if sha256_of(_present(folder / MODEL)) != result.get("sha256"):
        raise _refusal(folder / MODEL, f"altered or truncated: expected SHA-256 {result.get('sha256')}")
    model = fresh_model(table, config)
    with open_tensors(folder / MODEL, remedy=_way_out(folder / MODEL)) as file:
        model.load_state_dict(file.expected(_forms(model.state_dict())))
    return TrainedRun(config=config, table=table, model=model.requires_grad_(False), result=result)


def _inputs(folder: Path) -> tuple[TrainConfig, FactTable]:
    """The settings and the table of a run, if an ensemble of them can be made here."""
    check_utf8(folder)
    config = read_json_model(folder / CONFIG, TrainConfig, remedy=_way_out(folder / CONFIG))
    table = read_parquet(_present(folder / TABLE))
    n_subjects, n_relations = table.answers.shape
    try:
        check_room(config, subjects=n_subjects, relations=n_relations, attributes=len(table.attributes))
    except TrainingError as error:
        raise _refusal(folder / CONFIG, str(error)) from error
    return config, table


def _history(path: Path, config: TrainConfig, *, last: dict[str, Any]) -> list[Checked]:
    """All looks of a run that ended with the look `last`."""
    looks = read_json_model(path, StoredHistory, remedy=_way_out(path)).root
    history = _checked(looks, config, path)
    if [look.model_dump() for look in looks[-1:]] != [last]:
        raise _refusal(path, "altered: does not end as the run did")
    return history


def _checked(looks: Sequence[StoredLook], config: TrainConfig, path: Path) -> list[Checked]:
    """The looks at an ensemble, if they are of as many members as it has."""
    members = len(config.members)
    for number, look in enumerate(looks):
        if not look.is_of(members):
            raise _refusal(path, f"look {number}: expected an entry for each of {members} members")
    return [Checked.of(look.model_dump()) for look in looks]


def _save(folder: Path, trainer: Trainer, seconds: float) -> None:
    """Write how a run stands, so that what is on disk is enough at every moment."""
    history = [checked.to_dict() for checked in trainer.history]
    result = _description(trainer, seconds)
    if trainer.finished:
        write_bytes(folder / MODEL, save(_on_cpu(trainer.model.state_dict())))
        result["sha256"] = sha256_of(folder / MODEL)
    else:
        write_bytes(folder / CHECKPOINT, _checkpoint(trainer, history, seconds))
    write_text(folder / HISTORY, _json(history))
    write_text(folder / RESULT, _json(result))
    if trainer.finished:
        (folder / CHECKPOINT).unlink(missing_ok=True)


def _checkpoint(trainer: Trainer, history: list[dict[str, Any]], seconds: float) -> bytes:
    """Model, moments, step and history in one file, so that they belong together."""
    tensors = _state(trainer, trainer.optimiser.state())
    metadata = {
        "step": str(trainer.step),
        "seconds": repr(seconds),
        "history": json.dumps(history),
        "inputs": _inputs_digest(trainer),
    }
    return save(_on_cpu(tensors), metadata | {HASH: _digest(tensors, metadata)})


def _restore(path: Path, trainer: Trainer) -> float:
    """Take a checkpoint over, if there is one; returns the seconds spent before it."""
    if not path.exists():
        return 0.0
    remedy = f"not a checkpoint of this run; {_way_out(path)}"
    with open_tensors(path, remedy=remedy) as file:
        with fields_of(str(path), remedy=remedy):
            notes = CheckpointNotes.model_validate_strings(file.metadata)
        if notes.inputs != _inputs_digest(trainer):
            raise FolderError(f"{path}: was trained with another {CONFIG} or {TABLE} than those beside it")
        tensors = file.expected(_forms(_state(trainer, trainer.optimiser.blank_state())))
        noted = {name: value for name, value in file.metadata.items() if name != HASH}
    if notes.sha256 != _digest(tensors, noted):
        raise _refusal(path, "altered: its content does not give the hash it states")
    trainer.model.load_state_dict(_below("model.", tensors))
    trainer.optimiser.load_state(_below("optimiser.", tensors))
    trainer.losses.copy_(tensors["losses"])
    trainer.step = notes.step
    trainer.history[:] = _checked(notes.history, trainer.config, path)
    return notes.seconds


def _state(trainer: Trainer, moments: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a checkpoint: model, moments, and the losses since the last look."""
    model = {f"model.{name}": value for name, value in trainer.model.state_dict().items()}
    return (
        model | {f"optimiser.{name}": value for name, value in moments.items()} | {"losses": trainer.losses}
    )


def _forms(tensors: Mapping[str, Tensor]) -> dict[str, TensorForm]:
    return {name: TensorForm.of(tensor) for name, tensor in tensors.items()}


def _inputs_digest(trainer: Trainer) -> str:
    return hashlib.sha256((trainer.config.model_dump_json() + trainer.table.digest()).encode()).hexdigest()


def _digest(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name, value in sorted(_on_cpu(tensors).items()):
        digest.update(name.encode() + value.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _unfinished(folder: Path) -> str:
    return f"{folder}: not finished; go on with `georecall train --resume {folder}`"


def _description(trainer: Trainer, seconds: float) -> dict[str, Any]:
    return {
        "finished": trainer.finished,
        "steps": trainer.config.steps,
        "last": trainer.look().to_dict(),
        "members": [{"learning_rate": rate, "seed": seed} for rate, seed in trainer.config.members],
        "questions": len(trainer.examples),
        "held_out": len(trainer.held_out),
        "parameters": parameter_counts(trainer.model),
        "seconds": round(seconds, 3),
        "device": str(trainer.device),
        "threads": torch.get_num_threads(),
        "versions": {name: version(name) for name in ("georecall", "torch")},
        "table": trainer.table.digest(),
        "config": trainer.config.model_dump(mode="json"),
    }


def parameter_counts(model: RecallTransformer) -> dict[str, int]:
    """Parameters of one member, trained and frozen."""
    sizes = [(parameter.requires_grad, parameter[0].numel()) for parameter in model.parameters()]
    return {
        "trained": sum(size for trained, size in sizes if trained),
        "frozen": sum(size for trained, size in sizes if not trained),
    }


def _below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _on_cpu(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().cpu().contiguous() for name, value in tensors.items()}


def _present(path: Path) -> Path:
    if not path.is_file():
        raise _refusal(path, "missing")
    return path


def _refusal(path: Path, why: str) -> FolderError:
    """What is wrong with a file of a run, and the way out."""
    return FolderError(f"{path}: {why}; {_way_out(path)}")


def _way_out(path: Path) -> str:
    """What to do about a file of a run that cannot be used."""
    folder = path.parent
    if not (folder / RESULT).is_file():
        return "was this folder written by `georecall train`?"
    if path.name in {CONFIG, TABLE}:
        return "put it back, or train again into another folder"
    left = " and ".join(str(file) for file in dict.fromkeys((path, folder / RESULT)) if file.is_file())
    return f"put it back, or delete {left} and train again with `georecall train --resume {folder}`"


def _json(content: Any) -> str:
    return json.dumps(content, indent=2) + "\n"
