// The TypeScript SDK's client: argv[2] says in JSON how to reach a server and what to call; the answers are
// printed as one JSON object.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const { command, args, env, url, headers, calls, answer, grown } = JSON.parse(process.argv[2]);
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  : new StdioClientTransport({ command, args, env, stderr: "inherit" });
const client = new Client(
  { name: "typescript", version: "1" },
  { capabilities: answer ? { elicitation: {} } : {} },
);
const asked = [];
if (answer) {
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    asked.push(params.message);
    return { action: answer, content: {} };
  });
}
let changes = 0;
client.setNotificationHandler(ToolListChangedNotificationSchema, () => { changes += 1; });
await client.connect(transport);
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const results = [];
for (const [name, given] of calls) results.push(await client.callTool({ name, arguments: given }));
const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
const instructions = client.getInstructions();
if (grown) {
  // On a connection the change is announced; without one it is there when it is there.
  const known = async () => (url ? (await client.listTools()).tools.length > tools.length : changes > 0);
  while (!(await known())) await new Promise((resolve) => setTimeout(resolve, 20));
}
const after = (await client.listTools()).tools.map((tool) => tool.name);
console.log(JSON.stringify({ tools, results, prompts, instructions, asked, changes, after }));
await client.close();
