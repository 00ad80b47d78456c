import { DumpScan, type DumpSummary } from '../../src/store/dump-scan';
import type { EngineName } from '../../src/engines/engine';
import { Random } from './random';

const END = '-- dbop dump completed\n';

function scan(engine: EngineName, text: string | Buffer, cut: (rest: number) => number = (rest) => rest): DumpSummary {
  const scanner = new DumpScan(engine);
  const bytes = Buffer.from(text as string);
  for (let at = 0; at < bytes.length; ) {
    const length = Math.max(1, Math.min(bytes.length - at, cut(bytes.length - at)));
    scanner.push(bytes.subarray(at, at + length));
    at += length;
  }
  return scanner.summary();
}

const mysqlDump = `-- dbop dump 1 mysql 8.4.3
CREATE USER IF NOT EXISTS \`app\`@\`%\`;
SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5,
4e11fa47-71ca-11e1-9e33-c80aa9429562:1-77';
USE \`shop\`;
CREATE TABLE \`orders\` (
  \`id\` int NOT NULL,
  \`note\` text COMMENT 'INSERT INTO'
);
INSERT INTO \`orders\` VALUES (1,'a(b'),(2,'it\\'s; (x)'),(3,NULL);
INSERT INTO \`orders\` (\`id\`, \`VALUES\`, \`no\`\`te\`) VALUES (4,_binary '\\\\','x'),(5,0xFF,'');
CREATE TABLE \`empty\` (
  \`id\` int
);
DELIMITER ;;
CREATE PROCEDURE \`p\`()
BEGIN
INSERT INTO \`orders\` VALUES (9),(10);
USE \`elsewhere\`;
CREATE TABLE \`temporary\` (
  \`id\` int
);
END ;;
DELIMITER ;
USE \`bö\`\`se\`;
CREATE TABLE \`t\`\`x\` (
  \`id\` int
);
INSERT INTO \`t\`\`x\` VALUES (1);
${END}`;

const postgresDump = `-- dbop dump 1 postgres 17.2
-- dbop position 0/1F86BD8
CREATE ROLE app;
\\connect postgres
--
-- Data for Name: admin; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.admin (id) FROM stdin;
1
\\.

CREATE DATABASE shop;
\\connect shop
CREATE FUNCTION public.f() RETURNS text LANGUAGE sql AS $$
COPY public.nothing (id) FROM stdin;
select 1 $$;
--
-- Data for Name: Odd one; Type: TABLE DATA; Schema: sales; Owner: app
--

COPY sales."Odd ""one" (id, note) FROM stdin;
1\ta\\\\.
2\t\\N
\\\\.
\\.\\.
3\t\\.
\\.


--
-- Data for Name: empty; Type: TABLE DATA; Schema: public; Owner: app
--

COPY public.empty (id) FROM stdin;
\\.


--
-- Data for Name: colours_1; Type: TABLE DATA; Schema: sälés; Owner: app
--

-- load via partition root "sälés".colours
COPY "sälés".colours (id) FROM stdin;
red
\\.


--
-- Data for Name: colours_2; Type: TABLE DATA; Schema: sälés; Owner: app
--

-- load via partition root "sälés".colours
COPY "sälés".colours (id) FROM stdin;
green
blue
\\.


--
-- Data for Name: plain; Type: TABLE DATA; Schema: public; Owner: app
--

COPY public.plain (id) FROM stdin;
-- load via partition root nowhere
\\.


\\connect -reuse-previous=on "dbname='it\\'s a db'"
--
-- Data for Name: t; Type: TABLE DATA; Schema: public; Owner: app
--

COPY public.t (id) FROM stdin;
1
\\.

${END}`;

describe('a dump of MySQL', () => {
  test('is counted table by table, whatever its values and routines hold', () => {
    const summary = scan('mysql', mysqlDump);
    expect(Object.fromEntries(summary.rows)).toEqual({ 'shop.orders': 5, 'shop.empty': 0, 'bö`se.t`x': 1 });
    expect(summary).toMatchObject({ engine: 'mysql', serverVersion: '8.4.3', complete: true, bytes: Buffer.byteLength(mysqlDump) });
    expect(summary.position).toBe('3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5,4e11fa47-71ca-11e1-9e33-c80aa9429562:1-77');
  });

  test('gives the same answer wherever its chunks are cut', () => {
    const whole = scan('mysql', mysqlDump);
    for (let size = 1; size < 90; size += 1) expect(scan('mysql', mysqlDump, () => size)).toEqual(whole);
    for (let at = 1; at < mysqlDump.length; at += 1) {
      const length = Buffer.byteLength(mysqlDump);
      expect(scan('mysql', mysqlDump, (rest) => (rest === length ? at : rest))).toEqual(whole);
    }
  });

  test('of random values is counted exactly', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = new Random(seed);
      const expected: Record<string, number> = {};
      let text = '-- dbop dump 1 mysql 9.7.4\nUSE `db`;\n';
      for (let table = 0; table < random.below(4); table += 1) {
        text += `CREATE TABLE \`t${table}\` (\n  \`a\` text\n);\n`;
        expected[`db.t${table}`] = 0;
        for (let statement = 0; statement < random.below(4); statement += 1) {
          const rows = 1 + random.below(5);
          expected[`db.t${table}`]! += rows;
          text += `INSERT INTO \`t${table}\` VALUES ${Array.from({ length: rows }, () => `(${random.below(100)},${mysqlString(random)},NULL)`).join(',')};\n`;
        }
      }
      const largest = random.below(2) === 0 ? 40 : 1000;
      const summary = scan('mysql', text + END, () => 1 + random.below(largest));
      expect(Object.fromEntries(summary.rows)).toEqual(expected);
    }
  });
});

describe('a dump of PostgreSQL', () => {
  test('is counted table by table in each database, and only where data is announced', () => {
    const summary = scan('postgres', postgresDump);
    expect(Object.fromEntries(summary.rows)).toEqual({ 'postgres.public.admin': 1, 'shop.sales.Odd "one': 5, 'shop.public.empty': 0, 'shop.sälés.colours_1': 1, 'shop.sälés.colours_2': 2, 'shop.public.plain': 1, "it's a db.public.t": 1 });
    expect(summary).toMatchObject({ engine: 'postgres', serverVersion: '17.2', position: '0/1F86BD8', complete: true });
  });

  test('gives the same answer wherever its chunks are cut', () => {
    const whole = scan('postgres', postgresDump);
    for (let size = 1; size < 90; size += 1) expect(scan('postgres', postgresDump, () => size)).toEqual(whole);
  });

  test('of random rows is counted exactly', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = new Random(seed);
      const rows = random.below(30);
      const lines = Array.from({ length: rows }, () => `${random.text(random.below(6), 'ab.\t"').replaceAll('\\', '\\\\')}${random.below(3) === 0 ? '\\\\.' : ''}\n`);
      const text = `-- dbop dump 1 postgres 17\n\\connect x\n-- Data for Name: t; Type: TABLE DATA; Schema: s; Owner: o\n\nCOPY s.t (a) FROM stdin;\n${lines.join('')}\\.\n${END}`;
      expect(scan('postgres', text, () => 1 + random.below(9)).rows.get('x.s.t')).toBe(rows);
    }
  });
});

test.each(['mysql', 'postgres'] as const)('a %s dump that is cut anywhere before its end is not complete', (engine) => {
  const dump = engine === 'mysql' ? mysqlDump : postgresDump;
  for (let length = 0; length < dump.length; length += 7) expect(scan(engine, dump.slice(0, length)).complete).toBe(false);
  expect(scan(engine, `${dump}\n`).complete).toBe(false);
  expect(scan(engine, dump, () => 1).complete).toBe(true);
});

function mysqlString(random: Random): string {
  // Long ones are searched by other means than short ones.
  const inner = random.text(random.below(random.below(4) === 0 ? 300 : 12), `ab(),; \`"VALUES\n'\\`);
  return `'${inner.replaceAll('\\', '\\\\').replaceAll("'", random.below(2) === 0 ? "\\'" : "''").replaceAll('\n', '\\n')}'`;
}
