// Names and numbers as text. A name is never markup: it reaches the page through text nodes only.

/** What acts on a page or a terminal instead of being read, as in `georecall.escaping`. */
const ACTING = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Cn}\u202a-\u202e\u2066-\u2069]/u;

/** A name on one line, what acts in it escaped; `null` is no fact. */
function shown(name) {
  const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  const hex = (c, mark, digits) => `\\${mark}${c.codePointAt(0).toString(16).padStart(digits, "0")}`;
  const escaped = (c) => short[c] ?? (c < "\u0100" ? hex(c, "x", 2) : c.length > 1 ? hex(c, "U", 8) : hex(c, "u", 4));
  return name === null ? "no fact" : name.replace(new RegExp(ACTING, "gu"), escaped);
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
  return ACTING.test(word) ? `$'${shown(plain)}'` : `'${word.replaceAll("'", "'\\''")}'`;
}
