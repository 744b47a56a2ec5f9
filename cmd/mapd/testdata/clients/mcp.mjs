// Drives `mapd mcp` with the official TypeScript client. Its arguments are the
// mapd program and a folder. It ends with 0 and the line "ok" only if every
// check held.
import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [mapd, folder] = process.argv.slice(2);
const file = join(folder, "poem.txt");
writeFileSync(file, "roses\nare\nred\nviolets\nlook\nblue\n");
writeFileSync(join(folder, "large.go"), "package large\n\n" + "// a line\n".repeat(3000) + "func Last() {}\n");

const client = new Client({ name: "suite", version: "1" }, { capabilities: { roots: { listChanged: true } } });
let roots = [{ uri: pathToFileURL(folder).href, name: "folder" }];
client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots }));
const transport = new StdioClientTransport({ command: mapd, args: ["mcp"], cwd: "/", env: process.env });
await client.connect(transport);

const text = (result) => result.content.map((block) => block.text).join("\n\n");
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
const anchor = (shown, content) => {
  const line = shown.split("\n").find((l) => l.slice(l.indexOf(":") + 1) === content);
  assert.ok(line, `${content} is not shown in ${shown}`);
  return line.slice(0, line.indexOf(":"));
};
const replace = (pos, line) => call("edit", { path: "poem.txt", edits: [{ op: "replace", pos, lines: [line] }] });

const { tools } = await client.listTools();
assert.deepEqual(tools.map((t) => t.name).sort(), ["check", "edit", "find", "ledger", "map", "read", "recover", "status"]);
assert.ok(JSON.stringify(tools).length / 4 <= 1000, "the tools take more than 1,000 tokens");
for (const t of tools) assert.equal(t.annotations.readOnlyHint, t.name !== "edit");

// A large file is cut, and its map is there.
const large = await call("read", { path: "large.go" });
assert.match(text(large), /\[Showing lines 1-\d+ of 3003\. Use offset=\d+ to continue\.\]/);
assert.match(text(large), /Last.*: \[3003\]/);
assert.equal(large.structuredContent.details.totalLines, 3003);

// Many reads at once all arrive.
const many = await Promise.all(Array.from({ length: 20 }, (_, i) => call("read", { path: "large.go", offset: i + 1, limit: 1 })));
many.forEach((r, i) => assert.match(text(r), new RegExp(`^${i + 1}#`)));

// An edit by a shown anchor, and one of a line that changed meanwhile.
const shown = text(await call("read", { path: "poem.txt" }));
assert.equal((await replace(anchor(shown, "red"), "crimson")).structuredContent.applied, true);
writeFileSync(file, readFileSync(file, "utf8").replace("blue", "purple"));
const next = await call("ledger", {});
assert.match(text(next), /poem\.txt that you were shown/);
const stale = await replace(anchor(shown, "blue"), "azure");
assert.equal(stale.isError, true);
assert.match(text(stale), /nothing was written/);
const again = await replace(anchor(stale.structuredContent.data.reread.text, "purple"), "azure");
assert.ok(!again.isError, text(again));
assert.equal(readFileSync(file, "utf8"), "roses\nare\ncrimson\nviolets\nlook\nazure\n");

// Progress is told. (This client drops what comes in one piece with the answer.)
let progress = -1;
await call("read", { path: "poem.txt" }, { onprogress: (p) => (progress = p.progress / p.total) });
assert.ok(progress >= 0, "no progress was told");

// A call that is given up does no harm.
const abort = new AbortController();
const given = call("read", { path: "large.go" }, { signal: abort.signal });
abort.abort();
await assert.rejects(given);

// The roots change, and the session with them.
const other = join(folder, "other");
roots = [{ uri: pathToFileURL(other).href }];
await client.sendRootsListChanged();
const moved = await call("read", { path: "a.txt" });
assert.match(text(moved), /in the other folder/);

// A daemon that ends between two calls is followed by the next one.
const before = (await call("status", {})).structuredContent.pid;
process.kill(before, "SIGTERM");
const after = await call("status", {});
assert.ok(!after.isError, text(after));
appendFileSync(join(other, "a.txt"), "more\n");
assert.match(text(await call("read", { path: "a.txt" })), /more/);

await client.close();
console.log("ok");
