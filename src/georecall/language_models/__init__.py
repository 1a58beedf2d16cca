"""Access to pretrained language models: loading, prompts, hidden states and changes of them."""
