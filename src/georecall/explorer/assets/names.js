// Names and numbers as text. A name is never markup: it reaches the page through text nodes only.

/** A name on one line, with control characters escaped; `null` is no fact. */
function shown(name) {
  const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  const escaped = (c) => short[c] ?? "\\x" + c.codePointAt(0).toString(16).padStart(2, "0");
  return name === null ? "no fact" : name.replace(/\p{Cc}/gu, escaped);
}

/** A name inside a plain text, such as a label: isolated, so that its direction stays its own. */
function isolated(name) {
  return `\u2068${shown(name)}\u2069`;
}

/** A number with all digits that float32 has, and a real minus sign. */
function exact(value) {
  const text = Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(7)));
  return text.replace("-", "−");
}

/** A number with two decimals. */
function rounded(value, digits = 2) {
  return value.toFixed(digits).replace(/^-(?=0\.?0*$)/, "").replace("-", "−");
}

/** A word of a command for a POSIX shell or, with control characters in it, for bash and zsh. */
function quoted(word) {
  if (/^[\p{L}\p{N}_@%+=:,./-]+$/u.test(word)) return word;
  const plain = word.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
  return /\p{Cc}/u.test(word) ? `$'${shown(plain)}'` : `'${word.replaceAll("'", "'\\''")}'`;
}
