"""The model card of a memory folder: a README whose snippet runs with `transformers` alone."""

from typing import TYPE_CHECKING

from georecall.constructions.certificate import KERNELS
from georecall.facts.names import RELATION_MARK
from georecall.models.tokenizer import prompt_text

if TYPE_CHECKING:
    from georecall.memory.memory import FactMemory

_CARD = """\
---
library_name: transformers
pipeline_tag: text-generation
tags: [georecall, factual-recall]
---

# A table of facts as a transformer

This is a stock `{model_class}` whose weights were written down, not trained: it recalls every one of {facts:,}
facts about {subjects:,} subjects by {relations:,} relations, and every chain of up to {hops} of them{exactly}.
It needs `transformers` and `torch`, no remote code and no other package.

```python
from transformers import AutoModelForCausalLM, AutoTokenizer

folder = "."  # the folder that holds this file
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(folder)

prompt = tokenizer({prompt}, return_tensors="pt")
answer = model.generate(**prompt)[0, prompt["input_ids"].shape[1]:]
print(tokenizer.decode(answer, skip_special_tokens=True))

# the same as a conversation: the subject, then the relations in the order in which they are followed
from transformers import pipeline

chat = pipeline("text-generation", model=model, tokenizer=tokenizer)
print(chat([{{"role": "user", "content": {question}}}])[0]["generated_text"][-1]["content"])
```

## The prompt

`␞` stands before a relation, `␟` before an entity, `␃` is the end and `␀` the unknown. A prompt has {places}
relation places, the unused ones filled with `␃`, and then the subject. The model emits the entities along the
chain, then `␃`; a fact that the table does not have is `␀`, and so is everything after it. Names are compared
in Unicode NFC without outer white space. A name that the table does not have cannot be tokenised.

## The certificate

`certificate.json` states what is known of the model, and the SHA-256 of every file. {known}: the right token
leads every other by at least {margin:.3f} in {dtype}, under the attention kernels {kernels}. The facts
themselves are in `facts.parquet`.
"""

_KNOWN = {
    "proved": "It is proved from the errors that the number format can make, and by running the {units:,} hidden "
    "units at every value",
    "asked": "Every entity was asked every relation, and the end, at every step",
    "sampled": "Of {steps:,} steps {asked:,}, drawn at random, were asked, which proves nothing of the others",
}
"""How the margin is known."""


def model_card(memory: "FactMemory") -> str:
    """The card, with a snippet that asks the first fact of the table."""
    chain, table, known = memory.chain, memory.table, memory.certificate
    subject, relation = table.subjects[0], table.relations[0]
    return _CARD.format(
        model_class=memory.architecture.model_class,
        facts=table.n_facts,
        subjects=len(table.subjects),
        relations=len(table.relations),
        hops=chain.hops,
        places=chain.relation_positions,
        prompt=repr(prompt_text(subject, (relation,), hops=chain.hops)),
        question=repr(f"{subject}{RELATION_MARK}{relation}"),
        exactly=", exactly" if known.exact else "",
        known=_KNOWN[known.basis].format(**vars(known)),
        kernels=" and ".join(KERNELS),
        margin=known.margin,
        dtype=memory.dtype,
    )
