"""C9: learned attention needs the same dimension as uniform attention, and new facts can be swapped in as well."""

from collections.abc import Sequence

from georecall.claims.capacity import capacity_cell
from georecall.claims.claim import Claim, Judgement, Preset, Result, Verdict
from georecall.claims.transfer import meets, stated, transfer_cell
from georecall.scaling.laws import CapacityPoint
from georecall.sweeps import Cell

WORLD: dict[Preset, tuple[int, int]] = {"quick": (64, 4), "standard": (256, 4), "paper": (1024, 8)}
RATES = (0.01, 0.03)
"""Learning rates at which learned attention trains; uniform attention gets the same."""
RELATIONS = 4
LEARNED = {"attention": "learned"}


def _cells(preset: Preset) -> Sequence[Cell]:
    uniform = capacity_cell(preset, *WORLD[preset]).model_copy(update={"learning_rates": RATES})
    swapped = transfer_cell(preset, "coded", RELATIONS)
    learned = swapped.training.model_copy(update=LEARNED)
    return [
        uniform,
        uniform.model_copy(update=LEARNED),
        swapped,
        swapped.model_copy(update={"training": learned}),
    ]


def _judge(results: Sequence[Result]) -> Judgement:
    uniform, learned = (CapacityPoint.of(result) for result in results[:2])
    transfers = results[2:]
    return Judgement(
        verdict=_verdict(uniform, learned, swapped=all(map(meets, transfers))),
        measured=f"N = {uniform.n_subjects}, R = {uniform.n_relations}: d* by seed {_by_seed(uniform)} with uniform "
        f"attention, {_by_seed(learned)} with learned attention; new facts at N = {transfers[0]['n_subjects']}: "
        + "; ".join(f"{result['training']['attention']} attention, {stated(result)}" for result in transfers),
    )


def _verdict(uniform: CapacityPoint, learned: CapacityPoint, *, swapped: bool) -> Verdict:
    if uniform.censored or learned.censored:
        return "undecided"
    overlap = min(uniform.known) <= max(learned.known) and min(learned.known) <= max(uniform.known)
    return "holds" if overlap and swapped else "fails"


def _by_seed(point: CapacityPoint) -> str:
    return ", ".join("none" if value is None else str(value) for value in point.least)


C9 = Claim(
    id="C9",
    statement="Uniform and learned attention need the same dimension, and let new facts be swapped in alike.",
    source="The paper trains with both; sizes and numbers are ours.",
    criterion="The ranges of d* over seeds overlap, and both meet the criterion of C7",
    cells=_cells,
    judge=_judge,
)
