// What each stage says, for a memory that was written down and for a run that was trained.

const WORDS = {
  memory: {
    lede:
      "A table of facts, written down as the weights of a small transformer. Ask it something and see how the " +
      "answer comes about. Nothing is looked up: this page does the forward pass itself, with the weights of " +
      "the memory.",
    prompt: [
      "Attention reads one relation",
      "The relations stand first, then the subject; unused positions hold the end. The last token reads the position " +
        "straight above it, and no other. After each answer the next column is read.",
    ],
    embedding: [
      "The embedding holds all answers",
      "The row of this name is a sum of blocks, one for each relation. A block holds the code of an answer: an " +
        "arrangement of the same few levels over its symbols.",
    ],
    brought: [
      "The relation closes the other blocks",
      "What attention brings is one number for each block: nothing where the relation is asked for, and a " +
        "constant taken from every symbol where it is not.",
    ],
    hidden: [
      "ReLU lets one block through",
      "The two are added. The constant exceeds every level, so a closed block falls below zero. A hidden unit " +
        "reads one symbol, and what is not positive falls silent.",
    ],
    gated: [
      "A gate lets one block through",
      "The two are added. A hidden unit is one symbol times its gate; the gate reads the sum of the whole block, " +
        "which tells only whether the block is open.",
    ],
    code: [
      "The blocks are added up",
      "All blocks but one are silent, so their sum, symbol by symbol, is the code of the answer.",
    ],
    scores: [
      "The best match is the answer",
      "Every name is scored by how well its code fits the sum. All codes have the same length, so the right one " +
        "leads every other.",
    ],
    edit: [
      "Change one fact",
      "A fact is one block of one row. Writing another code there changes this fact and no other. The change " +
        "lives in this page; nothing is written to disk.",
    ],
  },
  run: {
    lede:
      "A small transformer that was trained on a table of facts. Ask it something and see how the answer comes " +
      "about. This page does the forward pass itself, with the weights of the run.",
    prompt: [
      "Attention takes the mean",
      "The relation stands first, then the subject. Attention is uniform: it takes half of each.",
    ],
    embedding: [
      "The embedding as a superposition",
      "The row of the subject, taken apart by the fit e ≈ c + Σ A u: for each relation one matrix times the " +
        "vector of the answer, an offset that all subjects share, and what the fit leaves. Coloured cells are " +
        "positive, grey ones negative.",
    ],
    brought: ["What the relation brings", "The embedding of the relation, which is the same for all subjects."],
    hidden: [
      "Hidden units open and close",
      "Half of each is added up and read by the hidden units. They are grouped by the relation that opens them " +
        "most often; a unit that is not positive is closed.",
    ],
    code: [
      "What is written",
      "The open units write the final state. Beside it, the vector of the answer: the two point the same way if " +
        "the answer is sure.",
    ],
    scores: [
      "The best match is the answer",
      "The score of an attribute is the inner product of its vector with the final state.",
    ],
    edit: [
      "Change one fact",
      "Swap one part of the embedding for that of another answer, by the fitted matrix of the relation. If the " +
        "geometry is what the fit says, this fact changes and the others stay. The change lives in this page.",
    ],
  },
};
