/** Labels as an object carries them. */
type Labels = Readonly<Record<string, string>> | undefined;

/**
 * Reads a label selector as Kubernetes writes it (`a=b`, `a==b`, `a!=b`, `a in (b, c)`, `a notin (b, c)`, `a`, `!a`, joined
 * by commas) and returns whether labels match it.
 *
 * @throws if the text is no label selector
 */
export function labelSelector(text: string): (labels: Labels) => boolean {
  const requirements = split(text).map((part) => requirement(part, text));
  return (labels) => requirements.every((matches) => matches(labels ?? {}));
}

type Requirement = (labels: Readonly<Record<string, string>>) => boolean;

const KEY = '([A-Za-z0-9./_-]+)';
const SET = new RegExp(`^${KEY}\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const EQUALITY = new RegExp(`^${KEY}\\s*(==|=|!=)\\s*([A-Za-z0-9._-]*)$`);
const EXISTENCE = new RegExp(`^(!?)\\s*${KEY}$`);

function requirement(part: string, whole: string): Requirement {
  const set = SET.exec(part);
  if (set !== null) {
    const [, key = '', operator, list = ''] = set;
    const values = new Set(list.split(',').map((value) => value.trim()));
    return (labels) => (labels[key] !== undefined && values.has(labels[key])) === (operator === 'in');
  }
  const equality = EQUALITY.exec(part);
  if (equality !== null) {
    const [, key = '', operator, value] = equality;
    return (labels) => (labels[key] === value) === (operator !== '!=');
  }
  const existence = EXISTENCE.exec(part);
  if (existence !== null) {
    const [, not, key = ''] = existence;
    return (labels) => (labels[key] !== undefined) === (not === '');
  }
  throw new Error(`label selector '${whole}': cannot read '${part}'; write key=value, key!=value, key in (a, b), key notin (a, b), key or !key`);
}

/** Splits at the commas that stand outside of parentheses. */
function split(text: string): string[] {
  return text.trim() === '' ? [] : text.split(/,(?![^(]*\))/).map((part) => part.trim());
}
