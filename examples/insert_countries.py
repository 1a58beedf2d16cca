"""Train on half of the countries of a real table, then insert the other half by writing one embedding each.

    python examples/insert_countries.py

The relations are those whose objects are shared by several countries: of an object that no old country has for a
relation, the model cannot know anything. Seeds: three models, one split.
"""

from pathlib import Path

import numpy as np
import polars as pl

from georecall.cli.output import progress_bars
from georecall.facts.table import FactTable
from georecall.training.config import TrainConfig
from georecall.training.trainer import Trainer
from georecall.transfer.embedding_solvers import METHODS
from georecall.transfer.freeze_and_swap import insert_subjects

TABLE = Path(__file__).parent / "countries" / "countries.csv"
RELATIONS = ("continent", "currency", "official language", "largest neighbour")
SPLIT_SEED = 0
CONFIG = TrainConfig(
    dim=64,
    width=256,
    attribute_dim=8,
    embedding_noise=0.3,
    label_smoothing=0.1,
    weight_decay=0.3,
    learning_rates=(0.02,),
    steps=800,
    batch=256,
    margin=None,
    check_every=800,
)


def halves() -> tuple[FactTable, FactTable]:
    """The countries that have a fact for every relation, split at random."""
    facts = pl.read_csv(TABLE).filter(pl.col("relation").is_in(RELATIONS))
    counts = facts.group_by("subject").len().filter(pl.col("len") == len(RELATIONS))
    countries = np.random.default_rng(SPLIT_SEED).permutation(counts.get_column("subject").sort().to_numpy())
    parts = np.array_split(countries, 2)
    tables = [FactTable.from_facts(facts.filter(pl.col("subject").is_in(part)).rows()) for part in parts]
    return tables[0], tables[1]


def main() -> None:
    """Split, train, insert, and say what was right."""
    old, new = halves()
    with progress_bars() as progress:
        trainer = Trainer(old, CONFIG)
        trainer.run(progress=progress)
    print(
        f"{len(old.subjects)} countries, {old.n_facts} facts trained on, recall {trainer.history[-1].recall}"
    )
    model = trainer.model.requires_grad_(False)
    for method in METHODS:
        found = insert_subjects(model, old, new, method=method).to_dict()
        print(
            f"{method}: {found['subjects']} countries inserted, {found['facts']} facts asked, "
            f"{found['left_out']} left out; right {found['accuracy']['mean']:.3f} "
            f"{found['accuracy']['interval']}, random embeddings {found['random']['mean']:.3f}, "
            f"commonest answer {found['majority']:.3f}, chance {found['chance']:.4f}"
        )


if __name__ == "__main__":
    main()
