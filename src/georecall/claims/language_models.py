"""L1 and L2: whether hidden states of a pretrained language model hold relations linearly, and add them up."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import Field

from georecall.claims.claim import Claim, Judgement, Preset, Result, Verdict
from georecall.language_models.packaged_model import NAME, VERSION, lacks_packaged_model, packaged_model
from georecall.probing import LanguageModel, analyse, load_example, read_model
from georecall.probing.examples import EXAMPLES, Example
from georecall.progress import Progress
from georecall.statistics.intervals import Interval, number
from georecall.sweeps import Cell

LAYER_STEP: dict[Preset, int] = {"quick": 3, "standard": 1, "paper": 1}
"""States after every so many blocks are read."""
LEAST_SHARE = 0.5
LEAST_ADDING = 2


class ProbeCell(Cell):
    """The packaged language model probed on one of the shipped tables, with all controls."""

    example: Example
    model: str = f"{NAME} ({VERSION})"
    layer_step: int = Field(default=1, ge=1)
    folds: int = 5
    shuffles: int = 5
    seed: int = 0

    def measure(self, progress: Progress) -> dict[str, Any]:
        """Read the states after every `layer_step`-th block, and analyse them."""
        lm = _model()
        table, templates = load_example(self.example)
        reading = read_model(
            lm,
            table,
            templates.subject,
            layers=tuple(range(self.layer_step, lm.n_layers + 1, self.layer_step)),
            seed=self.seed,
            progress=progress,
        )
        found = analyse(
            reading, table, folds=self.folds, shuffles=self.shuffles, seed=self.seed, progress=progress
        )
        return {
            "digest": lm.digest,
            "template": templates.subject,
            "subjects": len(table.subjects),
            "facts": table.n_facts,
            "findings": found.to_dict(),
        }


@cache
def _model() -> LanguageModel:
    """The packaged model, loaded once in a process, as that takes longer than to read it."""
    return LanguageModel.load(gguf=packaged_model())


def _cells(preset: Preset) -> Sequence[Cell]:
    return [ProbeCell(example=example, layer_step=LAYER_STEP[preset]) for example in EXAMPLES]


def judge_codes(results: Sequence[Result]) -> Judgement:
    """L1: in how many relations of each table there is evidence."""
    shares, said = [], []
    for result in results:
        verdicts = result["findings"]["evidence"]
        found = sum(verdict["evidence"] for verdict in verdicts)
        shares.append(found / len(verdicts))
        words = [f"{verdict['relation']}: {verdict['words'].replace(';', ',')}" for verdict in verdicts]
        said.append(
            f"[{_table(result)}] evidence for {found} of {len(verdicts)} relations; {'; '.join(words)}"
        )
    met = [share >= LEAST_SHARE for share in shares]
    return Judgement(verdict=_verdict(met), measured="; ".join([NAME, *said]))


def judge_superposition(results: Sequence[Result]) -> Judgement:
    """L2: whether several relations add to what the others explain, beyond what a fit finds without facts."""
    met, said = [], []
    for result in results:
        joint = result["findings"]["joint"]
        if joint is None:
            said.append(f"[{_table(result)}] left out: {result['findings']['joint_skipped']}")
            continue
        adding = {name: Interval(**found["chosen"]) for name, found in joint["unique"].items()}
        beside = {name: Interval(**joint[name]["chosen"]) for name in ("shuffled", "random")}
        r2 = Interval(**joint["joint"]["chosen"])
        several = sum(interval.low > 0 for interval in adding.values()) >= LEAST_ADDING
        met.append(several and all(r2.low > control.high for control in beside.values()))
        alone = {name: Interval(**found["chosen"]) for name, found in joint["alone"].items()}
        said.append(
            f"[{_table(result)}] joint R² {r2}, shuffled facts {beside['shuffled']}, random weights "
            f"{beside['random']}; alone: {_each(alone)}; lost without: {_each(adding)}; "
            f"overlap of relations, mean cos²: {_overlaps(joint)}"
        )
    return Judgement(verdict=_verdict(met), measured="; ".join([NAME, *said]))


def _verdict(met: Sequence[bool]) -> Verdict:
    """Holds if it is met in all tables, fails if in none."""
    if met and all(met):
        return "holds"
    return "undecided" if any(met) or not met else "fails"


def _table(result: Result) -> str:
    findings = result["findings"]
    return (
        f"{result['example']}, N = {result['subjects']}, R = {len(findings['evidence'])}, "
        f"{len(findings['layers']) - 1} layers, {result['folds']} folds"
    )


def _each(intervals: Mapping[str, Interval]) -> str:
    return ", ".join(f"{name} {interval}" for name, interval in intervals.items())


def _overlaps(joint: dict[str, Any]) -> str:
    """The pairs of relations whose subspaces lie closest and furthest, at the layer chosen most often."""
    place = joint["layers"].index(max(joint["chosen_layers"], key=joint["chosen_layers"].count))
    names = joint["relations"]
    overlaps = joint["subspaces"][place]["overlaps"]["mean"]
    shuffled = joint["shuffled_subspaces"][place]["overlaps"]["mean"]
    pairs = [(a, b) for a in range(len(names)) for b in range(a) if overlaps[a][b] is not None]
    if not pairs:
        return "one relation alone"
    ends = (max, min) if len(pairs) > 1 else (max,)
    chosen = [end(pairs, key=lambda pair: overlaps[pair[0]][pair[1]]) for end in ends]
    return " to ".join(
        f"{number(overlaps[a][b])} of {names[b]} and {names[a]} (facts shuffled {number(shuffled[a][b])})"
        for a, b in chosen
    )


SOURCE = (
    "The paper claims similar linear encodings in Qwen, Llama and Phi. Here it is another, small model, because it can "
    "be had as a package: SmolLM2-135M-Instruct, dequantised from 4 bits and instruct-tuned. Tables, controls and "
    "numbers are ours."
)

L1 = Claim(
    id="L1",
    statement="Hidden states of a pretrained language model hold the relations of a subject as linear codes.",
    source=SOURCE,
    criterion="Evidence, the 95 % interval of the difference to every control above 0 (majority, shuffled labels, "
    "n-grams of the name, layer 0, random weights, any other relation), for at least half of the relations of a table; "
    "holds in all tables, fails in none",
    cells=_cells,
    judge=judge_codes,
    lacks=lacks_packaged_model,
)
L2 = Claim(
    id="L2",
    statement="In a pretrained language model the relations of a subject superpose: its hidden state is a sum, to "
    "which each adds a part of its own.",
    source=SOURCE,
    criterion=f"On held-out subjects, the R² of the joint fit is above those of shuffled facts and of random weights "
    f"beyond their intervals, and at least {LEAST_ADDING} relations explain what no other does; holds in all tables, "
    "fails in none",
    cells=_cells,
    judge=judge_superposition,
    lacks=lacks_packaged_model,
)
