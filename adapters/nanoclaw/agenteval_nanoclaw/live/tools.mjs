// An MCP server that offers the tools in argv[2], as JSON: it stands in for one that recordings name and no template
// configures. A hook denies every call before it gets here, and the agent is given a fixture's answer.
import readline from 'node:readline';
const tools = JSON.parse(process.argv[2]);
const answers = {
  initialize: (asked) => ({
    protocolVersion: asked.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'stand-in', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': () => ({ isError: true, content: [{ type: 'text', text: 'This tool stands in for another.' }] }),
  ping: () => ({}),
};
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const told = answer ? { result: answer(params) } : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...told }) + '\n');
});
