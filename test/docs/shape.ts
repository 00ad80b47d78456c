/** What differs from run to run, and the word that stands for it. The order counts: a moment holds an age's digits. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uid>'],
  [/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g, '<time>'],
  [/\b\d{1,3}(\.\d{1,3}){3}\b/g, '<address>'],
  // A Deployment's pod, then what Kubernetes generates of its own alphabet, then the eight digits of a UID that we use.
  [/-[0-9a-z]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '-<id>'],
  [/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '-<id>'],
  [/-[0-9a-f]{8}\b/g, '-<id>'],
  [/\b(\d+d)?(\d+h)?(\d+m)?\d+(\.\d+)?s\b|\b(\d+d)?(\d+h)?\d+m\b/g, '<age>'],
];

/** The lines of an output as they are in every run: ages, generated names, moments and column widths taken out. */
function shape(output: string): string[] {
  const plain = varying.reduce((text, [pattern, word]) => text.replace(pattern, word), output);
  return plain
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
}

/**
 * Whether an output has the shape that a page shows. `…` in a line stands for any text, a line of nothing else for any lines.
 * @param whole false while more may come: then it is enough that what is shown has been seen
 */
export function hasShape(shown: string, output: string, whole: boolean): boolean {
  const lines = shape(shown).map((line) => (line === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(escaped).join('.*')}\\n`));
  return new RegExp(`^${lines.join('')}${whole ? '$' : ''}`).test(shape(output).map((line) => `${line}\n`).join(''));
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
