// The official TypeScript client against longterm's MCP server: node client.mjs ERA (URL TOKEN | COMMAND…).
// It prints a line a step; what is wrong ends it with status 1.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [era, target, ...rest] = process.argv.slice(2);
const transport = target.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: 'Bearer ' + rest[0] } } })
  : new StdioClientTransport({ command: target, args: rest, env: process.env, stderr: 'inherit' });
const client = new Client({ name: 'typescript', version: '1' },
  { capabilities: { elicitation: {} }, ...(era === '2026-07-28' ? { versionNegotiation: { mode: 'auto' } } : {}) });

const is = (what, ok, seen) => {
  if (!ok) {
    console.error(what + ': ' + JSON.stringify(seen));
    process.exit(1);
  }
  console.log('ok ' + what);
};
const call = async (name, args) => client.callTool({ name, arguments: args });

let asked = 0;
client.setRequestHandler('elicitation/create', async () => {
  asked++;
  return { action: 'accept', content: { answer: 'correct horse' } };
});
await client.connect(transport);
is('the revision', client.getNegotiatedProtocolVersion() === era, client.getNegotiatedProtocolVersion());
const { tools } = await client.listTools();
is('tools', tools.length === 12 && tools.every((t) => t.annotations), tools.map((t) => t.name));

let r = await call('exec', { line: 'echo hello; exit 3' });
is('exit code and output', r.structuredContent.exit_code === 3 && r.structuredContent.output === 'hello\n', r);
r = await call('start', { name: 'ts' });
r = await call('exec', { session: 'ts', line: 'cd / && pwd' });
is('a shell', r.structuredContent.output.trim() === '/', r);
r = await call('exec', { line: "stty -echo; printf 'Password: '; read P; stty echo; echo; echo ${#P}", yield: 20 });
is('a password is the user\'s', asked === 0 && r.structuredContent.needs === 'password', [asked, r]);
r = await call('exec', { nonsense: 1 });
is('wrong arguments', r.isError && r.content[0].text.includes('line (string, needed)'), r);
const { resourceTemplates } = await client.listResourceTemplates();
is('templates', resourceTemplates.length === 8, resourceTemplates);
const { contents } = await client.readResource({ uri: 'longterm://session/ts/screen' });
is('a resource', contents[0].text.includes('pwd'), contents);
r = await call('stop', { id: 'ts' });
r = await call('stop', { id: 'ts', how: 'remove' });
is('the end', !r.isError, r);
await client.close();
