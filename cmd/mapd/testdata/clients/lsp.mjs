// Drives `mapd lsp` as an editor does, with the protocol library of VS Code's
// language servers: node lsp.mjs MAPD FOLDER. Prints "ok" at the end.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import protocol from "vscode-languageserver-protocol/node.js";
import { TextDocument } from "vscode-languageserver-textdocument";

const [mapd, folder] = process.argv.slice(2);
const uriOf = (name) => pathToFileURL(join(folder, name)).href;

// start runs a server and initializes it.
async function start(capabilities = {}) {
  const server = spawn(mapd, ["lsp"], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(server, "exit");
  const connection = protocol.createProtocolConnection(
    new protocol.StreamMessageReader(server.stdout), new protocol.StreamMessageWriter(server.stdin));
  connection.onError(([error]) => { throw error; });
  connection.listen();
  const result = await connection.sendRequest(protocol.InitializeRequest.type, {
    processId: process.pid, rootUri: pathToFileURL(folder).href,
    workspaceFolders: [{ uri: pathToFileURL(folder).href, name: "folder" }],
    capabilities: {
      general: { positionEncodings: ["utf-16"] },
      textDocument: {
        documentSymbol: { hierarchicalDocumentSymbolSupport: true }, publishDiagnostics: {},
        foldingRange: { lineFoldingOnly: true }, diagnostic: {},
      },
      ...capabilities,
    },
  });
  await connection.sendNotification(protocol.InitializedNotification.type, {});
  return { connection, exited, result };
}

// updated is a document after changes. It is made anew: the library's own update
// miscounts the lines where a change brings a \r and a \n together.
function updated(document, contentChanges, version) {
  const { uri, languageId } = document;
  let next = document;
  for (const change of contentChanges) {
    next = TextDocument.create(uri, languageId, version, TextDocument.update(next, [change], version).getText());
  }
  return next;
}

// Editor keeps a document as an editor would, and tells the server.
class Editor {
  constructor(connection, uri, languageId, text) {
    Object.assign(this, { connection, document: TextDocument.create(uri, languageId, 1, text) });
  }
  open() {
    const { uri, languageId, version } = this.document;
    return this.connection.sendNotification(protocol.DidOpenTextDocumentNotification.type,
      { textDocument: { uri, languageId, version, text: this.document.getText() } });
  }
  change(contentChanges) {
    const version = this.document.version + 1;
    this.document = updated(this.document, contentChanges, version);
    return this.connection.sendNotification(protocol.DidChangeTextDocumentNotification.type,
      { textDocument: { uri: this.document.uri, version }, contentChanges });
  }
  ask(type, more = {}) {
    return this.connection.sendRequest(type, { textDocument: { uri: this.document.uri }, ...more });
  }
  symbols() { return this.ask(protocol.DocumentSymbolRequest.type); }
  // end asks for the outermost range around the start: the whole text.
  async end() {
    const [selection] = await this.ask(protocol.SelectionRangeRequest.type, { positions: [{ line: 0, character: 0 }] });
    let outer = selection;
    while (outer.parent) outer = outer.parent;
    return outer.range.end;
  }
}

async function fails(promise, code) {
  await assert.rejects(promise, (error) => { assert.equal(error.code, code, error.message); return true; });
}

async function bigFile({ connection }) {
  const editor = new Editor(connection, uriOf("big.go"), "go", readFileSync(join(folder, "big.go"), "utf8"));
  const document = editor.document;
  await editor.open();
  const symbols = await editor.symbols();
  assert.ok(symbols.length > 20, `${symbols.length} symbols`);
  const checkNames = (list) => {
    for (const s of list) {
      const { start, end } = s.selectionRange;
      const name = document.getText(s.selectionRange);
      assert.ok(s.name === name || s.name.endsWith("." + name) || start.character === 0, `${s.name}: ${name}`);
      assert.ok(start.line >= s.range.start.line && end.line <= s.range.end.line, s.name);
      checkNames(s.children ?? []);
    }
  };
  checkNames(symbols);
  const folds = await editor.ask(protocol.FoldingRangeRequest.type);
  assert.ok(folds.length > 10 && folds.every((f) => f.startLine < f.endLine && f.endLine < document.lineCount));
  assert.deepEqual(await editor.end(), document.positionAt(document.getText().length));
  // What is typed shows, and the symbols below it move.
  const last = symbols.at(-1);
  const added = "func Typed😀() {\n}\n".replace("😀", "");
  await editor.change([{ range: { start: last.range.start, end: last.range.start }, text: `// 😀\r\n${added}\n` }]);
  const then = await editor.symbols();
  const typed = then.find((s) => s.name === "Typed");
  assert.equal(typed?.range.start.line, last.range.start.line + 1);
  assert.equal(then.at(-1).range.start.line, last.range.start.line + 4);
  // An agent of the same session may not write over what was typed.
  const edit = { path: "big.go", edits: [{ op: "append", lines: ["// more"] }] };
  await fails(connection.sendRequest("mapd/edit", edit), -32801);
  await connection.sendNotification(protocol.DidCloseTextDocumentNotification.type, { textDocument: { uri: document.uri } });
  assert.equal((await connection.sendRequest("mapd/edit", { ...edit, dryRun: true })).dryRun, true);
  assert.equal((await editor.symbols()).length, symbols.length);
}

// Many random changes, of which the library keeps account too.
async function randomChanges({ connection }) {
  const editor = new Editor(connection, "untitled:Untitled-1", "python", "class A:\r\n  def f(self):\r  pass\n");
  await editor.open();
  let seed = 42;
  const random = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor((seed / 2147483648) * n); };
  const words = ["x", "\n", "\r\n", "\r", "ä", "😀", "def g(): pass\n", "", "  ", "class B:\n"];
  for (let round = 0; round < 60; round++) {
    const changes = [];
    let shadow = TextDocument.create("x:", "x", 0, editor.document.getText());
    for (let i = 0; i <= random(4); i++) {
      const length = shadow.getText().length;
      let [from, to] = [random(length + 1), random(length + 1)].sort((a, b) => a - b);
      to = Math.min(to, from + 12);
      const inside = (at) => at > 0 && at < length && /[\udc00-\udfff]/.test(shadow.getText()[at]);
      if (inside(from) || inside(to)) continue;
      const change = { range: { start: shadow.positionAt(from), end: shadow.positionAt(to) }, text: words[random(words.length)] };
      shadow = updated(shadow, [change], i + 1);
      changes.push(change);
    }
    await editor.change(changes);
    const text = editor.document.getText();
    assert.equal(text, shadow.getText());
    assert.deepEqual(await editor.end(), shadow.positionAt(text.length), JSON.stringify(text));
  }
  for (let i = 0; i < 300; i++) await editor.change([{ text: `def f${i}(): pass\n` }]);
  assert.deepEqual((await editor.symbols()).map((s) => s.name), ["f299"]);
}

// A frame of 20 MB passes the bridge, and a text of that size is edited.
async function largeFrame({ connection }) {
  const editor = new Editor(connection, "untitled:large", "plaintext", "a line of text 😀\n".repeat(1_000_000) + "end");
  await editor.open();
  await editor.change([{ range: { start: { line: 500_000, character: 0 }, end: { line: 500_001, character: 9 } }, text: "\r" }]);
  assert.deepEqual(await editor.end(), { line: 1_000_000, character: 3 });
  await connection.sendNotification(protocol.DidCloseTextDocumentNotification.type, { textDocument: { uri: "untitled:large" } });
}

async function staleLines({ connection }) {
  const uri = uriOf("a.py");
  const published = new Promise((resolve) => connection.onNotification(protocol.PublishDiagnosticsNotification.type, (p) => {
    if (p.uri === uri && p.diagnostics.length > 0) resolve(p.diagnostics);
  }));
  const pull = (previousResultId) => connection.sendRequest(protocol.DocumentDiagnosticRequest.type, { textDocument: { uri }, previousResultId });
  assert.deepEqual((await pull()).items, []);
  await connection.sendRequest("mapd/read", { path: "a.py" });
  writeFileSync(join(folder, "a.py"), "class A:\n    def f(self):\n        return 'changed'\n");
  const report = await pull();
  assert.equal(report.kind, "full");
  assert.deepEqual(report.items.map((d) => [d.range.start.line, d.severity, d.source, d.code]), [[2, 2, "mapd", "stale-lines"]]);
  assert.equal((await pull(report.resultId)).kind, "unchanged");
  assert.deepEqual(await published, report.items);
}

async function rest({ connection }) {
  await fails(connection.sendRequest(protocol.HoverRequest.type, { textDocument: { uri: uriOf("a.py") }, position: { line: 0, character: 0 } }), -32601);
  const cancel = new protocol.CancellationTokenSource();
  const cancelled = connection.sendRequest(protocol.DocumentSymbolRequest.type, { textDocument: { uri: uriOf("big.go") } }, cancel.token);
  cancel.cancel();
  await cancelled.catch((error) => assert.equal(error.code, -32800));
  const found = await connection.sendRequest(protocol.WorkspaceSymbolRequest.type, { query: "OpInvalid" });
  assert.ok(Array.isArray(found));
  await connection.sendNotification(protocol.DidChangeWatchedFilesNotification.type, { changes: [{ uri: uriOf("a.py"), type: protocol.FileChangeType.Changed }] });
  await connection.sendNotification(protocol.SetTraceNotification.type, { value: "verbose" });
  await connection.sendNotification(protocol.DidChangeWorkspaceFoldersNotification.type, { event: { added: [], removed: [{ uri: pathToFileURL(folder).href, name: "folder" }] } });
  await fails(connection.sendRequest(protocol.DocumentSymbolRequest.type, { textDocument: { uri: uriOf("a.py") } }), -32803);
}

const session = await start();
const { capabilities } = session.result;
assert.equal(capabilities.positionEncoding, "utf-16");
assert.equal(capabilities.textDocumentSync.change, protocol.TextDocumentSyncKind.Incremental);
for (const step of [bigFile, randomChanges, largeFrame, staleLines, rest]) await step(session);
await session.connection.sendRequest(protocol.ShutdownRequest.type);
await fails(session.connection.sendRequest(protocol.ShutdownRequest.type), -32600);
await session.connection.sendNotification(protocol.ExitNotification.type);
assert.deepEqual(await session.exited, [0, null]);

const hasty = await start();
await hasty.connection.sendNotification(protocol.ExitNotification.type);
assert.deepEqual(await hasty.exited, [1, null]);
console.log("ok");
