import { commandsOf } from './page';
import { hasShape } from './shape';
import { pageBlocks, pagesWithBlocks, walks } from './walks';

/** What a block can be. What is typed must be `sh` or `console`, and is run; `text` is a picture, a synopsis or a message. */
const languages = ['sh', 'console', 'yaml', 'json', 'ts', 'dockerfile', 'text'];

test.each(pagesWithBlocks())('every block of $page says what it is', ({ blocks }) => {
  expect(blocks.filter(({ language }) => !languages.includes(language)).map(({ where, language }) => `${where} ${language}`)).toEqual([]);
});

test('every page that has commands is walked, and no command can be left out', () => {
  const typed = pagesWithBlocks().filter(({ commands }) => commands.length > 0).map(({ page }) => page);
  expect(walks.map(({ page }) => page).sort()).toEqual(typed.sort());
});

test('no page that is walked hides a command in a block that is not run', () => {
  const hidden = walks.flatMap(({ page }) => pageBlocks(page)).filter(({ language, text }) => language === 'text' && /^(\$ |(kubectl|dbop|npm|npx|node) )/m.test(text));
  expect(hidden.map(({ where }) => where)).toEqual([]);
});

describe('a console block', () => {
  const block = { where: 'page:1', language: 'console', text: "$ kubectl apply -f - <<'END'\n> a: 1\n> END\nx created\n$ true\n" };

  it('is what is typed, line by line, with what is seen below', () => {
    expect(commandsOf(block)).toEqual([
      { where: 'page:1', line: "kubectl apply -f - <<'END'\na: 1\nEND", shown: 'x created\n' },
      { where: 'page:1', line: 'true' },
    ]);
  });

  it('must begin with a command', () => {
    expect(() => commandsOf({ ...block, text: 'x created\n' })).toThrow("page:1: output before any command; a line that is typed begins with '$ '");
  });
});

describe('the shape of an output', () => {
  it.each([
    ['ages and widths', 'NAME   AGE\norders   3m4s\n', 'NAME AGE\norders 12s\n', true],
    ['generated names', 'pod/app-6d4cf56db6-x2x7z\njob/orders-final-5bc15c7e\n', 'pod/app-7f4cf56db9-b9kzq\njob/orders-final-0123abcd\n', true],
    ['another phase', 'orders Running 5s\n', 'orders Failed 5s\n', false],
    ['another size', 'orders 10Gi\n', 'orders 20Gi\n', false],
    ['a line too few', 'a\n', 'a\nb\n', false],
    ['lines left out', 'a\n…\nz\n', 'a\nb\nc\nz\n', true],
    ['text left out', 'a … z\n', 'a b c z\n', true],
    ['what is not left out', 'a … z\n', 'a b c\n', false],
  ])('knows %s', (_, shown, output, same) => {
    expect(hasShape(shown, output, true)).toBe(same);
  });

  it('is there as soon as what is shown was seen, if more may come', () => {
    expect(hasShape('a\n', 'a\nb\n', false)).toBe(true);
    expect(hasShape('a\nb\n', 'a\n', false)).toBe(false);
  });
});
