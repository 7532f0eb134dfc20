// IGNORE-1: which names a scan passes over.

const ALWAYS = [
  "@eaDir/", "#recycle/", "#snapshot/", "$RECYCLE.BIN/", "System Volume Information/", ".Trash-*/", ".Trashes/",
  ".kurabito-trash/", "lost+found/", "*.part", "*.!qB", "*.!ut", "*.aria2", "*.crdownload",
];

const literal = (character) => `\\u{${character.codePointAt(0).toString(16)}}`;

/** What is between `[` and `]`, as a regular expression. A range that is the wrong way round has no character. */
function setMatcher(set, isNot) {
  const ranges = [];
  for (let at = 0; at < set.length; at++) {
    const first = set[at];
    const last = set[at + 1] === "-" && at + 2 < set.length ? set[at += 2] : first;
    if (first.codePointAt(0) <= last.codePointAt(0)) ranges.push(`${literal(first)}-${literal(last)}`);
  }
  if (ranges.length === 0) return isNot ? "." : "(?!)";
  return `[${isNot ? "^" : ""}${ranges.join("")}]`;
}

/** A glob within one name, as a regular expression. A `[` that nothing closes is itself; there is no escape. */
function nameMatcher(written) {
  const glob = Array.from(written); // by characters, not by UTF-16
  let source = "";
  for (let at = 0; at < glob.length; at++) {
    const isNot = glob[at + 1] === "!";
    const start = at + (isNot ? 2 : 1);
    const end = glob[at] === "[" ? glob.indexOf("]", start + 1) : -1; // a `]` that comes first is one of the set
    if (glob[at] === "*") source += ".*";
    else if (glob[at] === "?") source += ".";
    else if (end > 0) {
      source += setMatcher(glob.slice(start, end), isNot);
      at = end;
    } else source += literal(glob[at]);
  }
  return new RegExp(`^${source}$`, "su");
}

function matchesParts(parts, names) {
  if (parts.length === 0) return names.length === 0;
  if (parts[0] === "**") {
    return matchesParts(parts.slice(1), names) || names.length > 0 && matchesParts(parts, names.slice(1));
  }
  return names.length > 0 && parts[0].test(names[0]) && matchesParts(parts.slice(1), names.slice(1));
}

function compile(written) {
  const isKept = written.startsWith("!");
  let pattern = isKept ? written.slice(1) : written;
  const isForFolders = pattern.endsWith("/");
  pattern = pattern.replace(/\/+$/, "");
  if (!pattern.includes("/")) {
    const matcher = nameMatcher(pattern);
    return { isKept, matches: (names, isFolder) => (isFolder || !isForFolders) && matcher.test(names.at(-1)) };
  }
  const parts = pattern.split("/").filter(Boolean).map((part) => (part === "**" ? part : nameMatcher(part)));
  return { isKept, matches: (names, isFolder) => (isFolder || !isForFolders) && matchesParts(parts, names) };
}

/** A function that says of a path, and whether it is a folder, whether it is passed over. */
export function ignoring(ignored) {
  const patterns = [...ALWAYS, ...JSON.parse(ignored)].map(compile);
  return (path, isFolder) => {
    const names = path.split("/");
    const last = patterns.findLast(({ matches }) => matches(names, isFolder)); // the last one that matches decides
    return last !== undefined && !last.isKept;
  };
}
