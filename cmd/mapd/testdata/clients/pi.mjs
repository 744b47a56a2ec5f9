// Runs pi with the installed extension against a scripted model on loopback. Its
// arguments are the program of pi and a folder; the extension is in the agent
// directory that the environment names. It ends with 0 and the line "ok" only if
// every check held.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { createJiti } from "jiti";

const [pi, folder] = process.argv.slice(2).map((path) => resolve(path));
const agent = process.env.PI_CODING_AGENT_DIR;
const poem = join(folder, "poem.txt");
writeFileSync(join(folder, "large.go"), "package large\n\n" + "// a line\n".repeat(3000) + "\nfunc Last() {}\n");
for (const name of ["a", "b", "c"]) writeFileSync(join(folder, `${name}.txt`), `this is ${name}\n`);

/** A model that answers request n of a run with step n: text, or calls of tools. */
let steps = [];
let requests = [];
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", async () => {
    const messages = JSON.parse(body).messages;
    requests.push(JSON.parse(body));
    const step = steps.shift();
    const answer = typeof step === "function" ? await step(messages) : (step ?? "done");
    const delta =
      typeof answer === "string"
        ? { role: "assistant", content: answer }
        : { role: "assistant", tool_calls: answer.map(([name, args], index) => ({ index, id: `call_${requests.length}_${index}`, type: "function", function: { name, arguments: JSON.stringify(args) } })) };
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = (choice) => response.write(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "scripted", choices: [{ index: 0, ...choice }] })}\n\n`);
    chunk({ delta, finish_reason: null });
    chunk({ delta: {}, finish_reason: typeof answer === "string" ? "stop" : "tool_calls" });
    response.end("data: [DONE]\n\n");
  });
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));

mkdirSync(agent, { recursive: true });
writeFileSync(
  join(agent, "models.json"),
  JSON.stringify({ providers: { scripted: { baseUrl: `http://127.0.0.1:${server.address().port}/v1`, api: "openai-completions", apiKey: "none", models: [{ id: "scripted" }] } } }),
);

/** Runs pi once and returns its events. */
const run = (script, options = [], env = {}) =>
  new Promise((resolve, reject) => {
    steps = script;
    requests = [];
    const child = spawn(process.execPath, [pi, "--mode", "json", "--offline", "--provider", "scripted", "--model", "scripted", "--no-session", ...options, "go on"], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (part) => (out += part));
    child.stderr.on("data", (part) => (err += part));
    const late = setTimeout(() => child.kill("SIGKILL"), 120_000);
    child.on("error", reject);
    child.on("exit", (code) => {
      clearTimeout(late);
      if (code !== 0) return reject(new Error(`pi ended with ${code}\n${err}\n${out.slice(-2000)}`));
      resolve(out.trim().split("\n").map((line) => JSON.parse(line)));
    });
  });

const text = (message) => (typeof message.content === "string" ? message.content : message.content.map((c) => c.text ?? "").join("\n\n"));
/** The results of tools in what the model was sent last. */
const results = (messages) => messages.filter((m) => m.role === "tool").map(text);
const last = () => results(requests[requests.length - 1].messages);
const anchor = (shown, content) => {
  const line = shown.split("\n").find((l) => l.slice(l.indexOf(":") + 1) === content);
  assert.ok(line, `${content} is not shown in ${shown}`);
  return line.slice(0, line.indexOf(":"));
};

// pi offers the extension's tools to the model.
await run([]);
const offered = Object.fromEntries(requests[0].tools.map((t) => [t.function.name, t.function]));
assert.match(offered.read.description, /LINE#HASH/);
assert.ok(offered.edit.parameters.properties.edits.items.properties.pos, "edit takes no anchors");

// A large read shows content and map.
await run([[["read", { path: "large.go" }]]]);
assert.match(last()[0], /^1#[A-Z]{4}:package large$/m);
assert.match(last()[0], /\[Showing lines 1-\d+ of 3004\. Use offset=\d+ to continue\.\]/);
assert.match(last()[0], /Last.*: \[3004\]/);

// The same with the map as a message of its own: all three reads arrive, and the
// map after them.
await run([[["read", { path: "large.go" }], ["read", { path: "a.txt" }], ["read", { path: "b.txt" }]]], ["--mapd-map", "separate"]);
assert.equal(last().length, 3);
assert.doesNotMatch(last()[0], /: \[3004\]/);
assert.match(last()[1], /this is a/);
assert.match(last()[2], /this is b/);
const after = requests[requests.length - 1].messages;
assert.match(text(after[after.length - 1]), /Last.*: \[3004\]/);

// Three reads at once all arrive, each with its own content.
await run([[["read", { path: "a.txt" }], ["read", { path: "b.txt" }], ["read", { path: "c.txt" }]]]);
assert.deepEqual(last().map((r) => r.slice(r.indexOf(":") + 1)), ["this is a", "this is b", "this is c"]);

// A symbol, ranges, and a file outside of the folder.
await run([[["read", { path: "large.go", symbol: "Last" }], ["read", { path: "large.go", ranges: [{ start: 1, end: 1 }, { start: 3004, end: 3004 }] }], ["read", { path: join(agent, "models.json") }], ["read", { path: "none.txt" }]]]);
assert.match(last()[0], /^3004#[A-Z]{4}:func Last\(\) \{\}$/);
assert.match(last()[1], /package large[^]*func Last/);
assert.match(last()[2], /scripted/);
assert.match(last()[3], /no such file/);

// A stale edit shows the lines as they are now, and the next one lands by them.
writeFileSync(poem, "roses\nare\nred\nviolets\nlook\nblue\n");
await run([
  [["read", { path: "poem.txt" }]],
  (messages) => {
    const pos = anchor(results(messages)[0], "blue");
    writeFileSync(poem, readFileSync(poem, "utf8").replace("blue", "purple"));
    return [["edit", { path: "poem.txt", edits: [{ op: "replace", pos, lines: ["azure"] }] }]];
  },
  (messages) => {
    const rejected = results(messages)[1];
    assert.match(rejected, /nothing was written/);
    assert.equal(readFileSync(poem, "utf8"), "roses\nare\nred\nviolets\nlook\npurple\n");
    const pos = rejected.match(/(\d+#[A-Z]+):purple/)[1];
    return [["edit", { path: "poem.txt", edits: [{ op: "replace", pos, lines: ["azure"] }] }]];
  },
]);
assert.equal(readFileSync(poem, "utf8"), "roses\nare\nred\nviolets\nlook\nazure\n");
assert.match(last()[2], /Edited poem\.txt[^]*#[A-Z]+:azure/);

// Without mapd: pi's own tools, and one line that says so.
await run([[["read", { path: "a.txt" }]]], [], { MAPD_COMMAND: join(folder, "no-mapd") });
const fallback = Object.fromEntries(requests[0].tools.map((t) => [t.function.name, t.function]));
assert.ok(fallback.edit.parameters.properties.edits.items.properties.oldText, "edit is not pi's own");
assert.match(last()[0], /^this is a/);

// What this pi does not do by itself: a harness that drops reads, and people who
// look at messages.
const registered = { tools: {}, commands: {}, renderers: {}, handlers: {}, sent: [], said: [] };
const api = {
  registerTool: (tool) => (registered.tools[tool.name] = tool),
  registerFlag: () => {},
  getFlag: () => "separate",
  registerCommand: (name, options) => (registered.commands[name] = options),
  registerMessageRenderer: (type, renderer) => (registered.renderers[type] = renderer),
  sendMessage: (message, options) => registered.sent.push({ message, options }),
  on: (name, handler) => (registered.handlers[name] = handler),
};
const ctx = { cwd: folder, hasUI: true, ui: { notify: (line) => registered.said.push(line) }, sessionManager: { getSessionId: () => "suite" } };
const theme = { fg: (_color, line) => line };
const extension = await createJiti(import.meta.url).import(join(agent, "extensions", "mapd.ts"), { default: true });
await extension(api);
await registered.handlers.session_start({}, ctx);
assert.deepEqual(registered.said, []);
const toolCall = (id, path) => ({ type: "toolCall", id, name: "read", arguments: { path } });
const turn = {
  message: { content: [{ type: "text", text: "let me look" }, toolCall("1", "a.txt"), toolCall("2", "b.txt")] },
  toolResults: [
    { toolCallId: "1", toolName: "read", content: [{ type: "text", text: "1#ZZZZ:this is a" }] },
    { toolCallId: "2", toolName: "read", isError: true, content: [{ type: "text", text: "Skipped due to queued user message." }] },
  ],
};
await registered.handlers.turn_end(turn, ctx);
assert.equal(registered.sent.length, 1);
const recovery = registered.sent[0];
assert.deepEqual(recovery.options, { deliverAs: "followUp", triggerTurn: true });
assert.match(recovery.message.content, /b\.txt/);
assert.doesNotMatch(recovery.message.content, /a\.txt/);
const show = (message, expanded) => registered.renderers[message.customType](message, { expanded }, theme).render(200).join("\n");
assert.match(show(recovery.message, false), /1 interrupted read/);
assert.match(show(recovery.message, true), /b\.txt/);

// A map waits for the end of the turn, whatever that pi can take there.
await registered.tools.read.execute("3", { path: "large.go" }, undefined, undefined, ctx);
await registered.handlers.turn_end({ message: { content: [] }, toolResults: [] }, ctx);
assert.deepEqual(registered.sent[1].options, { triggerTurn: false });
await registered.commands.map.handler("large.go outline", ctx);
for (const { message } of registered.sent.slice(1)) {
  assert.equal(message.customType, "file-map");
  assert.match(show(message, false).trim(), /^\[File Map: 1 symbols, 3004 lines - Ctrl\+O\]$/);
  assert.match(show(message, true), /Last.*: \[3004\]/);
}
assert.equal(registered.sent.length, 3);
await registered.commands.map.handler("none.go", ctx);
assert.match(registered.said.pop(), /no such file/);
const lines = text(await registered.tools.read.execute("5", { path: "poem.txt" }, undefined, undefined, ctx));
const edited = await registered.tools.edit.execute("6", { path: "poem.txt", edits: [{ op: "replace", pos: anchor(lines, "azure"), lines: ["teal", "cyan"] }] }, undefined, undefined, ctx);
assert.equal(edited.details.diff, " 3 red\n 4 violets\n 5 look\n-6 azure\n+6 teal\n+7 cyan");
assert.match(edited.details.patch, /^@@ /m);
const abort = new AbortController();
abort.abort();
await assert.rejects(registered.tools.read.execute("4", { path: "a.txt" }, abort.signal, undefined, ctx), /aborted/);
registered.handlers.session_shutdown();

server.close();
console.log("ok");
